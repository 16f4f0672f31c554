import { ApiError } from '../../../model/errors.ts';
import { isAwaitingApproval, type Payment } from '../../../model/payment.ts';
import type { Observation, SendOutcome, SendQuestion, SendReport } from '../../node.ts';
import { changePayment, findPayment, type PaymentKey } from '../world/payments.ts';
import type { World } from '../world/world.ts';

/** The observation of a payment. It has no attempt: the sandbox knows attempts by the wallet's index. */
export function observed(payment: Payment): Observation {
  return { payment, attempt: null };
}

/**
 * Runs a send and reports the result once it is durable. When the work throws, nothing of it was kept, so the report is
 * `refused`. When the disk is full, the file shows whether the payment existed before.
 */
export async function reportSend(
  world: World,
  { userPk, index, work }: PaymentKey & { readonly work: () => Payment },
): Promise<SendReport> {
  try {
    return { state: 'known', ...observed(await world.durably(work)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind !== 'overCapacity') return { state: 'refused', error };
    return world
      .durably(() => findPayment(world, userPk, index))
      .then(
        (kept): SendReport =>
          kept === null || isAwaitingApproval(kept)
            ? { state: 'refused', error }
            : { state: 'known', ...observed(kept) },
        (failure: unknown): SendReport => {
          if (!(failure instanceof ApiError)) throw failure;
          return { state: 'unknown', error };
        },
      );
  }
}

/**
 * Finds out what became of a send. The node runs in this process, so a request that is not in its file never reached
 * it; but a signed transaction may still be published. A payment whose request was lost after it was approved ends
 * here, since it has its place in the order of updates already.
 */
export function sendOutcome(world: World, userPk: string, question: SendQuestion): SendOutcome {
  const payment = findPayment(world, userPk, question.payment.index);
  const isAwaiting = payment !== null && isAwaitingApproval(payment);
  if (payment?.direction === 'outbound' && !isAwaiting) {
    return { state: 'known', ...observed(payment) };
  }
  if (question.signed !== null) return { state: 'unknown' };
  const reason = 'not sent';
  if (!isAwaiting) return { state: 'never', reason };
  const failed = changePayment(world, userPk, payment, { status: 'failed', statusMsg: reason });
  return { state: 'known', ...observed(failed) };
}
