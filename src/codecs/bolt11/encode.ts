import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, hex } from '@scure/base';
import { decodeAddress } from '../address.ts';
import { CodecError } from '../codec-error.ts';
import { MAX_AMOUNT_MSAT, NETWORKS, type Network } from '../network.ts';
import { AMOUNT_UNITS, PICO_PER_MSAT } from './amount-units.ts';
import { featureWords } from './features.ts';
import { FIELD, type RouteHint, signedBytes, TIMESTAMP_WORDS } from './invoice.ts';

/** The values that an invoice is written from; hashes and keys are hex. */
export interface Bolt11Fields {
  readonly network: Network;
  /** Null when the payer chooses. */
  readonly amountMsat: bigint | null;
  readonly timestampSecs: number;
  readonly paymentSecret: string;
  readonly paymentHash: string;
  /** Exactly one of description and description hash must be given. */
  readonly description?: string;
  readonly descriptionHash?: string;
  readonly metadata?: string;
  /** The public key of the secret key that signs. If it is left out, readers recover it from the signature. */
  readonly payeePubkey?: string;
  readonly expirySecs?: number;
  readonly minFinalCltvExpiryDelta?: number;
  /** Addresses of the invoice's network, the most preferred first. */
  readonly fallbackAddresses?: readonly string[];
  readonly routeHints?: readonly (readonly RouteHint[])[];
  readonly features?: readonly number[];
}

/** The most words of a field, since its length is written in two words. */
const MAX_FIELD_WORDS = 1023;
const MAX_TIMESTAMP_SECS = 2 ** 35 - 1;
const MAX_U32 = 2 ** 32 - 1;

/**
 * Writes an invoice and signs it with the payee's key. Equal inputs give equal invoices (RFC 6979). The order of the
 * fields is m, s, p, d or h, n, x, c, f, r, 9. Throws CodecError('bolt11') for values that the format cannot hold.
 */
export function encodeBolt11(fields: Bolt11Fields, secretKey: Uint8Array): string {
  const prefix = `ln${NETWORKS[fields.network].bolt11Prefix}${encodeAmount(fields.amountMsat)}`;
  uint('timestamp', fields.timestampSecs, MAX_TIMESTAMP_SECS);
  const data = [...integerWords(fields.timestampSecs, TIMESTAMP_WORDS), ...taggedFields(fields)];
  const digest = sha256(signedBytes(prefix, data));
  const recovered = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  // noble writes the recovery id first, BOLT 11 writes it last.
  const signature = new Uint8Array([...recovered.subarray(1), ...recovered.subarray(0, 1)]);
  return bech32.encode(prefix, [...data, ...bech32.toWords(signature)], false);
}

function invalid(name: string, rule: string): never {
  throw new CodecError('bolt11', `The ${name} of an invoice must be ${rule}: give another one.`);
}

/** Writes the amount in the largest unit that needs no decimals (BOLT 11, Human-Readable Part). */
function encodeAmount(amountMsat: bigint | null): string {
  if (amountMsat === null) return '';
  if (amountMsat <= 0n || amountMsat > MAX_AMOUNT_MSAT) {
    invalid('amount', 'above zero and at most 21 million bitcoins');
  }
  const pico = amountMsat * PICO_PER_MSAT;
  const unit = AMOUNT_UNITS.find(([size]) => pico % size === 0n);
  return unit ? `${pico / unit[0]}${unit[1]}` : '';
}

