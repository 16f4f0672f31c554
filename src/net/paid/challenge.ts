import { type Bolt11Invoice, decodeBolt11 } from '../../codecs/bolt11/index.ts';
import type { Network } from '../../codecs/network.ts';
import { serviceFailed } from '../service-error.ts';

/** A JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** The request for a resource, as it leaves. */
export interface ResourceRequest {
  readonly method: string;
  /** Absolute, without a fragment. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What a resource asks to be paid, in one of the ways of HTTP 402. */
export interface Challenge {
  readonly dialect: 'l402' | 'payment' | 'x402';
  readonly invoice: Bolt11Invoice;
  /** What the proof is made of besides the preimage, as text. */
  readonly token: string;
}

/** When and for which network a challenge is read. */
export interface Reading {
  readonly request: ResourceRequest;
  readonly network: Network;
  readonly nowMs: number;
}

/** Returns the hex HMAC of texts by which a seller knows again what it wrote. Only the seller has its key. */
export type Mac = (...texts: readonly string[]) => string;

/** What is asked for payment. */
export interface Sale {
  /** It names its amount. */
  readonly invoice: Bolt11Invoice;
  readonly description: string;
  /** The request whose hash is the invoice's description hash has this URL; null where that is not known. */
  readonly url: string | null;
  readonly mac: Mac;
}

/** A proof of payment for a challenge of the seller. Whether its invoice was paid is not known by that. */
export interface Claim {
  /** Hex. */
  readonly paymentHash: string;
  /** Hex. */
  readonly preimage: string;
  /** Whether it counts only for the request that the invoice is for. */
  readonly needsRequest: boolean;
  /** Returns the header lines that tell the buyer that the proof was taken. */
  receipt(settledAtMs: number): readonly string[];
}

/** One way of asking for payment, and of proving it: `read` and `proof` are the buyer's, the others the seller's. */
export interface Dialect {
  /** The header of a proof, in lower case. */
  readonly proofHeader: 'authorization' | 'payment-signature';
  /**
   * Returns the challenges in the head of an answer 402. Throws error 113 for one of this way that contradicts itself:
   * every field is compared with the invoice before anything is paid.
   */
  read(headers: Headers, reading: Reading): readonly Challenge[];
  /** Returns the header that proves the payment of a challenge with that token. */
  proof(token: string, preimage: string): readonly [name: string, value: string];
  /** Returns the header lines that ask for payment; null for what cannot be asked in this way. */
  ask(sale: Sale): readonly string[] | null;
  /** Reads a header that proves the payment of what {@link ask} wrote with the same `mac`; null for any other. */
  claim(
    header: string,
    mac: Mac,
  ): (Omit<Claim, 'preimage'> & { readonly preimage: unknown }) | null;
}

/** Decodes the invoice of a challenge, which must name its amount. Throws error 113. */
export function challengeInvoice(text: unknown): Bolt11Invoice {
  const invoice = typeof text === 'string' ? decoded(text) : null;
  if (invoice === null) throw wrongChallenge('its invoice cannot be read');
  if (invoice.amountMsat === null) throw wrongChallenge('its invoice names no amount');
  return invoice;
}

/** Makes error 113 for a challenge that cannot be paid. */
export function wrongChallenge(problem: string) {
  return serviceFailed(
    'unusable_answer',
    `Nothing was paid, since the challenge is wrong: ${problem}.`,
  );
}

/** Reads base64 or base64url, with or without padding. Throws error 113 for anything else. */
export function base64Bytes(text: string, what: string): Buffer {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw wrongChallenge(`${what} is not base64`);
  return Buffer.from(text, 'base64');
}

/** Reads base64 of a JSON object. Throws error 113 for anything else. */
export function base64Object(text: string, what: string): Json {
  const value = readObject(base64Bytes(text, what));
  if (value === null) throw wrongChallenge(`${what} is no JSON object`);
  return value;
}

/** Reads a JSON object; null for anything else. */
export function readObject(bytes: Uint8Array): Json | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Returns a member of JSON that is a text; the empty text for any other, of which some cannot become one. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function decoded(text: string): Bolt11Invoice | null {
  try {
    return decodeBolt11(text);
  } catch {
    return null;
  }
}
