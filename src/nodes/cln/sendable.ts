import { formatAmountMsat } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import { isUsable, readChannels } from './channels.ts';
import type { ClnRpc } from './rpc.ts';

/**
 * Throws `refused` when the channels cannot send the amount: what cannot be sent at all makes no payment
 * (docs/decisions.md 14).
 */
export async function requireSendable(owner: ClnRpc, amountMsat: bigint): Promise<void> {
  const channels = (await readChannels(owner)).filter(isUsable);
  const sendableMsat = channels.reduce((sum, { spendable_msat }) => sum + spendable_msat, 0n);
  if (amountMsat <= sendableMsat) return;
  throw refused(
    `The wallet can send ${formatAmountMsat(sendableMsat)} sats over Lightning now: pay less, or open a channel.`,
  );
}
