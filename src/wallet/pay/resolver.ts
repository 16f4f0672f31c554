import { backoffDelayMs } from '../../lib/backoff.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError } from '../../model/errors.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { WalletNode } from '../../nodes/node.ts';
import { periodStart } from '../budget/budget.ts';
import type { Feed } from '../follow/feed.ts';
import type { SpendResolver } from '../session/ports.ts';
import { type Approvals, isWaiting } from './approvals.ts';
import { LookUps, type LookUpsOptions } from './look-ups.ts';
import { afterRestart } from './spend-state.ts';

/** How long the node may be out of reach before a blocking pay call ends (docs/decisions.md 36). */
const OUT_OF_REACH_MS = 60_000;
const ASK_AGAIN = { firstMs: 200, mostMs: 5000, jitter: 0.5 };

interface ResolverOptions extends LookUpsOptions {
  readonly feed: Feed;
  readonly approvals: Pick<Approvals, 'resume'>;
  readonly random: () => number;
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
  readonly #lookUps: LookUps;

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#pause = options.pause ?? sleep;
    this.#lookUps = new LookUps(options, (index) => this.giveUp(index));
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
    this.#lookUps.add(index);
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
    await this.#options.approvals.resume(unfinished.filter(isWaiting), node);
    for (const row of unfinished) {
      const next = afterRestart(row, node);
      if (next === 'give_up') await this.giveUp(row.payment.index);
      const spend = next === 'ask' && this.#lookUps.read(row);
      if (spend) await this.#lookUps.ask(node, spend, true);
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

  /** Asks the node about every spend that it has not shown yet. Returns whether any is left. */
  async #askAll(): Promise<boolean> {
    this.#again = false;
    await this.#giveUpLeft();
    await this.#showLeft();
    const left = await this.#lookUps.left();
    if (left.length === 0) {
      this.#silentSinceMs = null;
      return false;
    }
    const node = await this.#node();
    try {
      for (const spend of left) await this.#lookUps.ask(node, spend);
    } finally {
      // A node out of reach does not show the payments either.
      for (const { payment } of left) await this.#lookUps.noteMissing(node, payment.index);
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