function taggedFields(fields: Bolt11Fields): number[] {
  const { description, descriptionHash } = fields;
  if ((description === undefined) === (descriptionHash === undefined)) {
    throw new CodecError(
      'bolt11',
      'An invoice needs either a description or a description hash: give one of the two.',
    );
  }
  const words: number[] = [];
  const put = (type: number, name: string, field: readonly number[] | undefined) => {
    if (field === undefined) return;
    if (field.length > MAX_FIELD_WORDS) invalid(name, 'at most 639 bytes long');
    words.push(type, field.length >> 5, field.length & 31, ...field);
  };
  put(FIELD.metadata, 'metadata', hexWords('metadata', fields.metadata));
  put(FIELD.paymentSecret, 'payment secret', hexWords('payment secret', fields.paymentSecret, 32));
  put(FIELD.paymentHash, 'payment hash', hexWords('payment hash', fields.paymentHash, 32));
  put(FIELD.description, 'description', textWords(description));
  put(FIELD.descriptionHash, 'description hash', hexWords('description hash', descriptionHash, 32));
  put(FIELD.payee, 'payee key', hexWords('payee key', fields.payeePubkey, 33));
  put(FIELD.expiry, 'expiry', numberWords('expiry', fields.expirySecs));
  put(
    FIELD.minFinalCltv,
    'final expiry delta',
    numberWords('final expiry delta', fields.minFinalCltvExpiryDelta),
  );
  for (const address of fields.fallbackAddresses ?? []) {
    put(FIELD.fallback, 'fallback address', fallbackWords(address, fields.network));
  }
  for (const hops of fields.routeHints ?? []) {
    put(FIELD.routeHint, 'route hint', routeHintWords(hops));
  }
  const features = fields.features ?? [];
  for (const bit of features) uint('feature bit', bit, MAX_FIELD_WORDS * 5 - 1);
  // Without bits the field is left out (BOLT 11).
  if (features.length > 0) put(FIELD.features, 'features', featureWords(features));
  return words;
}

function uint(name: string, value: number, most: number): number {
  if (!Number.isInteger(value) || value < 0 || value > most) {
    invalid(name, `a whole number from 0 to ${most}`);
  }
  return value;
}

/** Returns a number as big-endian words: as few as it needs, but at least `width`. */
function integerWords(value: number, width = 0): number[] {
  const words: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 32)) words.unshift(rest % 32);
  while (words.length < width) words.unshift(0);
  return words;
}

function numberWords(name: string, value: number | undefined): number[] | undefined {
  return value === undefined ? undefined : integerWords(uint(name, value, MAX_U32));
}

function hexBytes(name: string, text: string, length?: number): Uint8Array {
  if (!/^([0-9a-f]{2})*$/i.test(text) || (length !== undefined && text.length !== length * 2)) {
    invalid(name, length === undefined ? 'hex' : `${length} bytes in hex`);
  }
  return hex.decode(text);
}

function hexWords(name: string, text: string | undefined, length?: number): number[] | undefined {
  return text === undefined ? undefined : bech32.toWords(hexBytes(name, text, length));
}

function textWords(text: string | undefined): number[] | undefined {
  if (text === undefined) return undefined;
  if (!text.isWellFormed()) invalid('description', 'well-formed Unicode text');
  return bech32.toWords(new TextEncoder().encode(text));
}

function routeHintWords(hops: readonly RouteHint[]): number[] {
  if (hops.length === 0) invalid('route hint', 'one hop or more');
  const bytes = hops.flatMap((hop) => {
    const numbers = new DataView(new ArrayBuffer(10));
    numbers.setUint32(0, uint('base fee', hop.feeBaseMsat, MAX_U32));
    numbers.setUint32(4, uint('proportional fee', hop.feeProportionalMillionths, MAX_U32));
    numbers.setUint16(8, uint('expiry delta', hop.cltvExpiryDelta, 0xffff));
    return [
      ...hexBytes('hop key', hop.pubkey, 33),
      ...hexBytes('short channel id', hop.shortChannelId, 8),
      ...new Uint8Array(numbers.buffer),
    ];
  });
  return bech32.toWords(new Uint8Array(bytes));
}

function fallbackWords(address: string, network: Network): number[] {
  const { networks, kind, program, witnessVersion } = decodeAddress(address);
  if (!networks.includes(network)) invalid('fallback address', `for ${network}`);
  const version = witnessVersion ?? (kind === 'p2pkh' ? 17 : 18);
  return [version, ...bech32.toWords(program)];
}
