import { bech32, hex } from '@scure/base';
import { encodeHashAddress, encodeWitnessAddress } from '../address.ts';
import type { Network } from '../network.ts';
import { readFeatures } from './features.ts';
import { readInteger, splitFields } from './fields.ts';
import {
  type Bolt11Invoice,
  DEFAULT_EXPIRY_SECS,
  DEFAULT_MIN_FINAL_CLTV,
  FIELD,
  invalid,
  type RouteHint,
  requireLength,
  SIGNATURE_WORDS,
  TIMESTAMP_WORDS,
} from './invoice.ts';
import { checkPayee, type Signed } from './payee.ts';
import { notOne, readPrefix } from './prefix.ts';

/** Fields of a fixed length; with any other length the invoice is invalid (BOLT 11, reader requirements). */
const FIXED_WORDS: ReadonlyMap<number, { readonly name: string; readonly words: number }> = new Map(
  [
    [FIELD.paymentHash, { name: 'payment hash', words: 52 }],
    [FIELD.paymentSecret, { name: 'payment secret', words: 52 }],
    [FIELD.descriptionHash, { name: 'description hash', words: 52 }],
    [FIELD.payee, { name: 'payee', words: 53 }],
  ],
);

/** Fields that must not begin with a zero word (BOLT 11, reader requirements). */
const MINIMAL: ReadonlyMap<number, string> = new Map([
  [FIELD.minFinalCltv, 'final expiry delta'],
  [FIELD.expiry, 'expiry'],
  [FIELD.features, 'feature field'],
]);

/** The size of a route hint entry: pubkey, short channel id, two fees and a delta (BOLT 11, field `r`). */
const ROUTE_HINT_BYTES = 51;

interface DecodeOptions {
  /** False only for invoices that this program made; the payee is then that of the `n` field, or empty. */
  readonly verifySignature?: boolean;
  /** The key of the wallet that the invoice should be of, hex: its signature is checked faster then. */
  readonly ownKey?: string;
}

/** An invoice with the payee that it names, what it is signed by, and itself with its payee once that is checked. */
interface Read {
  readonly named: Bolt11Invoice;
  readonly signed: Signed;
  checked: Bolt11Invoice | null;
}

const RECENT = 64;
/** What was read last, the newest at the end: an invoice is checked, shown and paid soon after. */
const recent = new Map<string, Read>();

/**
 * Reads a BOLT 11 invoice, and checks all of its rules: checksum, signature and payee, feature bits, field lengths,
 * required fields, one payment hash. If another field occurs several times, the first one counts. What was read and
 * checked a moment ago is not read again (docs/decisions.md 206). Throws CodecError('bolt11').
 */
export function decodeBolt11(text: string, options: DecodeOptions = {}): Bolt11Invoice {
  requireLength(text);
  const read = recent.get(text) ?? readInvoice(text);
  recent.set(text, read);
  const [oldest] = recent.keys();
  if (recent.size > RECENT && oldest !== undefined) recent.delete(oldest);
  if (options.verifySignature === false) return read.named;
  read.checked ??= { ...read.named, payeePubkey: checkPayee(read.signed, options.ownKey ?? null) };
  return read.checked;
}

function readInvoice(text: string): Read {
  const decoded = bech32.decodeUnsafe(text, false);
  if (!decoded) notOne();
  const { prefix, words } = decoded;
  const { network, amountMsat } = readPrefix(prefix);
  if (words.length < TIMESTAMP_WORDS + SIGNATURE_WORDS) invalid('it is too short');
  const data = words.slice(0, -SIGNATURE_WORDS);
  const timestampSecs = readInteger(data.slice(0, TIMESTAMP_WORDS));
  const fields = readFields(data.slice(TIMESTAMP_WORDS));
  const paymentHash = only(fields, FIELD.paymentHash, 'payment hash');
  const paymentSecret = only(fields, FIELD.paymentSecret, 'payment secret');
  const { description, descriptionHash } = readDescription(fields);
  const features = readFeatures(fields.get(FIELD.features)?.[0] ?? []);
  const expirySecs = integerOf(fields, FIELD.expiry) ?? DEFAULT_EXPIRY_SECS;
  const metadata = fields.get(FIELD.metadata)?.[0];
  const payee = fields.get(FIELD.payee)?.[0];
  const payeePubkey = payee && hex.encode(toBytes(payee, 'payee'));
  const named: Bolt11Invoice = {
    text: text.toLowerCase(),
    network,
    amountMsat,
    timestampSecs,
    expirySecs,
    createdAtMs: timestampSecs * 1000,
    expiresAtMs: (timestampSecs + expirySecs) * 1000,
    paymentHash,
    paymentSecret,
    description,
    descriptionHash,
    payeePubkey: payeePubkey ?? '',
    minFinalCltvExpiryDelta: integerOf(fields, FIELD.minFinalCltv) ?? DEFAULT_MIN_FINAL_CLTV,
    features,
    routeHints: (fields.get(FIELD.routeHint) ?? []).map(readRouteHint),
    fallbackAddresses: (fields.get(FIELD.fallback) ?? []).flatMap((field) => {
      const address = readFallback(field, network);
      return address === null ? [] : [address];
    }),
    metadata: metadata === undefined ? null : hex.encode(toBytes(metadata, 'metadata')),
  };
  const signature = words.slice(-SIGNATURE_WORDS);
  return { named, signed: { prefix, data, signature, named: payeePubkey }, checked: null };
}

