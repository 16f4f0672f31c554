import { CodecError } from '../codec-error.ts';
import type { Network } from '../network.ts';

/** One hop of a private route to the payee (BOLT 11, field `r`). */
export interface RouteHint {
  readonly pubkey: string;
  /** Hex of the 8-byte short channel id. */
  readonly shortChannelId: string;
  readonly feeBaseMsat: number;
  readonly feeProportionalMillionths: number;
  readonly cltvExpiryDelta: number;
}

/** A BOLT 11 invoice that was read and checked. Hashes and keys are hex. */
export interface Bolt11Invoice {
  /** Canonical string: lower case. */
  readonly text: string;
  readonly network: Network;
  /** Null when the payer chooses. */
  readonly amountMsat: bigint | null;
  readonly timestampSecs: number;
  readonly expirySecs: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly paymentHash: string;
  readonly paymentSecret: string;
  /** Exactly one of description and descriptionHash is there. */
  readonly description: string | null;
  readonly descriptionHash: string | null;
  /** The key that signed: the payee's node id. */
  readonly payeePubkey: string;
  readonly minFinalCltvExpiryDelta: number;
  /** Bits that are set. */
  readonly features: ReadonlySet<number>;
  readonly routeHints: readonly (readonly RouteHint[])[];
  readonly fallbackAddresses: readonly string[];
  /** Hex; null when there is none. */
  readonly metadata: string | null;
}

/** Expiry of an invoice without the field, seconds (BOLT 11, field `x`). */
export const DEFAULT_EXPIRY_SECS = 3600;
/** min_final_cltv_expiry_delta of an invoice without the field (BOLT 11, field `c`). */
export const DEFAULT_MIN_FINAL_CLTV = 18;

/** Field types, as 5-bit words (BOLT 11, Tagged Fields). */
export const FIELD = {
  paymentHash: 1,
  routeHint: 3,
  features: 5,
  expiry: 6,
  fallback: 9,
  description: 13,
  paymentSecret: 16,
  payee: 19,
  descriptionHash: 23,
  minFinalCltv: 24,
  metadata: 27,
} as const;

/** Words (5 bits each) of the timestamp. */
export const TIMESTAMP_WORDS = 7;
/** Words of the signature with its recovery id. */
export const SIGNATURE_WORDS = 104;
/** Words of the bech32 checksum. */
const CHECKSUM_WORDS = 6;
/** An expiry or delta beyond what a number holds is read as this: for ever, for every purpose here. */
export const LARGEST_INTEGER = 1e12;

/** Most an invoice may ask for: all the bitcoins there can be, millisatoshis. */
export const MAX_AMOUNT_MSAT = 2_100_000_000_000_000_000n;

/** Throws CodecError('bolt11') for an invoice that breaks a rule. */
export function refuse(rule: string): never {
  throw new CodecError(
    'bolt11',
    `The invoice cannot be read: ${rule}; ask the receiver for a new one.`,
  );
}

/** What a signature signs: the human-readable part and the data, padded with zero bits to bytes (BOLT 11). */
export function signedBytes(prefix: string, words: readonly number[]): Uint8Array {
  const head = new TextEncoder().encode(prefix);
  const bytes = new Uint8Array(head.length + Math.ceil((words.length * 5) / 8));
  bytes.set(head);
  let [buffer, bits, at] = [0, 0, head.length];
  for (const word of words) {
    buffer = (buffer << 5) | word;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (buffer >> bits) & 0xff;
      buffer &= (1 << bits) - 1;
    }
  }
  if (bits > 0) bytes[at] = (buffer << (8 - bits)) & 0xff;
  return bytes;
}

/**
 * When an invoice was made, seconds, read without reading the rest of it: for invoices that are known to be good.
 * Throws CodecError('bolt11') where no timestamp stands.
 */
export function timestampOf(invoice: string): number {
  const at = invoice.lastIndexOf('1') + 1;
  const letters = [...invoice.slice(at, at + TIMESTAMP_WORDS)];
  if (at === 0 || letters.length < TIMESTAMP_WORDS) refuse('it has no timestamp');
  return letters.reduce((secs, letter) => secs * 32 + wordOf(letter, 'timestamp'), 0);
}

/**
 * When an invoice can no longer be paid, milliseconds, read as {@link timestampOf} reads: of fields that stand there
 * several times the first counts. Throws CodecError('bolt11') where the fields cannot be followed.
 */
export function expiresAtMsOf(invoice: string): number {
  const timestampSecs = timestampOf(invoice);
  const start = invoice.lastIndexOf('1') + 1;
  const end = invoice.length - CHECKSUM_WORDS - SIGNATURE_WORDS;
  const word = (at: number) =>
    at < end ? wordOf(invoice.charAt(at), 'expiry') : refuse('a field is cut off');
  for (let at = start + TIMESTAMP_WORDS; at < end; ) {
    const field = at + 3;
    const next = field + word(at + 1) * 32 + word(at + 2);
    if (word(at) === FIELD.expiry) {
      let expirySecs = 0;
      for (let i = field; i < next; i++) expirySecs = expirySecs * 32 + word(i);
      return (timestampSecs + Math.min(expirySecs, LARGEST_INTEGER)) * 1000;
    }
    at = next;
  }
  return (timestampSecs + DEFAULT_EXPIRY_SECS) * 1000;
}

/** BIP 173: the value of a letter. */
function wordOf(letter: string, part: string): number {
  const word = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'.indexOf(letter.toLowerCase());
  return word >= 0 ? word : refuse(`its ${part} is no bech32`);
}
