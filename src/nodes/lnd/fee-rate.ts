import type { LndRest } from './rest.ts';
import { feeRateShape } from './wire.ts';

/** Blocks within which the funding or closing transaction of a channel should be confirmed. */
const TARGET_BLOCKS = 6;
/** LND gives rates in satoshis per 1,000 weight units, and 250 of those make one satoshi per virtual byte. */
const KW_PER_VBYTE = 250n;

/** LND's present fee rate for funding and closing transactions, in whole satoshis per virtual byte, rounded up. */
export async function satPerVbyte(owner: LndRest): Promise<bigint> {
  const path = `/v2/wallet/estimatefee/${TARGET_BLOCKS}`;
  const { sat_per_kw } = await owner.get(path, feeRateShape);
  return (sat_per_kw + KW_PER_VBYTE - 1n) / KW_PER_VBYTE;
}
