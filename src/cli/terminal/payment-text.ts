import type { PaymentJson } from '../../model/payment.ts';
import { CallFailed } from '../call-failed.ts';
import { type Column, fields } from './table.ts';
import { grouped, minute, moment, priceWords, sats } from './words.ts';

/** The width of descriptions, ids, notes and messages in a table, in characters. */
const TEXT_WIDTH = 30;
/** The hex characters at the end of an index, and those of them that a table shows. */
const ID_LENGTH = 64;
const SHORT_ID_LENGTH = 10;

/** The columns of tables of payments. */
export const PAYMENT_COLUMNS: readonly Column<PaymentJson>[] = [
  { title: 'Created', of: ({ created_at }) => minute(created_at) },
  { title: 'Direction', of: ({ direction }) => direction, leaves: 5 },
  { title: 'Rail', of: ({ rail }) => rail, leaves: 1 },
  { title: 'Sats', of: ({ amount }) => grouped(amount, 'any'), right: true },
  { title: 'Fees', of: ({ fees }) => grouped(fees), right: true, leaves: 2 },
  { title: 'Status', of: statusWords, most: TEXT_WIDTH, least: 9 },
  { title: 'Refund', of: refundWords, leaves: 3, isOptional: true },
  {
    title: 'Description',
    of: ({ description }) => description ?? '',
    most: TEXT_WIDTH,
    least: 10,
    leaves: 6,
    isOptional: true,
  },
  {
    title: 'External id',
    of: ({ external_id }) => external_id ?? '',
    most: TEXT_WIDTH,
    least: 10,
    leaves: 6,
    isOptional: true,
  },
  {
    title: 'Note or message',
    of: ({ personal_note, message }) => personal_note ?? message ?? '',
    most: TEXT_WIDTH,
    least: 10,
    leaves: 4,
  },
  { title: 'Id', of: ({ index }) => shortId(index) },
  { title: 'Index', of: ({ index }) => index, leaves: 0 },
];

/** Returns as much of an id as names the payment among a great many (docs/decisions.md 102). */
export function shortId(index: string): string {
  return index.slice(-ID_LENGTH).slice(0, SHORT_ID_LENGTH);
}

/** Returns lines that describe one payment for people. */
export function paymentLines(payment: PaymentJson): string[] {
  const isOpen = payment.status === 'pending' && payment.direction === 'inbound';
  return fields({
    Status: statusWords(payment),
    Direction: payment.direction,
    Amount: payment.amount === null ? null : sats(payment.amount),
    Price: payment.price && priceWords(payment.price),
    Rate: payment.price && `${payment.rate} (${payment.rate_source})`,
    Fees: sats(payment.fees),
    Rail: payment.rail,
    Description: payment.description,
    'External id': payment.external_id,
    'Refund of': payment.refund_of,
    Refunded: payment.refunded && sats(payment.refunded),
    From: payment.payer_name,
    Message: payment.message,
    Note: payment.personal_note,
    Address: payment.address,
    Transaction: payment.txid,
    Invoice: isOpen ? payment.invoice : null,
    Created: moment(payment.created_at),
    Expires: isOpen && payment.expires_at !== null ? moment(payment.expires_at) : null,
    Finalized: payment.finalized_at === null ? null : moment(payment.finalized_at),
    Index: payment.index,
  });
}

/** Returns the status, with its message if that says more. */
export function statusWords({ status, status_msg }: PaymentJson): string {
  return status === status_msg ? status : `${status} (${status_msg})`;
}

function refundWords({ refund_of, refunded }: PaymentJson): string {
  if (refund_of !== null) return `of ${shortId(refund_of)}`;
  return refunded === null ? '' : sats(refunded);
}

/** Throws {@link CallFailed} for a failed payment: the command has not succeeded, although the API answered. */
export function requireNotFailed(payment: PaymentJson): void {
  if (payment.status !== 'failed') return;
  throw new CallFailed(`The payment failed: ${payment.status_msg}.`);
}
