import { backoffDelayMs } from '../lib/backoff.ts';
import { sleep } from '../lib/sleep.ts';
import type { PaymentJson } from '../model/payment.ts';
import { type Caller, Refusal } from '../phoenixd/caller.ts';
import { msatOf, type Params, Problem } from './params.ts';

/** One request of an application. */
export interface Call {
  readonly caller: Caller;
  readonly params: Params;
  /** The id of its event, which is its Idempotency-Key (docs/decisions.md 200). */
  readonly id: string;
  /** Whether the client had ended before any process could begin this call. */
  readonly hasEnded: boolean;
  /**
   * Must be called before an error is answered to a request to pay with that key: it is not paid any more. Throws where
   * a payment was begun with it, or may have been.
   */
  readonly refuse: (key: string) => Promise<void>;
  readonly ended: AbortSignal;
}

/** What became of a payment is not known and cannot be asked: nothing is answered, since no error would be true. */
class StillUnknown extends Error {}

const AGAIN = { firstMs: 500, mostMs: 60_000, jitter: 0.4, random: Math.random };
/** Error 104: the client has ended. */
const ENDED = 104;
/** Rejected, or not allowed: a repeat would be answered so too. */
const FOR_EVER: ReadonlySet<number | null> = new Set([7, 107, 108, 110]);
/** Error 111: the key was used up by {@link Call.refuse}, since an event's id stands for one request alone. */
const USED_UP = 111;

/** Pays once for a key, and returns what came of it when that is known. */
export async function paid(call: Call, path: string, body: object, key = call.id): Promise<object> {
  if (call.hasEnded) throw new Problem('UNAUTHORIZED', 'The client of this pairing has ended.');
  const options = { body, headers: { 'idempotency-key': key } };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const payment = await call.caller.read<PaymentJson>('POST', path, options);
      const { status, status_msg, preimage, fees } = payment;
      if (status === 'completed') return { preimage, fees_paid: msatOf(fees) };
      if (status === 'failed') throw new Problem('PAYMENT_FAILED', status_msg);
    } catch (error) {
      if (error instanceof Problem) throw error;
      const { data = {}, code = null } = error instanceof Refusal ? error : {};
      // What another client pays has its status, and this request has sent nothing (docs/decisions.md 46).
      // A client that ends is told so in the middle of a payment, too, and its keys are forgotten.
      if (code === ENDED) throw new StillUnknown();
      if (data.sent === 'no' || data.status !== undefined) {
        // Where that cannot be stored, a copy might still be paid.
        throw await call.refuse(key).then(
          () => error,
          () => new StillUnknown(),
        );
      }
      if (code === USED_UP) throw new Problem('OTHER', 'It was refused before: ask anew.');
      if (FOR_EVER.has(code)) throw new StillUnknown();
    }
    await sleep(backoffDelayMs(attempt, AGAIN), call.ended);
    if (call.ended.aborted) throw new StillUnknown();
  }
}

/** The codes of NIP-47 for errors of the API. */
const CODES: Readonly<Record<number, string>> = {
  6: 'INTERNAL',
  8: 'RATE_LIMITED',
  104: 'UNAUTHORIZED',
  107: 'NOT_FOUND',
  108: 'RESTRICTED',
  109: 'QUOTA_EXCEEDED',
  110: 'NOT_IMPLEMENTED',
};
/** What nodes say of an amount that their channels cannot send. */
const TOO_LITTLE = /^The wallet can send \S+ sats over Lightning|^not enough sendable balance/;

/** The error of NIP-47 for why a call was not done; null where nothing may be answered. */
export function errorOf(error: unknown): { code: string; message: string } | null {
  if (error instanceof StillUnknown) return null;
  const isKnown = error instanceof Problem || error instanceof Refusal;
  if (!isKnown) return { code: 'INTERNAL', message: 'The log of the sidecar says more.' };
  const { message, code } = error;
  if (TOO_LITTLE.test(message)) return { code: 'INSUFFICIENT_BALANCE', message };
  return { code: typeof code === 'string' ? code : (CODES[code ?? 0] ?? 'OTHER'), message };
}
