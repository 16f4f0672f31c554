import { bech32, hex } from '@scure/base';
import { decode as decodeSections } from 'light-bolt11-decoder';
import { encodeHashAddress, encodeWitnessAddress } from '../address.ts';
import { NETWORKS, type Network } from '../network.ts';
import { readFeatures } from './features.ts';
import { readInteger, splitFields } from './fields.ts';
import {
  type Bolt11Invoice,
  DEFAULT_EXPIRY_SECS,
  DEFAULT_MIN_FINAL_CLTV,
  FIELD,
  invalid,
  type RouteHint,
  SIGNATURE_WORDS,
  TIMESTAMP_WORDS,
} from './invoice.ts';
import { checkPayee } from './payee.ts';

/** Longer strings are invalid before any other check. The longest useful invoices have some 2,000 characters. */
const MAX_LENGTH = 8_000;

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
}

/**
 * Reads a BOLT 11 invoice. light-bolt11-decoder splits it into its fields; the rules that it leaves out are checked
 * here: signature and payee, feature bits, field lengths, required fields, one payment hash. If another field occurs
 * several times, the first one counts. Throws CodecError('bolt11').
 */
export function decodeBolt11(text: string, options: DecodeOptions = {}): Bolt11Invoice {
  if (text.length > MAX_LENGTH) invalid('it is too long');
  const { network, amountMsat, timestampSecs } = readHead(text);
  const decoded = bech32.decodeUnsafe(text, false);
  if (!decoded) invalid('its checksum is wrong');
  const { prefix, words } = decoded;
  const data = words.slice(0, -SIGNATURE_WORDS);
  const fields = readFields(data.slice(TIMESTAMP_WORDS));
  const paymentHash = only(fields, FIELD.paymentHash, 'payment hash');
  const paymentSecret = only(fields, FIELD.paymentSecret, 'payment secret');
  const { description, descriptionHash } = readDescription(fields);
  const features = readFeatures(fields.get(FIELD.features)?.[0] ?? []);
  const expirySecs = integerOf(fields, FIELD.expiry) ?? DEFAULT_EXPIRY_SECS;
  const metadata = fields.get(FIELD.metadata)?.[0];
  const payee = fields.get(FIELD.payee)?.[0];
  const named = payee && hex.encode(toBytes(payee, 'payee'));
  return {
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
    payeePubkey:
      options.verifySignature === false
        ? (named ?? '')
        : checkPayee({ prefix, data, signature: words.slice(-SIGNATURE_WORDS), named }),
    minFinalCltvExpiryDelta: integerOf(fields, FIELD.minFinalCltv) ?? DEFAULT_MIN_FINAL_CLTV,
    features,
    routeHints: (fields.get(FIELD.routeHint) ?? []).map(readRouteHint),
    fallbackAddresses: (fields.get(FIELD.fallback) ?? []).flatMap((field) => {
      const address = readFallback(field, network);
      return address === null ? [] : [address];
    }),
    metadata: metadata === undefined ? null : hex.encode(toBytes(metadata, 'metadata')),
  };
}

type Fields = ReadonlyMap<number, readonly (readonly number[])[]>;

/** Reads prefix, amount and timestamp with the library. Its messages name its internals, so they are not shown. */
function readHead(text: string): {
  network: Network;
  amountMsat: bigint | null;
  timestampSecs: number;
} {
  let sections: ReturnType<typeof decodeSections>['sections'];
  try {
    sections = decodeSections(text).sections;
  } catch {
    invalid('it is not a BOLT 11 string, or part of it was lost in copying');
  }
  let network: Network | undefined;
  let amountMsat: bigint | null = null;
  let timestampSecs = 0;
  let signature = '';
  for (const section of sections) {
    if (section.name === 'coin_network') network = networkOf(section.letters);
    else if (section.name === 'amount') amountMsat = BigInt(section.value);
    else if (section.name === 'timestamp') timestampSecs = section.value;
    else if (section.name === 'signature') signature = section.value;
  }
  if (network === undefined) invalid('its network is not supported');
  if (signature.length !== 130) invalid('it is too short');
  if (amountMsat === 0n) invalid('its amount is zero');
  return { network, amountMsat, timestampSecs };
}

function networkOf(prefix: string): Network | undefined {
  return (Object.keys(NETWORKS) as Network[]).find(
    (network) => NETWORKS[network].bolt11Prefix === prefix,
  );
}

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
