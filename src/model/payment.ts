import { z } from 'zod';
import { once } from '../lib/once.ts';
import {
  amountOutput,
  formatAmountMsat,
  formatNullableAmountMsat,
  parseAmountMsat,
} from './amount.ts';
import {
  idOfIndex,
  type PaymentId,
  type PaymentIndex,
  type UpdatedIndex,
  updatedIndex,
} from './payment-index.ts';
import { type PaymentPrice, priceInput } from './prices/price.ts';
import { hexOutput, laterAddition, timestamp } from './text.ts';

/** The technical means by which the money of a payment moves (docs/api.md, Payment). */
export const RAILS = ['onchain', 'invoice', 'offer', 'spontaneous'] as const;
const KINDS = [...RAILS, 'waived_channel_fee', 'waived_liquidity_fee'] as const;
/** The direction in which the money of a payment moves; an `info` payment moves none, but may have cost fees. */
export const DIRECTIONS = ['inbound', 'outbound', 'info'] as const;
/** States of a payment; the last two are final (docs/api.md, Payment status). */
const STATUSES = ['pending', 'completed', 'failed'] as const;
/** How soon an on-chain send is to confirm: after about 1, 3 or 72 blocks. */
export const PRIORITIES = ['high', 'normal', 'background'] as const;

export type Rail = (typeof RAILS)[number];
type Kind = (typeof KINDS)[number];
export type Direction = (typeof DIRECTIONS)[number];
type Status = (typeof STATUSES)[number];
export type Priority = (typeof PRIORITIES)[number];

/** A priority in a request or an answer. It has a name of its own in the OpenAPI document (docs/decisions.md 167). */
export const priorityField = once(() =>
  z.enum(PRIORITIES).meta({
    id: 'Priority',
    description:
      'How soon an on-chain send is to confirm: `high` after about 1 block, `normal` 3, `background` 72.',
  }),
);

/** Lowercase hex of any length. */
const hexText = once(() => z.string().regex(/^([0-9a-f]{2})*$/));

/** An on-chain transaction in an answer (docs/api.md, On-chain transaction). */
const transactionJson = once(() =>
  z
    .object({
      version: z.int().describe('Version of the transaction.'),
      lock_time: z.int().describe('Block height or time before which it is not valid.'),
      input: z
        .array(
          z.object({
            previous_output: z.string().describe('Output that is spent, as `<txid>:<vout>`.'),
            script_sig: hexText().describe('Signature script; empty for segwit inputs.'),
            sequence: z.int().describe('Sequence number.'),
            witness: z.array(hexText()).describe('Items of the witness.'),
          }),
        )
        .describe('What it spends.'),
      output: z
        .array(
          z.object({
            value: z.int().min(0).describe('Amount as a number of sats.'),
            script_pubkey: hexText().describe('Script that locks the output.'),
          }),
        )
        .describe('Where the money goes.'),
    })
    .meta({ id: 'Transaction', description: 'An on-chain transaction.' }),
);
export type TransactionJson = z.infer<ReturnType<typeof transactionJson>>;

