import { z } from 'zod';
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
import { hexOutput, timestamp } from './text.ts';

/** Technical mechanism of a payment (contract, Payment). */
export const RAILS = ['onchain', 'invoice', 'offer', 'spontaneous'] as const;
/** Application-level kind of a payment. */
const KINDS = [
  'onchain',
  'invoice',
  'offer',
  'spontaneous',
  'waived_channel_fee',
  'waived_liquidity_fee',
] as const;
/** Which way the money goes; `info` moves none. */
export const DIRECTIONS = ['inbound', 'outbound', 'info'] as const;
/** States of a payment; the last two are terminal. */
const STATUSES = ['pending', 'completed', 'failed'] as const;
/** On-chain confirmation priorities: about 1, 3 and 72 blocks (contract, Limits). */
export const PRIORITIES = ['high', 'normal', 'background'] as const;

export type Rail = (typeof RAILS)[number];
export type Kind = (typeof KINDS)[number];
export type Direction = (typeof DIRECTIONS)[number];
export type Status = (typeof STATUSES)[number];
export type Priority = (typeof PRIORITIES)[number];

/** An on-chain transaction as answers show it (contract, On-chain transaction object). */
const transactionJson = z.object({
  version: z.int(),
  lock_time: z.int(),
  input: z.array(
    z.object({
      previous_output: z.string().meta({ description: '<txid>:<vout>' }),
      script_sig: z.string(),
      sequence: z.int(),
      witness: z.array(z.string()),
    }),
  ),
  output: z.array(
    z.object({ value: z.int().meta({ description: 'Satoshis.' }), script_pubkey: z.string() }),
  ),
});
export type TransactionJson = z.infer<typeof transactionJson>;

/** The Payment resource as answers and webhooks carry it (contract, Payment; decisions section 5). */
export const paymentJson = z
  .object({
    index: z.string(),
    rail: z.enum(RAILS),
    kind: z.enum(KINDS),
    direction: z.enum(DIRECTIONS),
    hash: hexOutput(32).nullable(),
    preimage: hexOutput(32).nullable(),
    offer_id: hexOutput(32).nullable(),
    txid: hexOutput(32).nullable(),
    replacement: hexOutput(32).nullable(),
    amount: amountOutput.nullable(),
    fees: amountOutput,
    partner_pk: hexOutput(32).nullable(),
    partner_prop_fee: z.int().nullable(),
    partner_base_fee: amountOutput.nullable(),
    status: z.enum(STATUSES),
    status_msg: z.string(),
    address: z.string().nullable(),
    invoice: z.string().nullable(),
    tx: transactionJson.nullable(),
    payer_name: z.string().nullable(),
    message: z.string().nullable(),
    personal_note: z.string().nullable(),
    priority: z.enum(PRIORITIES).nullable(),
    expires_at: timestamp.nullable(),
    finalized_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Payment', description: 'A payment, inbound or outbound, on any rail.' });
export type PaymentJson = z.infer<typeof paymentJson>;

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
  readonly priority: Priority | null;
  readonly expiresAtMs: number | null;
  readonly finalizedAtMs: number | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A payment with nothing set but what every payment has; the start for the constructors of each rail. */
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
    priority: null,
    expiresAtMs: null,
    finalizedAtMs: null,
    ...required,
  };
}

/** Whether a payment has reached a terminal state (contract, Payment status). */
export function isFinal(payment: Pick<Payment, 'status'>): boolean {
  return payment.status !== 'pending';
}

/** The payment's id inside its wallet. */
export function idOf(payment: Pick<Payment, 'index'>): PaymentId {
  return idOfIndex(payment.index);
}

/** Where the payment's last update stands in the wallet's order of updates. */
export function updatedIndexOf(payment: Pick<Payment, 'index' | 'updatedAtMs'>): UpdatedIndex {
  return updatedIndex(payment.updatedAtMs, idOfIndex(payment.index));
}

/** Writes a payment as answers carry it. */
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
    priority: payment.priority,
    expires_at: payment.expiresAtMs,
    finalized_at: payment.finalizedAtMs,
    created_at: payment.createdAtMs,
    updated_at: payment.updatedAtMs,
  };
}

/** Reads what {@link encodePayment} wrote. Trusts its input: only for rows this program stored. */
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
    priority: json.priority,
    expiresAtMs: json.expires_at,
    finalizedAtMs: json.finalized_at,
    createdAtMs: json.created_at,
    updatedAtMs: json.updated_at,
  };
}

function storedAmount(text: string | null): bigint | null {
  return text === null ? null : parseAmountMsat(text);
}
