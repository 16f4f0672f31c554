import { hex } from '@scure/base';
import { type ApiError, refused } from '../../../model/errors.ts';
import type { Payment, Priority } from '../../../model/payment.ts';
import { transactionJsonOf } from '../../../model/transaction.ts';
import type { Observation, SignedSend } from '../../node.ts';
import { shownPayment } from '../../shown-payment.ts';

/** Blocks within which a transaction of each priority should be confirmed (docs/api.md, Payment). */
export const TARGET_BLOCKS: Readonly<Record<Priority, number>> = {
  high: 1,
  normal: 3,
  background: 72,
};
/** Blocks within which the funding or closing transaction of a channel should be confirmed. */
export const CHANNEL_BLOCKS = 6;

/** What the wallet knows of an on-chain send before the node tells of it. */
export type BegunSend = Pick<
  Payment,
  'index' | 'createdAtMs' | 'amountMsat' | 'address' | 'priority'
>;

/** The observation of a send that its signed bytes give, once they are published. */
export function publishedSend(command: BegunSend, signed: SignedSend): Observation {
  return {
    payment: {
      ...blankSend(command, signed.txid),
      feesMsat: BigInt(signed.feeMsat),
      tx: transactionJsonOf(hex.decode(signed.txHex)),
    },
    attempt: null,
  };
}

/** A pending send of which only the transaction's id is known. */
export function blankSend(asked: BegunSend, txid: string): Payment {
  const { index, createdAtMs, amountMsat, address, priority } = asked;
  const send = { index, createdAtMs, amountMsat, address, priority, txid };
  return shownPayment({ ...send, rail: 'onchain', direction: 'outbound' });
}

/** The error for raising the fee of a send that the node, which people call `title`, does not show. */
export function sendNotListed(title: string): ApiError {
  return refused(`${title} does not list the transaction of this payment: look at it again later.`);
}

/** The error for raising the fee of a send without a coin that could pay for it. */
export function noChangeLeft(): ApiError {
  return refused('The transaction has no change left whose coins could pay a fee.');
}

/** The error where all coins do not pay for a send; the node, called `title`, keeps some back for channels. */
export function nothingToSend(title: string): ApiError {
  return refused(
    `The spendable on-chain balance does not pay for a transaction that sends it, with what ${title} keeps back for its channels: receive more first.`,
  );
}
