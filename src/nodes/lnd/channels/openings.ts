import { z } from 'zod';
import { readCoins } from '../reads/coins.ts';
import { lockedCoins, readAllLeases } from '../reads/leases.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndWallet } from '../reads/wallet.ts';

/** Rows of channels that were asked for, by their user channel id. */
const OPENING_ROWS = 'lnd_opening';

const openingShape = z.object({
  /** Satoshis as decimal text. */
  valueSat: z.string().regex(/^\d+$/),
  peer: z.string(),
  /** The outpoint that every request for this channel spends. */
  anchor: z.string(),
});
/** A channel that LND was asked for, and may have opened, or may open still. */
export type Opening = z.output<typeof openingShape>;

/** The row of a user channel id; null where no channel was asked for with it. */
export async function readOpening(
  { rows, userPk }: Pick<LndWallet, 'rows' | 'userPk'>,
  userChannelId: string,
): Promise<Opening | null> {
  const row = await rows.get(userPk, OPENING_ROWS, userChannelId);
  return row === null || row === undefined ? null : openingShape.parse(row);
}

/** Keeps that a channel is asked for; null where it certainly is not. */
export async function putOpening(
  { rows, userPk }: Pick<LndWallet, 'rows' | 'userPk'>,
  userChannelId: string,
  opening: Opening | null,
): Promise<void> {
  await rows.put(userPk, OPENING_ROWS, userChannelId, opening);
}

/**
 * Returns how LND has the coin of an earlier request: `free`, so that another request with it excludes that one;
 * `held`, while that one may be under way; `spent`, so that no request with it can succeed any more. Throws `forbidden`
 * where the macaroon may not read locks.
 */
export async function standingOfCoin(
  owner: LndRest,
  outpoint: string,
): Promise<'free' | 'held' | 'spent'> {
  const free = await readCoins(owner, 0);
  const isFree = free.some(
    ({ outpoint: { txid_str, output_index } }) => `${txid_str}:${output_index}` === outpoint,
  );
  if (isFree) return 'free';
  const locked = await lockedCoins(owner, readAllLeases);
  return locked.some((one) => one.outpoint === outpoint) ? 'held' : 'spent';
}