/** A payment in an answer or a webhook (docs/api.md, Payment). */
export const paymentJson = once(() =>
  z
    .object({
      index: z
        .string()
        .describe(
          'Identifies the payment for ever: creation time, kind of rail, 64 hex characters.',
        ),
      rail: z.enum(RAILS).describe('Mechanism that moves the money.'),
      kind: z.enum(KINDS).describe('What it is to the wallet: the rail, or a fee that was waived.'),
      direction: z.enum(DIRECTIONS).describe('Whether money arrives or leaves; `info` moves none.'),
      hash: hexOutput(32).nullable().describe('Payment hash; null on chain.'),
      preimage: hexOutput(32).nullable().describe('Preimage; null until the payment is completed.'),
      offer_id: hexOutput(32).nullable().describe('The offer paid.'),
      txid: hexOutput(32).nullable().describe('Transaction id; null off chain.'),
      replacement: hexOutput(32)
        .nullable()
        .describe('Transaction that spent the same outputs instead.'),
      amount: amountOutput()
        .nullable()
        .describe(
          'In sats: what was sent without fees, or received net of fees. Null while an invoice without an amount is unpaid.',
        ),
      fees: amountOutput().describe('Fees in sats.'),
      partner_pk: hexOutput(32).nullable().describe('user_pk of the partner that takes a fee.'),
      partner_prop_fee: z
        .int()
        .nullable()
        .describe("The partner's proportional fee, in parts per million."),
      partner_base_fee: amountOutput().nullable().describe("The partner's base fee, in sats."),
      status: z.enum(STATUSES).describe('`completed` and `failed` are final.'),
      status_msg: z
        .string()
        .describe(
          'The status in words, such as `held`, `awaiting approval`, `expired`, or why it failed.',
        ),
      address: z.string().nullable().describe('Address paid on chain.'),
      invoice: z.string().nullable().describe('BOLT 11 invoice.'),
      tx: transactionJson().nullable().describe('The transaction; null off chain.'),
      payer_name: z.string().nullable().describe('Name that the payer gives itself.'),
      message: z.string().nullable().describe('Message from the payer to the payee.'),
      personal_note: z.string().nullable().describe('Private note; the other side never sees it.'),
      description: laterAddition(z.string(), 'What it is for, as the invoice or the offer says.'),
      external_id: laterAddition(
        z.string(),
        'Your own id for it, as the request gave it; the other side never sees it.',
      ),
      refund_of: laterAddition(z.string(), 'Index of the received payment that it refunds.'),
      refunded: laterAddition(
        amountOutput(),
        'Of a received payment: sats that refunds have sent or may still send, without fees.',
      ),
      price: laterAddition(priceInput(), 'What `amount` was computed of.'),
      rate: laterAddition(z.string(), 'Cost of one bitcoin in its currency.'),
      rate_at: laterAddition(timestamp(), 'When `rate` was read, in milliseconds.'),
      rate_source: laterAddition(z.string(), 'Sources of `rate`.'),
      priority: priorityField().nullable().describe('How soon an on-chain send shall confirm.'),
      expires_at: timestamp()
        .nullable()
        .describe('When it expires, in milliseconds; null for never.'),
      finalized_at: timestamp()
        .nullable()
        .describe('When it was completed or failed, in milliseconds; null before.'),
      created_at: timestamp().describe('When it was created, in milliseconds.'),
      updated_at: timestamp().describe('When it last changed, in milliseconds.'),
    })
    .meta({ id: 'Payment', description: 'A payment, inbound or outbound, on any rail.' }),
);
export type PaymentJson = z.infer<ReturnType<typeof paymentJson>>;

