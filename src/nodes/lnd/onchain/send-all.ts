import { dustLimitSat } from '../../../codecs/dust.ts';
import { nothingToSend } from '../../remote/orders/onchain-send.ts';
import { LARGEST_OUTPUT_BYTES, spendable, transactionVbytes } from '../reads/coins.ts';
import type { LndCoin } from '../words/wire.ts';

const LEAST_SAT_PER_KW = 253n;
/** Bytes of an output's amount and of the length of its script. */
const OUTPUT_FRAME_BYTES = 9;

/**
 * Returns the most that one transaction of all the coins can send to a script, and its fee, in satoshis; pure. LND
 * calculates every fee with a change output, also where none is left, so the fee pays for one. `keptSat` stays in the
 * wallet. Throws `refused` when what would be sent is dust.
 */
export function mostOf(
  coins: readonly LndCoin[],
  order: {
    readonly script: Uint8Array;
    readonly satPerVbyte: bigint;
    /** What LND keeps back for its channels, in satoshis. */
    readonly keptSat: bigint;
  },
): { readonly amountSat: bigint; readonly feeSat: bigint } {
  const { script, satPerVbyte, keptSat } = order;
  const spent = spendable(coins);
  const sumSat = spent.reduce((sum, { amount_sat }) => sum + amount_sat, 0n);
  const vbytes = transactionVbytes(spent, [
    OUTPUT_FRAME_BYTES + script.length,
    LARGEST_OUTPUT_BYTES,
  ]);
  const satPerKw = satPerVbyte * 250n;
  const satPerKvbyte = 4n * (satPerKw > LEAST_SAT_PER_KW ? satPerKw : LEAST_SAT_PER_KW);
  const feeSat = (vbytes * satPerKvbyte) / 1000n;
  const amountSat = sumSat - feeSat - keptSat;
  if (amountSat >= dustLimitSat(script)) return { amountSat, feeSat };
  throw nothingToSend('LND');
}
