import { z } from 'zod';
import { readAs } from '../remote/answer.ts';
import type { ClnRpc } from './rpc.ts';
import { attemptsOf, type SendAttempt } from './translate.ts';
import { sendpayShape, sendpaysShape } from './wire.ts';

/**
 * All attempts to pay a hash, each with all its parts, in the order in which they began. Throws `unreadable` when a
 * part cannot be read, because it decides about money.
 */
export async function attemptsToPay(owner: ClnRpc, paymentHash: string): Promise<SendAttempt[]> {
  const { payments } = await owner.list(
    'listsendpays',
    { payment_hash: paymentHash },
    sendpaysShape,
  );
  return attemptsOf(readAs('Core Lightning', z.array(sendpayShape), payments));
}

/** The attempt that carries the label. */
export function labeled(attempts: readonly SendAttempt[], label: string): SendAttempt | undefined {
  return attempts.findLast(({ parts }) => parts.some((part) => part.label === label));
}
