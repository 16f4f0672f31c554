import type { Invalid } from '../bigsize.ts';
import { sortTlvRecords, type TlvRecord } from '../tlv.ts';
import { bip353Name } from './bip353-name.ts';
import { blindedPaths, blindedPayInfos, fallbackAddresses } from './blinded-path.ts';
import {
  chainHashes,
  currencyCode,
  fixedHex,
  point,
  rawBytes,
  tu32,
  tu64,
  utf8Text,
  type ValueCodec,
} from './values.ts';

interface Field<T> {
  readonly type: bigint;
  readonly name: string;
  readonly codec: ValueCodec<T>;
}

type FieldTable = Readonly<Record<string, Field<unknown>>>;

/** The values of a document's fields, null where the document does not have the field. */
export type FieldValues<F extends FieldTable> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T | null : never;
};

/** Defines a field of a `FieldTable`. */
export function field<T>(type: bigint, name: string, codec: ValueCodec<T>): Field<T> {
  return { type, name, codec };
}

/** The fields of an offer (BOLT 12, "TLV Fields for Offers"). */
export const OFFER_FIELDS = {
  offerChains: field(2n, 'offer_chains', chainHashes),
  offerMetadata: field(4n, 'offer_metadata', rawBytes),
  offerCurrency: field(6n, 'offer_currency', currencyCode),
  offerAmount: field(8n, 'offer_amount', tu64),
  offerDescription: field(10n, 'offer_description', utf8Text),
  offerFeatures: field(12n, 'offer_features', rawBytes),
  offerAbsoluteExpiry: field(14n, 'offer_absolute_expiry', tu64),
  offerPaths: field(16n, 'offer_paths', blindedPaths),
  offerIssuer: field(18n, 'offer_issuer', utf8Text),
  offerQuantityMax: field(20n, 'offer_quantity_max', tu64),
  offerIssuerId: field(22n, 'offer_issuer_id', point),
};

/** The fields of an invoice request: the offer's, its own, and its signature. */
export const INVOICE_REQUEST_FIELDS = {
  invreqMetadata: field(0n, 'invreq_metadata', rawBytes),
  ...OFFER_FIELDS,
  invreqChain: field(80n, 'invreq_chain', fixedHex(32)),
  invreqAmount: field(82n, 'invreq_amount', tu64),
  invreqFeatures: field(84n, 'invreq_features', rawBytes),
  invreqQuantity: field(86n, 'invreq_quantity', tu64),
  invreqPayerId: field(88n, 'invreq_payer_id', point),
  invreqPayerNote: field(89n, 'invreq_payer_note', utf8Text),
  invreqPaths: field(90n, 'invreq_paths', blindedPaths),
  invreqBip353Name: field(91n, 'invreq_bip_353_name', bip353Name),
  signature: field(240n, 'signature', fixedHex(64)),
};

/** The fields of an invoice: the invoice request's, its own, and its own signature in place of the request's. */
export const INVOICE_FIELDS = {
  ...INVOICE_REQUEST_FIELDS,
  invoicePaths: field(160n, 'invoice_paths', blindedPaths),
  invoiceBlindedPay: field(162n, 'invoice_blindedpay', blindedPayInfos),
  invoiceCreatedAt: field(164n, 'invoice_created_at', tu64),
  invoiceRelativeExpiry: field(166n, 'invoice_relative_expiry', tu32),
  invoicePaymentHash: field(168n, 'invoice_payment_hash', fixedHex(32)),
  invoiceAmount: field(170n, 'invoice_amount', tu64),
  invoiceFallbacks: field(172n, 'invoice_fallbacks', fallbackAddresses),
  invoiceFeatures: field(174n, 'invoice_features', rawBytes),
  invoiceNodeId: field(176n, 'invoice_node_id', point),
};

/** Each table by type, so that a field is found without a search. It is made on first use. */
const indexes = new WeakMap<FieldTable, ReadonlyMap<bigint, [string, Field<unknown>]>>();

function indexOf(table: FieldTable): ReadonlyMap<bigint, [string, Field<unknown>]> {
  const known = indexes.get(table);
  if (known !== undefined) return known;
  const index = new Map(
    Object.entries(table).map(([key, entry]) => [entry.type, [key, entry]] as const),
  ) as Map<bigint, [string, Field<unknown>]>;
  indexes.set(table, index);
  return index;
}

/**
 * Reads the fields of `table`. Other fields with an even type are invalid, in every range, because they may change the
 * meaning of known fields (BOLT 1, "it's ok to be odd").
 */
export function readFields<F extends FieldTable>(
  table: F,
  records: readonly TlvRecord[],
  invalid: Invalid,
): FieldValues<F> {
  const index = indexOf(table);
  const values: Record<string, unknown> = {};
  for (const key of Object.keys(table)) values[key] = null;
  for (const { type, value } of records) {
    const entry = index.get(type);
    if (entry !== undefined) {
      const [key, { name, codec }] = entry;
      values[key] = codec.decode(value, (problem) => invalid(`${name} ${problem}`));
    } else if (type % 2n === 0n) {
      invalid(`it requires the unknown field ${type} to be understood`);
    }
  }
  return values as FieldValues<F>;
}

/** Writes the table's fields that have a value, and `others` unchanged, in ascending order. */
export function writeFields<F extends FieldTable>(
  table: F,
  values: Partial<FieldValues<F>>,
  others: readonly TlvRecord[],
  invalid: Invalid,
): TlvRecord[] {
  const written = Object.entries<Field<unknown>>(table).flatMap(([key, { type, name, codec }]) => {
    const value = values[key];
    if (value === undefined || value === null) return [];
    return [{ type, value: codec.encode(value, (problem) => invalid(`${name} ${problem}`)) }];
  });
  return sortTlvRecords([...written, ...others]);
}

/** Returns the value of a field; the document is invalid without it. */
export function required<T>(value: T | null, { name }: Field<T>, invalid: Invalid): T {
  return value === null ? invalid(`${name} is missing`) : value;
}
