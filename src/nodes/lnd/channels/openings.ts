import { z } from 'zod';
import { keptRows } from '../../remote/place/kept-rows.ts';
import { readCoins } from '../reads/coins.ts';
import { lockedCoins, readAllLeases } from '../reads/leases.ts';
import type { LndRest } from '../reads/rest.ts';

const openingShape = z.object({
  /** Satoshis as decimal text. */
  valueSat: z.string().regex(/^\d+$/),
  peer: z.string(),
  /** The outpoint that every request for this channel spends. */
  anchor: z.string(),
});
/** A channel that LND was asked for, and may have opened, or may open still. */
export type Opening = z.output<typeof openingShape>;

/** Channels that were asked for, by their user channel id; none where it certainly is not. */
export const OPENINGS = keptRows('lnd_opening', openingShape);

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
