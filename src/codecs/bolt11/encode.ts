import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, hex } from '@scure/base';
import { decodeAddress } from '../address.ts';
import { CodecError } from '../codec-error.ts';
import { NETWORKS, type Network } from '../network.ts';
import { FIELD, type RouteHint, signedBytes, TIMESTAMP_WORDS } from './invoice.ts';

/** What an invoice is written from. Fields are written in the order of this list; hashes and keys are hex. */
export interface Bolt11Fields {
  readonly network: Network;
  readonly amountMsat: bigint | null;
  readonly timestampSecs: number;
  readonly paymentSecret: string;
  readonly paymentHash: string;
  /** Exactly one of the two. */
  readonly description?: string;
  readonly descriptionHash?: string;
  readonly metadata?: string;
  readonly payeePubkey?: string;
  readonly expirySecs?: number;
  readonly minFinalCltvExpiryDelta?: number;
  readonly fallbackAddresses?: readonly string[];
  readonly routeHints?: readonly (readonly RouteHint[])[];
  /** Bits to set. */
  readonly features?: readonly number[];
}

/** Most words of a field: its length is two words. */
const MAX_FIELD_WORDS = 1023;
const PICO_PER_MSAT = 10n;

/**
 * Writes and signs an invoice with the payee's key; deterministic (RFC 6979). Throws CodecError('bolt11') for
 * values the format cannot hold.
 */
export function encodeBolt11(fields: Bolt11Fields, secretKey: Uint8Array): string {
  const prefix = `ln${NETWORKS[fields.network].bolt11Prefix}${encodeAmount(fields.amountMsat)}`;
  const data = [...integerWords(fields.timestampSecs, TIMESTAMP_WORDS), ...taggedFields(fields)];
  const digest = sha256(signedBytes(prefix, data));
  const recovered = secp256k1.sign(digest, secretKey, { prehash: false, format: 'recovered' });
  // noble puts the recovery id first, BOLT 11 puts it last.
  const signature = new Uint8Array([...recovered.subarray(1), recovered[0] ?? 0]);
  return bech32.encode(prefix, [...data, ...bech32.toWords(signature)], false);
}

/** The amount in the largest unit that needs no decimals (BOLT 11, Human-Readable Part). */
function encodeAmount(amountMsat: bigint | null): string {
  if (amountMsat === null) return '';
  if (amountMsat <= 0n) throw new CodecError('bolt11', 'An invoice amount must be above zero.');
  const pico = amountMsat * PICO_PER_MSAT;
  const units: readonly (readonly [bigint, string])[] = [
    [1_000_000_000_000n, ''],
    [1_000_000_000n, 'm'],
    [1_000_000n, 'u'],
    [1_000n, 'n'],
  ];
  for (const [size, letter] of units) if (pico % size === 0n) return `${pico / size}${letter}`;
  return `${pico}p`;
}

function taggedFields(fields: Bolt11Fields): number[] {
  if ((fields.description === undefined) === (fields.descriptionHash === undefined)) {
    throw new CodecError('bolt11', 'An invoice needs either a description or a description hash.');
  }
  const words: number[] = [];
  const put = (type: number, field: readonly number[]) => {
    if (field.length > MAX_FIELD_WORDS) {
      throw new CodecError(
        'bolt11',
        'A field of the invoice is too long: descriptions hold 639 bytes.',
      );
    }
    words.push(type, field.length >> 5, field.length & 31, ...field);
  };
  const bytes = (text: string) => bech32.toWords(hex.decode(text));
  if (fields.metadata !== undefined) put(FIELD.metadata, bytes(fields.metadata));
  put(FIELD.paymentSecret, bytes(fields.paymentSecret));
  put(FIELD.paymentHash, bytes(fields.paymentHash));
  if (fields.description !== undefined) {
    put(FIELD.description, bech32.toWords(new TextEncoder().encode(fields.description)));
  }
  if (fields.descriptionHash !== undefined)
    put(FIELD.descriptionHash, bytes(fields.descriptionHash));
  if (fields.payeePubkey !== undefined) put(FIELD.payee, bytes(fields.payeePubkey));
  if (fields.expirySecs !== undefined) put(FIELD.expiry, integerWords(fields.expirySecs));
  if (fields.minFinalCltvExpiryDelta !== undefined) {
    put(FIELD.minFinalCltv, integerWords(fields.minFinalCltvExpiryDelta));
  }
  for (const address of fields.fallbackAddresses ?? []) put(FIELD.fallback, fallbackWords(address));
  for (const hops of fields.routeHints ?? []) put(FIELD.routeHint, routeHintWords(hops));
  if (fields.features !== undefined) put(FIELD.features, featureWords(fields.features));
  return words;
}

/** Big-endian words; without a width as few as the value needs. */
function integerWords(value: number, width = 0): number[] {
  const words: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 32)) words.unshift(rest % 32);
  while (words.length < Math.max(width, 1)) words.unshift(0);
  return words;
}

function featureWords(bits: readonly number[]): number[] {
  const words: number[] = new Array(Math.ceil((Math.max(...bits) + 1) / 5)).fill(0);
  for (const bit of bits) {
    const at = words.length - 1 - Math.floor(bit / 5);
    words[at] = (words[at] ?? 0) | (1 << (bit % 5));
  }
  return words;
}

function routeHintWords(hops: readonly RouteHint[]): number[] {
  const parts = hops.map((hop) => {
    const numbers = new DataView(new ArrayBuffer(10));
    numbers.setUint32(0, hop.feeBaseMsat);
    numbers.setUint32(4, hop.feeProportionalMillionths);
    numbers.setUint16(8, hop.cltvExpiryDelta);
    return `${hop.pubkey}${hop.shortChannelId}${hex.encode(new Uint8Array(numbers.buffer))}`;
  });
  return bech32.toWords(hex.decode(parts.join('')));
}

function fallbackWords(address: string): number[] {
  const { kind, program, witnessVersion } = decodeAddress(address);
  const version = kind === 'p2pkh' ? 17 : kind === 'p2sh' ? 18 : witnessVersion;
  if (version === null) throw new CodecError('bolt11', 'This fallback address cannot be written.');
  return [version, ...bech32.toWords(program)];
}
