import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { decodeBolt11, encodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { type PaymentIndex, paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type {
  Observation,
  PayInvoiceCommand,
  SendOutcome,
  SendQuestion,
  SendReport,
} from '../../../src/nodes/node.ts';
import { unreachable } from '../fake-node.ts';

const PREIMAGE = '07'.repeat(32);
export const HASH = hex.encode(sha256(hex.decode(PREIMAGE)));
export const ID = paymentId('ln', HASH);
export const FEE_MSAT = 7n;

/** An invoice without an amount, so that each payer chooses his own. */
export const INVOICE = decodeBolt11(
  encodeBolt11(
    {
      network: 'regtest',
      amountMsat: null,
      timestampSecs: 1000,
      expirySecs: 3600,
      paymentSecret: '11'.repeat(32),
      paymentHash: HASH,
      description: 'Coffee',
      features: [8, 14],
    },
    new Uint8Array(32).fill(1),
  ),
);

interface Attempt {
  readonly number: number;
  /** The index that the sidecar gave it; null for another program's. */
  readonly label: PaymentIndex | null;
  readonly amountMsat: bigint;
  readonly createdAtMs: number;
  status: Payment['status'];
}

/** A call of the wallet that the model holds until the test goes on with it. */
interface Held {
  readonly step: 'newest' | 'leave' | 'answer';
  /** The order that has not left yet; null at every other step. */
  readonly order: PayInvoiceCommand | null;
  /** Lets the call go on; one that is lost is cut off here. */
  readonly go: (how: 'on' | 'lost') => void;
}

/**
 * A node that makes one payment of a hash, as LND does (`numbered`: its attempts have numbers, and nothing says whose
 * they are) or as Core Lightning does (`labeled`: each keeps the index that the sidecar gave it).
 */
export class ModelNode {
  readonly attempts: Attempt[] = [];
  held: Held[] = [];
  /** Whether an answer was lost, after which a numbered node cannot say whose an attempt is. */
  isUnclear = false;
  nowMs = 1_000_000;
  readonly #kind: 'numbered' | 'labeled';

  constructor(kind: 'numbered' | 'labeled') {
    this.#kind = kind;
  }

  get open(): Attempt | undefined {
    return this.attempts.find(({ status }) => status === 'pending');
  }

  get paid(): Attempt | undefined {
    return this.attempts.find(({ status }) => status === 'completed');
  }

  /** Begins an attempt, unless one is in the way. */
  begin(label: PaymentIndex | null, amountMsat: bigint): Attempt | null {
    if (this.open || this.paid) return null;
    const attempt: Attempt = {
      number: this.attempts.length + 1,
      label,
      amountMsat,
      createdAtMs: this.nowMs,
      status: 'pending',
    };
    this.attempts.push(attempt);
    return attempt;
  }

  /** An attempt as the feed tells it. */
  seen(attempt: Attempt): Observation {
    const { number, label, amountMsat, createdAtMs, status } = attempt;
    const index =
      this.#kind === 'labeled' && label !== null ? label : paymentIndex(createdAtMs, ID);
    const payment: Payment = {
      ...blankPayment({
        index,
        rail: 'invoice',
        direction: 'outbound',
        status,
        statusMsg: status === 'failed' ? 'no route' : status,
        createdAtMs,
        updatedAtMs: this.nowMs,
      }),
      hash: HASH,
      amountMsat,
      feesMsat: status === 'completed' ? FEE_MSAT : 0n,
      preimage: status === 'completed' ? PREIMAGE : null,
      finalizedAtMs: status === 'pending' ? null : this.nowMs,
    };
    return { payment, attempt: this.#kind === 'numbered' ? number : null };
  }

  async newestAttempt(): Promise<number | null> {
    const number = this.#kind === 'numbered' ? this.attempts.length : null;
    await this.#hold('newest');
    return number;
  }

  async latest(): Promise<Observation | null> {
    const last = this.attempts.at(-1);
    return last ? this.seen(last) : null;
  }

  async pay(order: PayInvoiceCommand): Promise<SendReport> {
    const { index, createdAtMs, amountMsat, isRepeat } = order;
    if ((await this.#hold('leave', order)) === 'lost') return this.#lost();
    const made = this.begin(index, amountMsat);
    const attempt = made ?? this.open ?? this.paid;
    if ((await this.#hold('answer')) === 'lost') return this.#lost();
    if (!attempt) throw new Error('nothing was in the way');
    const isOwn =
      made !== null || (this.#kind === 'labeled' ? attempt.label === index : isRepeat === true);
    const seen = this.seen(attempt);
    if (!isOwn) return { state: 'taken', ...seen };
    return { state: 'known', ...seen, payment: { ...seen.payment, index, createdAtMs } };
  }

  async outcome({ payment, attempt, afterAttempt }: SendQuestion): Promise<SendOutcome> {
    const { index, createdAtMs } = payment;
    const known = (one: Attempt): SendOutcome => {
      const seen = this.seen(one);
      return { state: 'known', ...seen, payment: { ...seen.payment, index, createdAtMs } };
    };
    const last = this.attempts.at(-1);
    if (this.#kind === 'labeled') {
      const mine = this.attempts.findLast(({ label }) => label === index);
      if (mine) return known(mine);
      return this.paid ? { state: 'taken', ...this.seen(this.paid) } : { state: 'unknown' };
    }
    const isThis =
      last && (attempt === null ? last.number > (afterAttempt ?? 0) : last.number === attempt);
    if (!isThis) return { state: 'unknown' };
    if (last.amountMsat === payment.amountMsat) return known(last);
    return this.paid ? { state: 'taken', ...this.seen(this.paid) } : { state: 'unknown' };
  }

  /**
   * The process that called is killed: its calls never return. What it has written the node reads. Returns the calls, so
   * that a test can let them go when it is over.
   */
  killed(): Held[] {
    const gone = this.held;
    this.held = [];
    this.isUnclear = true;
    for (const { order } of gone) if (order) this.begin(order.index, order.amountMsat);
    return gone;
  }

  async #hold(step: Held['step'], order: PayInvoiceCommand | null = null): Promise<'on' | 'lost'> {
    const { promise, resolve } = Promise.withResolvers<'on' | 'lost'>();
    const held: Held = {
      step,
      order,
      go: (how) => {
        this.held = this.held.filter((one) => one !== held);
        resolve(how);
      },
    };
    this.held.push(held);
    return promise;
  }

  #lost(): SendReport {
    this.isUnclear = true;
    return { state: 'unknown', error: unreachable() };
  }
}
