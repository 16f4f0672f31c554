import { backoffDelayMs } from '../../lib/backoff.ts';
import type { Log } from '../../lib/log.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError } from '../../model/errors.ts';
import { idOf, type Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Observation, WalletNode } from '../../nodes/node.ts';
import type { ObservedPayment, Spend, Store } from '../../store/ports.ts';
import { periodStart } from '../budget/budget.ts';
import type { Feed } from '../follow/feed.ts';
import type { SpendResolver } from '../session/ports.ts';
import { type Fate, fateOf, type Question, wordOf } from './fate.ts';
import { questionOf } from './question.ts';
import { sendAgain } from './send-again.ts';

/** How long the node may be out of reach before a blocking pay call ends (docs/decisions.md 36). */
const OUT_OF_REACH_MS = 60_000;
/** After this time a payment says that the node does not show it yet. */
const NOT_SEEN_AFTER_MS = 20_000;
const NOT_SEEN = 'not seen at the node yet';
const ASK_AGAIN = { firstMs: 200, mostMs: 5000, jitter: 0.5 };

interface ResolverOptions {
  readonly walletId: string;
  readonly store: Store;
  readonly feed: Feed;
  readonly log: Log;
  readonly random: () => number;
  /** A monotonic time in milliseconds, which setting the clock does not change. */
  readonly elapsedMs: () => number;
  /** Waits before the node is asked again or its silence is looked at; {@link sleep} when absent. */
  readonly pause?: typeof sleep;
  /** The node as the wallet's best valid credential reaches it, or null when none is known. */
  readonly node: () => Promise<WalletNode | null>;
}

/**
 * Finds out what became of a wallet's unknown spends: those whose request may have left and whose attempt the node has
 * not shown (docs/decisions.md 35). It asks the node again and again while there is such a spend, and rests otherwise.
 */
