import { type Bolt11Invoice, decodeBolt11 } from '../../codecs/bolt11/index.ts';
import type { Network } from '../../codecs/network.ts';
import { serviceFailed } from '../service-error.ts';

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

/** One way of asking for payment, and of proving it. */
export interface Dialect {
  /**
   * Returns the challenges in the head of an answer 402. Throws error 113 for one of this way that contradicts itself:
   * every field is compared with the invoice before anything is paid.
   */
  read(headers: Headers, reading: Reading): readonly Challenge[];
  /** Returns the header that proves the payment of a challenge with that token. */
  proof(token: string, preimage: string): readonly [name: string, value: string];
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
export function base64Object(text: string, what: string): Readonly<Record<string, unknown>> {
  const bytes = base64Bytes(text, what);
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Below is the error for it.
  }
  throw wrongChallenge(`${what} is no JSON object`);
}

function decoded(text: string): Bolt11Invoice | null {
  try {
    return decodeBolt11(text);
  } catch {
    return null;
  }
}
