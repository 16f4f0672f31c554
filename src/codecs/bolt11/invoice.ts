import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';
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

/** A valid BOLT 11 invoice. Hashes and keys are hex. */
export interface Bolt11Invoice {
  /** The canonical string, in lower case. */
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
  /** Exactly one of description and descriptionHash is not null. */
  readonly description: string | null;
  readonly descriptionHash: string | null;
  /** The payee's node id, which is the key that signed. */
  readonly payeePubkey: string;
  readonly minFinalCltvExpiryDelta: number;
  readonly features: ReadonlySet<number>;
  readonly routeHints: readonly (readonly RouteHint[])[];
  readonly fallbackAddresses: readonly string[];
  /** Hex; null when there is none. */
  readonly metadata: string | null;
}

/** The expiry in seconds of an invoice without the field (BOLT 11, field `x`). */
export const DEFAULT_EXPIRY_SECS = 3600;
/** The min_final_cltv_expiry_delta of an invoice without the field (BOLT 11, field `c`). */
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

/** Throws CodecError('bolt11') that names the broken rule. */
export function invalid(rule: string): never {
  throw new CodecError(
    'bolt11',
    `The invoice cannot be read: ${rule}; ask the receiver for a new one.`,
  );
}

/** Longer strings are invalid before any other check. The longest useful invoices have some 2,000 characters. */
const MAX_LENGTH = 8_000;

/** Throws CodecError('bolt11') for a text that is longer than any invoice: reading its digits could take seconds. */
export function requireLength(text: string): void {
  if (text.length > MAX_LENGTH) invalid('it is too long');
}

/** Returns the signed bytes: the human-readable part and the data, padded with zero bits to whole bytes (BOLT 11). */
export function signedBytes(prefix: string, words: readonly number[]): Uint8Array {
  const bits = Math.ceil((words.length * 5) / 8) * 8;
  const padding = new Array<number>(Math.ceil(bits / 5) - words.length).fill(0);
  return concatBytes(utf8ToBytes(prefix), bech32.fromWords([...words, ...padding]));
}