export class Resolver implements SpendResolver {
  readonly #options: ResolverOptions;
  readonly #pause: typeof sleep;
  readonly #stopped = new AbortController();
  #ready: Promise<void> | null = null;
  #working = false;
  #again = false;
  #silentSinceMs: number | null = null;
  /** Spends that were certainly not sent, and whose rows could not be deleted yet. */
  readonly #toGiveUp = new Set<PaymentIndex>();
  /** Spends that readers are to be shown, because their request has no usable answer. */
  readonly #toShow = new Set<PaymentIndex>();
  /**
   * Spends that the node may be asked about. A spend whose request is just leaving is not among them, because the node
   * cannot know it yet.
   */
  readonly #toResolve = new Set<PaymentIndex>();
  /** Since when this process has looked for each spend that the node does not show, in monotonic milliseconds. */
  readonly #missingSinceMs = new Map<PaymentIndex, number>();
  /** When each spend was last sent again, in monotonic milliseconds. */
  readonly #repeatedAtMs = new Map<PaymentIndex, number>();

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#pause = options.pause ?? sleep;
  }

  /** Whether a spend is being resolved. Such a wallet must not be closed. */
  get busy(): boolean {
    return this.#working;
  }

  async ready(): Promise<void> {
    this.#ready ??= this.#recover().catch((error) => {
      this.#ready = null;
      throw error;
    });
    await this.#ready;
    if (this.#toGiveUp.size > 0) await this.#giveUpLeft();
  }

  async giveUp(index: PaymentIndex): Promise<void> {
    this.#toGiveUp.add(index);
    try {
      await this.#giveUpLeft();
    } catch (error) {
      this.#again = true;
      this.#start();
      throw error;
    }
  }

  async resolve(index: PaymentIndex): Promise<void> {
    this.#toShow.add(index);
    await this.#showLeft().catch(() => undefined);
    this.#askAbout(index);
  }

  #askAbout(index: PaymentIndex): void {
    this.#toResolve.add(index);
    if (!this.#missingSinceMs.has(index)) {
      this.#missingSinceMs.set(index, this.#options.elapsedMs());
    }
    this.#again = true;
    this.#start();
  }

  async outOfReach(index: PaymentIndex, signal: AbortSignal): Promise<never> {
    const { feed, elapsedMs } = this.#options;
    while (!signal.aborted) {
      await this.#pause(1000, signal);
      const silentMs = this.#silentSinceMs === null ? 0 : elapsedMs() - this.#silentSinceMs;
      if (Math.max(silentMs, feed.brokenForMs()) < OUT_OF_REACH_MS) continue;
      if (!(await this.#isPending(index))) continue;
      throw new ApiError(
        'unreachable',
        'The wallet node has been out of reach for a minute and may have been asked to pay. The payment stays pending: look it up later, by its index where this error names one.',
      );
    }
    return new Promise(() => undefined);
  }

  /** Another program's payment has no spend, and a spend that gave way leads to such a payment. */
  async #isPending(index: PaymentIndex): Promise<boolean> {
    const { store, walletId } = this.#options;
    if ((await store.spends.get(walletId, index)) !== null) return true;
    return (await store.journal.get(walletId, index))?.status === 'pending';
  }

  stop(): void {
    this.#stopped.abort();
  }

  #start(): void {
    if (this.#working || this.#stopped.signal.aborted) return;
    this.#working = true;
    void this.#work().finally(() => {
      this.#working = false;
      // A spend may have been added while the last round was ending.
      if (this.#again) this.#start();
    });
  }

  async #recover(): Promise<void> {
    const { store, walletId } = this.#options;
    const unfinished = await store.spends.unfinished(walletId);
    if (unfinished.length === 0) return;
    const asked = unfinished.filter(({ state }) => state === 'asked');
    for (const { payment } of asked) this.#toShow.add(payment.index);
    await this.#showLeft();
    const node = await this.#node();
    for (const spend of unfinished) {
      if (spend.state === 'begun') await this.giveUp(spend.payment.index);
      else if (spend.state === 'asked' || mayBeAnothers(spend, node)) {
        await this.#ask(node, spend, 'restart');
      }
    }
    for (const { payment } of asked) this.#askAbout(payment.index);
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopped;
    const { log, walletId, random, elapsedMs } = this.#options;
    for (let round = 1; !signal.aborted; round++) {
      try {
        if (!(await this.#askAll())) {
          if (!this.#again) return;
          round = 0;
          continue;
        }
        this.#silentSinceMs = null;
      } catch (error) {
        this.#silentSinceMs ??= elapsedMs();
        log.warn('The node could not be asked about unfinished payments; it is asked again.', {
          walletId,
          error,
        });
      }
      await this.#pause(backoffDelayMs(round, { ...ASK_AGAIN, random }), signal);
    }
  }

  /** Asks the node about every spend in `#toResolve` that is not known yet. Returns whether any is left. */
  async #askAll(): Promise<boolean> {
    this.#again = false;
    await this.#giveUpLeft();
    await this.#showLeft();
    const { store, walletId } = this.#options;
    const toResolve = new Set(this.#toResolve);
    const asked = (await store.spends.unfinished(walletId)).filter(
      ({ state, payment }) => state === 'asked' && toResolve.has(payment.index),
    );
    for (const { payment } of asked) toResolve.delete(payment.index);
    for (const index of toResolve) {
      this.#toResolve.delete(index);
      this.#missingSinceMs.delete(index);
      this.#repeatedAtMs.delete(index);
    }
    if (asked.length === 0) {
      this.#silentSinceMs = null;
      return false;
    }
    const node = await this.#node();
    try {
      for (const spend of asked) await this.#ask(node, spend, 'running');
    } finally {
      // A node out of reach does not show the payments either.
      for (const { payment } of asked) await this.#noteMissing(node, payment.index);
    }
    return true;
  }

  async #node(): Promise<WalletNode> {
    const node = await this.#options.node();
    if (node) return node;
    throw new ApiError(
      'unreachable',
      'Unfinished payments cannot be looked up, since no valid credentials of this wallet are known: send a request with valid ones.',
    );
  }

  /** Asks the node what became of a spend, and does what follows from it (docs/decisions.md 34). */
  async #ask(node: WalletNode, spend: Spend, when: 'restart' | 'running'): Promise<void> {
    const outcome = await node.sendOutcome(questionOf(spend));
    const question = this.#question(spend, when, node);
    const fate = fateOf(spend.state, question, wordOf(outcome, spend.payment));
    if (fate === 'give_up') return this.giveUp(spend.payment.index);
    if (fate === 'fail' && outcome.state === 'never') {
      const failed = ended(spend.payment, outcome.reason, node);
      return this.#apply(node, { payment: failed, attempt: null });
    }
    if (fate === 'send_again') return this.#sendAgain(node, spend);
    if ('payment' in outcome) await this.#conclude(node, spend, outcome, fate);
  }

  #question({ payment }: Spend, when: 'restart' | 'running', node: WalletNode): Question {
    if (when === 'restart' && node.history) return 'untold_look';
    // A transaction that is published twice is the same one.
    if (payment.rail === 'onchain') return 'late_look';
    const { index } = payment;
    const sinceMs = this.#repeatedAtMs.get(index) ?? this.#missingSinceMs.get(index);
    const isLate =
      sinceMs !== undefined && this.#options.elapsedMs() - sinceMs >= NOT_SEEN_AFTER_MS;
    return isLate ? 'late_look' : 'look';
  }

  /** Stores what the node shows of a spend, or lets the spend give way to it. */
  async #conclude(
    node: WalletNode,
    { payment: { index } }: Spend,
    seen: Observation,
    fate: Fate,
  ): Promise<void> {
    if (fate !== 'record' && fate !== 'give_way') return;
    await this.#apply(node, { ...seen, answers: { index, isTaken: fate === 'give_way' } });
  }

  /**
   * Sends the same request again (docs/decisions.md 114, 143). The first one has reached the node by now or is lost, so
   * that the two do not meet.
   */
  async #sendAgain(node: WalletNode, spend: Spend): Promise<void> {
    const { elapsedMs, log, walletId } = this.#options;
    const { index, rail } = spend.payment;
    const report = await this.#options.feed.whileSending(idOf(spend.payment), node, async () => {
      const said = await sendAgain(node, spend);
      if (said === null) return null;
      this.#repeatedAtMs.set(index, elapsedMs());
      if ('payment' in said) {
        const word = wordOf(said, spend.payment);
        await this.#conclude(node, spend, said, fateOf(spend.state, 'repeat', word));
      } else this.#options.feed.answerLost(idOf(spend.payment));
      return said;
    });
    if (report === null || 'payment' in report || rail === 'onchain') return;
    const message = 'A payment that the node does not show was sent again in vain.';
    log.warn(message, { walletId, index, error: report.error });
  }

  /** Notes in the payment that the node does not show it, once that is so for long. */
  async #noteMissing(node: WalletNode, index: PaymentIndex): Promise<void> {
    const { elapsedMs, store, walletId } = this.#options;
    const sinceMs = this.#missingSinceMs.get(index) ?? elapsedMs();
    if (elapsedMs() - sinceMs < NOT_SEEN_AFTER_MS || node.history) return;
    const spend = await store.spends.get(walletId, index);
    if (spend?.state !== 'asked') return;
    const row = await store.journal.get(walletId, index);
    if (row?.status !== 'pending' || row.statusMsg === NOT_SEEN) return;
    const noted = { ...row, statusMsg: NOT_SEEN };
    await this.#apply(node, { payment: noted, attempt: null, ownWord: true });
  }

  async #apply(node: WalletNode, observation: ObservedPayment): Promise<void> {
    await this.#options.feed.observe(observation, node);
  }

  async #showLeft(): Promise<void> {
    for (const index of this.#toShow) {
      await this.#options.feed.show(index);
      this.#toShow.delete(index);
    }
  }

  async #giveUpLeft(): Promise<void> {
    const { store, walletId, feed } = this.#options;
    for (const index of this.#toGiveUp) {
      await store.spends.abandon(walletId, index, periodStart);
      this.#toGiveUp.delete(index);
      // A spend that the node has shown stays.
      if ((await store.spends.get(walletId, index)) === null) feed.tellGone(index);
    }
    await feed.refreshWatched();
  }
}

/**
 * Whether version 0.2 may have taken another program's attempt for that of the spend: it did so where the node numbers
 * no attempts. The end of that attempt is told of another row.
 */
function mayBeAnothers({ payment, attempt }: Spend, node: WalletNode): boolean {
  return payment.rail !== 'onchain' && attempt === null && node.history === undefined;
}

function ended(payment: Payment, reason: string, node: WalletNode): Payment {
  const nowMs = node.clock.now();
  return {
    ...payment,
    status: 'failed',
    statusMsg: reason,
    finalizedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
