import type { ApiError } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import type { SendReport } from '../../node.ts';
import type { Observation } from '../../node-observations.ts';

/** An observation under the index and time of the wallet's send, with its amount while the node shows none. */
export function asBegun(
  seen: Observation,
  begun: Pick<Payment, 'index' | 'createdAtMs' | 'amountMsat'>,
): Observation {
  const { index, createdAtMs } = begun;
  const amountMsat = seen.payment.amountMsat ?? begun.amountMsat;
  return { ...seen, payment: { ...seen.payment, index, createdAtMs, amountMsat } };
}

/** The report for an error of a call that moves money: `refused` only where nothing was sent, else `unknown`. */
export function reportOf(error: ApiError): SendReport {
  return { state: error.outcomeUnknown ? 'unknown' : 'refused', error };
}
