import { outpointOf, readCoins } from '../reads/coins.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { anyShape, infoShape } from '../words/wire.ts';
import { psbtNaming } from './psbt.ts';

/** Blocks for which Core Lightning reserves coins, about half a day. */
const RESERVED_BLOCKS = 72;
/** A reservation that ends within so many blocks is extended. */
const SOON_BLOCKS = 36;
/** More blocks than any reservation lasts. */
const ALL_BLOCKS = 1_000_000;

/** Extends the reservations that end soon, and makes those that have ended, but for coins that were spent. */
export async function extendReservations(
  owner: ClnRpc,
  outpoints: readonly string[],
): Promise<void> {
  const [coins, { blockheight }] = await Promise.all([
    readCoins(owner),
    owner.read('getinfo', {}, infoShape),
  ]);
  const ending = coins.filter(
    (coin) =>
      outpoints.includes(outpointOf(coin)) &&
      (coin.reserved_to_block ?? 0) < blockheight + SOON_BLOCKS,
  );
  if (ending.length === 0) return;
  await owner.write(
    'reserveinputs',
    { psbt: psbtNaming(ending.map(outpointOf)), exclusive: false, reserve: RESERVED_BLOCKS },
    anyShape,
  );
}

/** Ends the reservations of the coins. Coins that are not reserved are skipped. */
export async function releaseReservations(
  owner: ClnRpc,
  outpoints: readonly string[],
): Promise<void> {
  await owner.write(
    'unreserveinputs',
    { psbt: psbtNaming(outpoints), reserve: ALL_BLOCKS },
    anyShape,
    { harmlessTwice: true },
  );
}
