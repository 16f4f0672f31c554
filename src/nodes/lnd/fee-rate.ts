import type { LndRest } from './rest.ts';
import { feeRateShape } from './wire.ts';

/** Blocks within which a channel's transaction should be confirmed. */
const TARGET_BLOCKS = 6;
/** Weight units of a virtual kilobyte are four thousand. */
const KW_PER_VBYTE = 250n;

/** LND's rate for the transactions of channels now, whole satoshis per virtual byte, rounded up. */
export async function satPerVbyte(owner: LndRest): Promise<bigint> {
  const path = `/v2/wallet/estimatefee/${TARGET_BLOCKS}`;
  const { sat_per_kw } = await owner.get(path, feeRateShape);
  return (sat_per_kw + KW_PER_VBYTE - 1n) / KW_PER_VBYTE;
}
