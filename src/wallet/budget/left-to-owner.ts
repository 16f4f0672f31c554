import { formatAmountMsat } from '../../model/amount.ts';
import { ApiError } from '../../model/errors.ts';

/**
 * The error of a cost above what the client may spend without approval. Only payments wait for approval; what else
 * costs more is not for the client (docs/decisions.md 187). `said` gets the limit and says what is left to the owner.
 * Nothing was sent.
 */
export function leftToOwner(aboveMsat: bigint, said: (aboveSats: string) => string): ApiError {
  const above = formatAmountMsat(aboveMsat);
  const message = `${said(above)} is left to the wallet's owner: ask the owner to do it.`;
  return new ApiError('forbidden', message, { data: { approve_above: above, sent: 'no' } });
}
