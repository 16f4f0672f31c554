import { z } from 'zod';
import { readAs } from '../../remote/calls/answer.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import { isOwnLabel } from '../words/labels.ts';
import { attemptsOf, hasOnlyFailed, type SendAttempt } from '../words/translate.ts';
import { sendpayShape, sendpaysShape } from '../words/wire.ts';

/** All attempts to pay a hash, with all parts, in order. Throws `unreadable` for a part that cannot be read. */
export async function attemptsToPay(
  owner: ClnRpc,
  { lost }: Pick<ClnWallet, 'lost'>,
  paymentHash: string,
): Promise<SendAttempt[]> {
  const { payments } = await owner.list(
    'listsendpays',
    { payment_hash: paymentHash },
    sendpaysShape,
  );
  return attemptsOf(await lost.marked(readAs('Core Lightning', z.array(sendpayShape), payments)));
}

/** The attempts to pay one hash, by whose they are. */
export interface Shares {
  /** Those of the payment that is asked about. A request that was sent twice may have made two. */
  readonly own: readonly SendAttempt[];
  readonly others: readonly SendAttempt[];
}

/** Sorts attempts by whether they carry the label of a payment. */
export function sharesBy(attempts: readonly SendAttempt[], label: string): Shares {
  const isOwn = ({ parts }: SendAttempt) => parts.some((part) => isOwnLabel(part.label, label));
  return { own: attempts.filter(isOwn), others: attempts.filter((one) => !isOwn(one)) };
}

/** Whether a part was delivered. The node begins no other part of the hash then, for anybody and for ever. */
export function isPaid({ parts }: SendAttempt): boolean {
  return parts.some(({ status }) => status === 'complete');
}

/** The attempt that decides: the one that is paid or has a part on its way (the node makes one), else the newest. */
export function foremost(attempts: readonly SendAttempt[]): SendAttempt | undefined {
  return attempts.findLast((one) => !hasOnlyFailed(one)) ?? attempts[attempts.length - 1];
}
