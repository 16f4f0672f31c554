import { MOST_LIST_BYTES } from '../../remote/calls/calls.ts';
import { type LndCoin, unspentShape } from '../words/wire.ts';
import type { LndRest } from './rest.ts';

const EVERY_DEPTH = 9_999_999;
const WEIGHT_PER_VBYTE = 4;
/** Bytes of the largest output that LND makes (P2TR), with its amount. */
export const LARGEST_OUTPUT_BYTES = 43;

/** Weight of a signed input by LND's name of its address, as LND counts it. Other coins are not spent. */
const INPUT_WEIGHT: Readonly<Record<string, number>> = {
  WITNESS_PUBKEY_HASH: 41 * WEIGHT_PER_VBYTE + 109,
  NESTED_PUBKEY_HASH: 64 * WEIGHT_PER_VBYTE + 109,
  TAPROOT_PUBKEY: 41 * WEIGHT_PER_VBYTE + 67,
};

/** Returns the wallet's coins that are not locked and have at least that many confirmations. */
export async function readCoins(owner: LndRest, minConfs: number): Promise<readonly LndCoin[]> {
  const query = { min_confs: minConfs, max_confs: EVERY_DEPTH };
  const { utxos } = await owner.post('/v2/wallet/utxos', query, unspentShape, {
    harmlessTwice: true,
    mostBytes: MOST_LIST_BYTES,
  });
  return utxos;
}

/** Returns the coins whose kind can be spent. */
export function spendable(coins: readonly LndCoin[]): readonly LndCoin[] {
  return coins.filter(({ address_type }) => address_type in INPUT_WEIGHT);
}

/** Returns the virtual bytes of a transaction of the coins and of outputs of these sizes, as LND counts them. */
export function transactionVbytes(
  coins: readonly LndCoin[],
  outputBytes: readonly number[],
): bigint {
  const inputs = coins.reduce(
    (sum, { address_type }) => sum + (INPUT_WEIGHT[address_type] ?? 0),
    0,
  );
  const counts = countBytes(coins.length) + countBytes(outputBytes.length);
  const outputs = outputBytes.reduce((sum, bytes) => sum + bytes, 0);
  // Version and lock time take 8 bytes, the segwit marker and flag two units of weight (BIP 144).
  const weight = (8 + counts + outputs) * WEIGHT_PER_VBYTE + inputs + 2 + countBytes(coins.length);
  return BigInt(Math.ceil(weight / WEIGHT_PER_VBYTE));
}

/** Bytes of a number of inputs or outputs in a transaction. */
function countBytes(count: number): number {
  return count < 0xfd ? 1 : 3;
}