/** A payment inside this program: amounts in millisatoshis, times in milliseconds since the epoch. */
export interface Payment {
  readonly index: PaymentIndex;
  readonly rail: Rail;
  readonly kind: Kind;
  readonly direction: Direction;
  readonly hash: string | null;
  readonly preimage: string | null;
  readonly offerId: string | null;
  readonly txid: string | null;
  readonly replacement: string | null;
  readonly amountMsat: bigint | null;
  readonly feesMsat: bigint;
  readonly partnerPk: string | null;
  readonly partnerPropFeePpm: number | null;
  readonly partnerBaseFeeMsat: bigint | null;
  readonly status: Status;
  readonly statusMsg: string;
  readonly address: string | null;
  readonly invoice: string | null;
  readonly tx: TransactionJson | null;
  readonly payerName: string | null;
  readonly message: string | null;
  readonly personalNote: string | null;
  readonly description: string | null;
  readonly externalId: string | null;
  /** The received payment that this one refunds (docs/decisions.md 194). */
  readonly refundOf: PaymentIndex | null;
  /** What refunds take of a received payment. It is stored beside payments, and read with those that are shown. */
  readonly refundedMsat: bigint | null;
  /** The price that the amount was computed of, and the rate; null where sats were named. */
  readonly price: PaymentPrice | null;
  readonly priority: Priority | null;
  readonly expiresAtMs: number | null;
  readonly finalizedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What the wallet keeps with a payment for itself: no other node, and nobody who pays or is paid, sees it. */
export interface OwnWords extends Pick<Payment, 'personalNote' | 'externalId'> {
  /** The price that the amount was computed of; left out where sats were named. */
  readonly price?: PaymentPrice | null;
}

/** What the wallet keeps with a payment that it sends. */
export type SendWords = OwnWords & Partial<Pick<Payment, 'refundOf'>>;

/** Returns the words of a send alone. */
export function sendWords(words: SendWords) {
  const { personalNote, externalId, refundOf = null, price = null } = words;
  return { personalNote, externalId, refundOf, ...(price && { price }) };
}

/** Whether a payment can be refunded: it was received, and is completed. */
export function isReceived(payment: { readonly direction: string; readonly status: string }) {
  return payment.direction === 'inbound' && payment.status === 'completed';
}

/** Makes a payment with the required fields, its rail as its kind, fees of zero, and null in all other fields. */
export function blankPayment(
  required: Pick<
    Payment,
    'index' | 'rail' | 'direction' | 'status' | 'statusMsg' | 'createdAtMs' | 'updatedAtMs'
  >,
): Payment {
  return {
    kind: required.rail,
    hash: null,
    preimage: null,
    offerId: null,
    txid: null,
    replacement: null,
    amountMsat: null,
    feesMsat: 0n,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
    address: null,
    invoice: null,
    tx: null,
    payerName: null,
    message: null,
    personalNote: null,
    description: null,
    externalId: null,
    refundOf: null,
    refundedMsat: null,
    price: null,
    priority: null,
    expiresAtMs: null,
    finalizedAtMs: null,
    ...required,
  };
}

/** `status_msg` of an invoice whose payment has arrived and waits for `settle_invoice` (docs/decisions.md 116). */
export const HELD = 'held';

/** Returns whether an inbound payment has arrived and waits to be settled or canceled. */
export function isHeld({ status, statusMsg }: Pick<Payment, 'status' | 'statusMsg'>): boolean {
  return status === 'pending' && statusMsg === HELD;
}

/** `status_msg` of a payment that waits until it is approved or rejected (docs/decisions.md 187). */
export const AWAITING_APPROVAL = 'awaiting approval';
/** `status_msg` of a payment that was rejected, or not approved in time. */
export const NOT_APPROVED = 'not approved';

/** Returns a payment as it is while it waits for approval: no node is asked to make it. */
export function awaitingApproval(payment: Payment): Payment {
  return { ...payment, statusMsg: AWAITING_APPROVAL };
}

/** Returns whether a payment waits for approval. */
export function isAwaitingApproval(
  payment: Pick<Payment, 'status' | 'statusMsg' | 'direction'>,
): boolean {
  const { status, statusMsg, direction } = payment;
  return direction === 'outbound' && status === 'pending' && statusMsg === AWAITING_APPROVAL;
}

/** Returns whether a payment is completed or failed, which never changes again (docs/api.md, Payment status). */
export function isFinal(payment: Pick<Payment, 'status'>): boolean {
  return payment.status !== 'pending';
}

/** Whether this wallet pays it over Lightning. */
export function isLightningSend({ direction, rail }: Payment): boolean {
  return direction === 'outbound' && rail !== 'onchain';
}

/**
 * Every number of an attempt that is a time in microseconds is greater. Version 0.2 knew attempts by LND's
 * `payment_index`, which is smaller (docs/decisions.md 150).
 */
export const LEAST_TIME_US = 1_000_000_000_000;

/** Returns the payment's id in its wallet. */
export function idOf(payment: Pick<Payment, 'index'>): PaymentId {
  return idOfIndex(payment.index);
}

/** Returns the place of the payment's last update in the wallet's order of updates. */
export function updatedIndexOf(payment: Pick<Payment, 'index' | 'updatedAtMs'>): UpdatedIndex {
  return updatedIndex(payment.updatedAtMs, idOfIndex(payment.index));
}

/** Writes a payment in the form of answers. */
export function encodePayment(payment: Payment): PaymentJson {
  return {
    index: payment.index,
    rail: payment.rail,
    kind: payment.kind,
    direction: payment.direction,
    hash: payment.hash,
    preimage: payment.preimage,
    offer_id: payment.offerId,
    txid: payment.txid,
    replacement: payment.replacement,
    amount: formatNullableAmountMsat(payment.amountMsat),
    fees: formatAmountMsat(payment.feesMsat),
    partner_pk: payment.partnerPk,
    partner_prop_fee: payment.partnerPropFeePpm,
    partner_base_fee: formatNullableAmountMsat(payment.partnerBaseFeeMsat),
    status: payment.status,
    status_msg: payment.statusMsg,
    address: payment.address,
    invoice: payment.invoice,
    tx: payment.tx,
    payer_name: payment.payerName,
    message: payment.message,
    personal_note: payment.personalNote,
    description: payment.description,
    external_id: payment.externalId,
    refund_of: payment.refundOf,
    refunded: formatNullableAmountMsat(payment.refundedMsat),
    ...encodePaymentPrice(payment.price),
    priority: payment.priority,
    expires_at: payment.expiresAtMs,
    finalized_at: payment.finalizedAtMs,
    created_at: payment.createdAtMs,
    updated_at: payment.updatedAtMs,
  };
}

/** Reads what {@link encodePayment} wrote. It checks nothing, so use it only for rows that this program stored. */
export function decodePayment(json: PaymentJson): Payment {
  return {
    index: json.index as PaymentIndex,
    rail: json.rail,
    kind: json.kind,
    direction: json.direction,
    hash: json.hash,
    preimage: json.preimage,
    offerId: json.offer_id,
    txid: json.txid,
    replacement: json.replacement,
    amountMsat: storedAmount(json.amount),
    feesMsat: storedAmount(json.fees) ?? 0n,
    partnerPk: json.partner_pk,
    partnerPropFeePpm: json.partner_prop_fee,
    partnerBaseFeeMsat: storedAmount(json.partner_base_fee),
    status: json.status,
    statusMsg: json.status_msg,
    address: json.address,
    invoice: json.invoice,
    tx: json.tx,
    payerName: json.payer_name,
    message: json.message,
    personalNote: json.personal_note,
    description: json.description,
    externalId: json.external_id,
    refundOf: json.refund_of as PaymentIndex | null,
    refundedMsat: null,
    price: decodePaymentPrice(json),
    priority: json.priority,
    expiresAtMs: json.expires_at,
    finalizedAtMs: json.finalized_at,
    createdAtMs: json.created_at,
    updatedAtMs: json.updated_at,
  };
}

function encodePaymentPrice(
  price: PaymentPrice | null,
): Pick<PaymentJson, 'price' | 'rate' | 'rate_at' | 'rate_source'> {
  if (price === null) return { price: null, rate: null, rate_at: null, rate_source: null };
  const { currency, amount, rate, rateAtMs, rateSource } = price;
  return { price: { currency, amount }, rate, rate_at: rateAtMs, rate_source: rateSource };
}

function decodePaymentPrice({ price, rate, rate_at, rate_source }: PaymentJson): Payment['price'] {
  if (price === null || rate === null || rate_at === null || rate_source === null) return null;
  return { ...price, rate, rateAtMs: rate_at, rateSource: rate_source };
}

function storedAmount(text: string | null): bigint | null {
  return text === null ? null : parseAmountMsat(text);
}
