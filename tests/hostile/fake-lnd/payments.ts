import { randomBytes } from 'node:crypto';
import { decodeBolt11, encodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { Feed } from './feed.ts';
import { type Identity, newIdentity } from './identity.ts';
import { hashOf } from './invoices.ts';
import { type JsonObject, LndError } from './rpc.ts';

/** The outcome of an attempt to pay; `hold` leaves it in flight. */
export type Outcome =
  | {
      readonly end: 'succeed';
      readonly preimage?: string;
      readonly feeMsat?: bigint;
      readonly delayMs?: number;
    }
  | { readonly end: 'fail'; readonly reason?: string; readonly delayMs?: number }
  | { readonly end: 'hold' };

/** An outgoing payment: the newest attempt for its hash. */
export interface Payment {
  readonly hash: string;
  readonly valueMsat: bigint;
  readonly paymentRequest: string;
  readonly createdNs: bigint;
  readonly index: number;
  readonly feeLimitMsat: bigint;
  status: 'IN_FLIGHT' | 'SUCCEEDED' | 'FAILED';
  preimage: string;
  feeMsat: bigint;
  failureReason: string;
  resolvedNs: bigint;
}

/** The request of SendPaymentV2. */
export interface Send {
  readonly paymentRequest: string;
  /** The payment hash of a keysend. */
  readonly hash?: string;
  readonly preimage?: string;
  readonly amountMsat: bigint;
  readonly feeLimitMsat: bigint;
}

interface Surroundings {
  readonly identity: Identity;
  readonly nowMs: () => number;
  /** What the channels can send now. */
  readonly sendableMsat: () => bigint;
  /** Takes the cost of a payment from the channels. */
  readonly spend: (amountMsat: bigint) => void;
}

/** The node's outgoing payments, and the nodes outside that it pays. */
export class Payments {
  readonly changes = new Feed<Payment>();
  /** The number of attempts that SendPaymentV2 began, by hash. */
  readonly attempts = new Map<string, number>();
  /** What the stream of all payments waits for before each item; on a real LND it is some milliseconds late. */
  streamed: Promise<void> = Promise.resolve();
  readonly #byHash = new Map<string, Payment>();
  readonly #outcomes = new Map<string, Outcome>();
  readonly #preimages = new Map<string, string>();
  readonly #around: Surroundings;
  #nextIndex = 1;
  #lastCreatedNs = 0n;
  #isNativeSql = false;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** All payments by payment index. Of each hash only the newest attempt is kept, as LND does. */
  list(): readonly Payment[] {
    return [...this.#byHash.values()].toSorted((a, b) => a.index - b.index);
  }

  get(hash: string): Payment {
    const payment = this.#byHash.get(hash);
    if (!payment) throw new LndError("payment isn't initiated", 5);
    return payment;
  }

  /** Makes an invoice of a node outside. Paying it succeeds unless {@link decide} says otherwise. */
  foreignInvoice(
    options: {
      amountMsat?: bigint;
      description?: string;
      expirySecs?: number;
      preimage?: string;
    } = {},
  ): { invoice: string; hash: string; preimage: string } {
    const preimage = options.preimage ?? randomBytes(32).toString('hex');
    const hash = hashOf(preimage);
    this.#preimages.set(hash, preimage);
    const invoice = encodeBolt11(
      {
        network: 'regtest',
        amountMsat: options.amountMsat ?? null,
        timestampSecs: Math.floor(this.#around.nowMs() / 1000),
        paymentSecret: randomBytes(32).toString('hex'),
        paymentHash: hash,
        description: options.description ?? 'outside',
        expirySecs: options.expirySecs ?? 3600,
        features: [8, 14, 17],
      },
      newIdentity().secretKey,
    );
    return { invoice, hash, preimage };
  }

  /**
   * Moves the payments to native SQL (LND 0.21 with `--db.use-native-sql`): they are numbered anew from 1, and from now
   * on a new one gets the number after the greatest, so that a retry of the newest keeps its number.
   */
  moveToNativeSql(): void {
    this.#isNativeSql = true;
    for (const [at, payment] of this.list().entries()) {
      this.#byHash.set(payment.hash, { ...payment, index: at + 1 });
    }
  }

  /** Forgets a payment that is over, as `lncli deletepayments` does. */
  delete(hash: string): void {
    this.#byHash.delete(hash);
  }

  /** Whether its lists leave the fees out where they leave the hops out. */
  get isNativeSql(): boolean {
    return this.#isNativeSql;
  }

  /** Sets the outcome of the next attempts for a hash. */
  decide(hash: string, outcome: Outcome): void {
    this.#outcomes.set(hash, outcome);
  }

  /** Ends a payment that is in flight. */
  resolve(hash: string, outcome: Outcome): void {
    this.#end(this.get(hash), outcome);
  }

  /** Ends well what is held in flight, and what was to be held once it is sent. */
  endHeld(): void {
    for (const [hash, { end }] of this.#outcomes) {
      if (end !== 'hold') continue;
      this.decide(hash, { end: 'succeed' });
      const payment = this.#byHash.get(hash);
      if (payment) this.#end(payment, { end: 'succeed' });
    }
  }

  /** Begins an attempt and returns it. Throws LND's error when it does not begin. */
  send(request: Send): Payment {
    const { hash, amountMsat } = this.#intent(request);
    this.#refuseRepeat(hash);
    this.attempts.set(hash, (this.attempts.get(hash) ?? 0) + 1);
    const payment: Payment = {
      ...{ hash, valueMsat: amountMsat, paymentRequest: request.paymentRequest },
      ...{ createdNs: this.#createdNs(), index: this.#newIndex(hash) },
      feeLimitMsat: request.feeLimitMsat,
      ...{ status: 'IN_FLIGHT', preimage: '', feeMsat: 0n, resolvedNs: 0n },
      failureReason: 'FAILURE_REASON_NONE',
    };
    this.#byHash.set(hash, payment);
    if (request.preimage !== undefined) this.#preimages.set(hash, request.preimage);
    this.changes.publish({ ...payment });
    if (amountMsat > this.#around.sendableMsat()) {
      this.#end(payment, { end: 'fail', reason: 'FAILURE_REASON_INSUFFICIENT_BALANCE' });
      return payment;
    }
    const outcome = this.#outcomes.get(hash) ?? { end: 'succeed' };
    const delayMs = outcome.end === 'hold' ? 0 : (outcome.delayMs ?? 0);
    setTimeout(() => this.#end(payment, outcome), delayMs);
    return payment;
  }

  #intent({ paymentRequest, hash, amountMsat }: Send): { hash: string; amountMsat: bigint } {
    if (paymentRequest === '') {
      if (hash === undefined) throw new LndError('payment hash must be set');
      return { hash, amountMsat };
    }
    const invoice = decodeBolt11(paymentRequest);
    if (invoice.expiresAtMs < this.#around.nowMs()) {
      throw new LndError(`invoice expired. Valid until ${new Date(invoice.expiresAtMs)}`);
    }
    if (invoice.payeePubkey === this.#around.identity.pubkey) {
      throw new LndError('self-payments not allowed');
    }
    if (invoice.amountMsat !== null && amountMsat !== 0n) {
      throw new LndError('amount must not be specified when paying a non-zero amount invoice');
    }
    if (invoice.amountMsat === null && amountMsat === 0n) {
      throw new LndError('amount must be specified when paying a zero amount invoice');
    }
    return { hash: invoice.paymentHash, amountMsat: invoice.amountMsat ?? amountMsat };
  }

  /** LND's initializable(): only a failed payment may be tried again. */
  #refuseRepeat(hash: string): void {
    const status = this.#byHash.get(hash)?.status;
    if (status === 'SUCCEEDED') throw new LndError('invoice is already paid', 6);
    if (status === 'IN_FLIGHT') throw new LndError('payment is in transition', 6);
  }

  #end(payment: Payment, outcome: Outcome): void {
    if (outcome.end === 'hold' || payment.status !== 'IN_FLIGHT') return;
    payment.resolvedNs = this.#nowNs();
    const feeMsat = outcome.end === 'succeed' ? (outcome.feeMsat ?? 0n) : 0n;
    if (outcome.end === 'fail' || feeMsat > payment.feeLimitMsat) {
      const reason = outcome.end === 'fail' ? outcome.reason : undefined;
      payment.status = 'FAILED';
      payment.failureReason = reason ?? 'FAILURE_REASON_NO_ROUTE';
    } else {
      const preimage = outcome.preimage ?? this.#preimages.get(payment.hash);
      if (preimage === undefined) throw new Error(`no preimage is known for ${payment.hash}`);
      Object.assign(payment, { status: 'SUCCEEDED', preimage, feeMsat });
      this.#around.spend(payment.valueMsat + feeMsat);
    }
    this.changes.publish({ ...payment });
  }

  /** No two attempts have the same time, as on a real clock. */
  #createdNs(): bigint {
    const nowNs = this.#nowNs();
    const passedNs = this.#lastCreatedNs / 1_000_000n === nowNs / 1_000_000n ? 1_000n : 0n;
    this.#lastCreatedNs = passedNs === 0n ? nowNs : this.#lastCreatedNs + passedNs;
    return this.#lastCreatedNs;
  }

  /** An attempt takes the place of the one before. Native SQL numbers on from the greatest that is left. */
  #newIndex(hash: string): number {
    if (!this.#isNativeSql) return this.#nextIndex++;
    this.#byHash.delete(hash);
    return Math.max(0, ...this.list().map(({ index }) => index)) + 1;
  }

  #nowNs(): bigint {
    return BigInt(Math.round(this.#around.nowMs() * 1000)) * 1000n;
  }
}

/** lnrpc.Payment as an LND with native SQL lists it without hops */
export function paymentJsonWithoutHops(payment: Payment): JsonObject {
  return { ...paymentJson(payment), fee: '0', fee_sat: '0', fee_msat: '0' };
}

/** lnrpc.Payment */
export function paymentJson(payment: Payment): JsonObject {
  const { status, valueMsat, feeMsat, createdNs, preimage } = payment;
  const zeros = '0'.repeat(64);
  const htlc = {
    attempt_id: `${payment.index}`,
    status,
    route: { total_amt_msat: `${valueMsat + feeMsat}`, hops: [] },
    attempt_time_ns: `${createdNs}`,
    resolve_time_ns: `${payment.resolvedNs}`,
    failure: null,
    preimage: Buffer.from(preimage, 'hex').toString('base64'),
  };
  return {
    payment_hash: payment.hash,
    value: `${valueMsat / 1000n}`,
    creation_date: `${createdNs / 1_000_000_000n}`,
    fee: `${feeMsat / 1000n}`,
    payment_preimage: preimage === '' ? zeros : preimage,
    value_sat: `${valueMsat / 1000n}`,
    value_msat: `${valueMsat}`,
    payment_request: payment.paymentRequest,
    status,
    fee_sat: `${feeMsat / 1000n}`,
    fee_msat: `${feeMsat}`,
    creation_time_ns: `${createdNs}`,
    htlcs: status === 'FAILED' ? [] : [htlc],
    payment_index: `${payment.index}`,
    failure_reason: payment.failureReason,
    first_hop_custom_records: {},
  };
}