type Fields = ReadonlyMap<number, readonly (readonly number[])[]>;

function readFields(data: readonly number[]): Fields {
  const fields = new Map<number, (readonly number[])[]>();
  for (const { type, words } of splitFields(data)) {
    const fixed = FIXED_WORDS.get(type);
    if (fixed && words.length !== fixed.words) invalid(`its ${fixed.name} has the wrong length`);
    const minimal = MINIMAL.get(type);
    if (minimal && words[0] === 0) invalid(`its ${minimal} begins with zeros`);
    const sameType = fields.get(type);
    if (sameType) sameType.push(words);
    else fields.set(type, [words]);
  }
  return fields;
}

/** Returns a field that must occur exactly once. Money was lost where readers chose different ones of several. */
function only(fields: Fields, type: number, name: string): string {
  const [field, second] = fields.get(type) ?? [];
  if (field === undefined) invalid(`it has no ${name}`);
  if (second !== undefined) invalid(`it has more than one ${name}`);
  return hex.encode(toBytes(field, name));
}

function readDescription(fields: Fields): {
  description: string | null;
  descriptionHash: string | null;
} {
  const text = fields.get(FIELD.description)?.[0];
  const hash = fields.get(FIELD.descriptionHash)?.[0];
  if ((text === undefined) === (hash === undefined)) {
    invalid('it must have either a description or a description hash');
  }
  return {
    description: text === undefined ? null : utf8(toBytes(text, 'description')),
    descriptionHash: hash === undefined ? null : hex.encode(toBytes(hash, 'description hash')),
  };
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return invalid('its description is not UTF-8 text');
  }
}

/** Returns the bytes of a field; the remaining bits are padding. */
function toBytes(words: readonly number[], name: string): Uint8Array {
  const bytes = bech32.fromWordsUnsafe([...words]);
  return bytes ? bytes : invalid(`its ${name} is not padded with zero bits`);
}

function integerOf(fields: Fields, type: number): number | null {
  const words = fields.get(type)?.[0];
  return words === undefined ? null : readInteger(words);
}

function readRouteHint(words: readonly number[]): RouteHint[] {
  const bytes = toBytes(words, 'route hint');
  if (bytes.length % ROUTE_HINT_BYTES !== 0) invalid('its route hint has the wrong length');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hops: RouteHint[] = [];
  for (let at = 0; at < bytes.length; at += ROUTE_HINT_BYTES) {
    hops.push({
      pubkey: hex.encode(bytes.subarray(at, at + 33)),
      shortChannelId: hex.encode(bytes.subarray(at + 33, at + 41)),
      feeBaseMsat: view.getUint32(at + 41),
      feeProportionalMillionths: view.getUint32(at + 45),
      cltvExpiryDelta: view.getUint16(at + 49),
    });
  }
  return hops;
}

/** Reads a fallback address; null for an unknown version, which readers skip (BOLT 11, field `f`). */
function readFallback(words: readonly number[], network: Network): string | null {
  const [version, ...rest] = words;
  if (version === undefined) return null;
  const program = bech32.fromWordsUnsafe(rest);
  if (!program) return null;
  if (version === 17) return encodeHashAddress('p2pkh', program, network);
  if (version === 18) return encodeHashAddress('p2sh', program, network);
  return version <= 16 ? encodeWitnessAddress(version, program, network) : null;
}
