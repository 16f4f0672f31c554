import type { Priority } from '../../../model/payment.ts';
import { CHANNEL_BLOCKS, TARGET_BLOCKS } from '../../remote/orders/onchain-send.ts';
import { refusalText } from '../words/refusal.ts';
import { feeRateShape } from '../words/wire.ts';
import type { LndRest } from './rest.ts';

/** LND gives rates in satoshis per 1,000 weight units, and 250 of those make one satoshi per virtual byte. */
const KW_PER_VBYTE = 250n;

/** LND's present rate for funding and closing transactions, in whole satoshis per virtual byte, rounded up. */
export async function satPerVbyte(owner: LndRest): Promise<bigint> {
  return ((await satPerKw(owner, CHANNEL_BLOCKS)) + KW_PER_VBYTE - 1n) / KW_PER_VBYTE;
}

/** LND's present rate for a send, in whole satoshis per virtual byte, rounded down as LND does for its own. */
export async function sendSatPerVbyte(owner: LndRest, priority: Priority): Promise<bigint> {
  const rate = (await satPerKw(owner, TARGET_BLOCKS[priority])) / KW_PER_VBYTE;
  return rate > 0n ? rate : 1n;
}

async function satPerKw(owner: LndRest, blocks: number): Promise<bigint> {
  try {
    return (await owner.get(`/v2/wallet/estimatefee/${blocks}`, feeRateShape)).sat_per_kw;
  } catch (error) {
    // LND before 0.20 has no rate for the next block alone.
    if (blocks > 1 || !refusalText(error).includes('must be greater than 1')) throw error;
    return satPerKw(owner, 2);
  }
}
