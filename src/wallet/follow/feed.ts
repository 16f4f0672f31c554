import { both } from '../../lib/both.ts';
import { quietResolvers } from '../../lib/quiet-resolvers.ts';
import { isAwaitingApproval, isFinal, type Payment } from '../../model/payment.ts';
import type { PaymentId, PaymentIndex } from '../../model/payment-index.ts';
import type { WalletNode } from '../../nodes/node.ts';
import type { ObservedPayment, Watch } from '../../store/ports.ts';
import type { FeedStanding } from '../session/feed-standing.ts';
import {
  type OnePaymentListener,
  type PaymentListener,
  PaymentListeners,
} from '../session/payment-listeners.ts';
import type { PaymentFeed } from '../session/ports.ts';
import { Unanswered } from '../session/unanswered.ts';
import { FeedAttempts } from './feed-attempts.ts';
import type { FeedOptions, Follower } from './feed-options.ts';
import { HeldBack } from './held-back.ts';
import { isWatchedOn } from './payment-end.ts';
import { ReadProgress } from './read-progress.ts';
import { RecentUpdates } from './recent-updates.ts';

/** How long a feed stays open after its last use, so that requests that follow each other do not open it anew. */
const KEPT_OPEN_MS = 5 * 60_000;
/** How long a feed without credentials rests, if none is added. */
const NO_CREDENTIALS_MS = 60_000;
/** The stored cursor is at most so many updates behind, which are read again after a restart. */
const CURSOR_BEHIND = 100;
/** A wallet whose watches end one after another is asked no more often than this whether it has any left. */
const WATCHED_AGAIN_MS = 1000;

/**
 * Follows the payment changes of a wallet: stores what the node pushes, then calls the listeners. It is open while it
 * has listeners or the wallet has watches, and on a node without a history some minutes longer (docs/decisions.md 89).
 */
export class Feed implements PaymentFeed {
  readonly unanswered = new Unanswered();
  readonly #options: FeedOptions;
  readonly #listeners = new PaymentListeners();
  readonly #recent = new RecentUpdates();
  readonly #heldBack = new HeldBack();
  #holds = 0;
  #watched = false;
  #watchesAdded = 0;
  /** When it was last read whether the wallet has watches, in monotonic milliseconds. */
  #watchedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether a watch may have ended since. */
  #mayBeUnwatched = false;
  /** When the feed was last used, in monotonic milliseconds; null while it is. */
  #unusedSinceMs: number | null = null;
  /** Whether the feed stays open unused: opening it reads a node that keeps no history. */
  #isKeptOpen = false;
  #running: AbortController | null = null;
  #stopped = false;
  #prepared = false;
  #caughtUp = quietResolvers();
  #standing: FeedStanding | null = null;
  #brokenSinceMs: number | null = null;
  readonly #attempts: FeedAttempts;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#attempts = new FeedAttempts(options);
  }

  /** Whether the feed has listeners or the wallet has watches. Such a wallet must not be closed. */
  get busy(): boolean {
    return this.#holds > 0 || this.#watched;
  }

  get standing(): FeedStanding | null {
    return this.#standing;
  }

  get changes(): number {
    return this.#listeners.told;
  }

  /** For how long the node could not be followed, in milliseconds; 0 while it can be. */
  brokenForMs(): number {
    return this.#brokenSinceMs === null ? 0 : this.#options.elapsedMs() - this.#brokenSinceMs;
  }

  hold(): () => void {
    this.#holds++;
    this.#adjust();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      this.#adjust();
    };
  }

  listen(listener: PaymentListener): () => void {
    return both(this.#listeners.add(listener), this.hold());
  }

  listenTo(index: PaymentIndex, listener: OnePaymentListener): () => void {
    return both(this.#listeners.addFor(index, listener), this.hold());
  }

  /** Tells who waits for a payment that it is gone, since it was given up (docs/decisions.md 144). */
  tellGone(index: PaymentIndex): void {
    this.#listeners.emitFor(index, null);
  }

  async prepare(node: WalletNode): Promise<void> {
    if (this.#prepared) return;
    const { store, walletId } = this.#options;
    if ((await store.observations.cursor(walletId)) === undefined) {
      // A node without an order of updates is read from its first payment, so that the journal is complete.
      const tip = node.history ? await node.history.tip() : null;
      await store.observations.startAt(walletId, tip);
    }
    this.#prepared = true;
  }

  watchAdded(): void {
    this.#watchesAdded++;
    this.#watched = true;
    this.#adjust();
  }

  /** Reads whether the wallet still has watches. Without them the feed is open only for its listeners. */
  async refreshWatched(): Promise<void> {
    const added = this.#watchesAdded;
    this.#watchedAtMs = this.#options.elapsedMs();
    this.#mayBeUnwatched = false;
    const watched = await this.#options.store.watches.has(this.#options.walletId);
    // A watch that was stored during the read may be missing from its result.
    if (added !== this.#watchesAdded) return;
    this.#watched = watched;
    this.#adjust();
  }

  /**
   * Resolves once everything that happened before the feed was opened is stored. Rejects when the node cannot be
   * followed now. The caller must hold the feed. A feed that rests tries again soon, about once a second at most.
   */
  async caughtUp(): Promise<void> {
    this.#attempts.hurry();
    await this.#caughtUp.promise;
  }

  /** Must be called when a new credential of the wallet is known. A feed that waits for one tries again. */
  credentialAdded(): void {
    this.#attempts.begin();
  }

  emit(payment: Payment): void {
    this.#listeners.emit(payment);
  }

  stop(): void {
    this.#stopped = true;
    this.#close();
  }

  /** Closes the feed if it was last used some minutes ago. Must be called from time to time. */
  closeUnused(): void {
    // Where that fails it is read again after the next end.
    if (this.#mayBeUnwatched) void this.refreshWatched().catch(() => undefined);
    if (this.busy || this.#unusedSinceMs === null) return;
    if (this.#options.elapsedMs() - this.#unusedSinceMs >= KEPT_OPEN_MS) this.#close();
  }

  #adjust(): void {
    if (!this.busy) {
      if (this.#isKeptOpen) this.#unusedSinceMs ??= this.#options.elapsedMs();
      else this.#close();
      return;
    }
    this.#unusedSinceMs = null;
    if (this.#running !== null || this.#stopped) return;
    const controller = new AbortController();
    this.#running = controller;
    this.#attempts.hurry();
    this.#stand('behind', controller.signal);
    void this.#run(controller.signal);
  }

  #close(): void {
    this.#running?.abort();
    this.#running = null;
    this.#isKeptOpen = false;
    this.#standing = null;
    this.#brokenSinceMs = null;
    this.#caughtUp = quietResolvers();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const attempts = this.#attempts;
    while (await attempts.due(signal)) {
      try {
        const follower = await this.#options.follower();
        if (signal.aborted) return;
        if (follower === null) {
          if (!this.busy) return this.#close();
          this.#stand('no_credentials', signal);
          attempts.putOff(NO_CREDENTIALS_MS);
          continue;
        }
        this.#stand('behind', signal);
        await this.prepare(follower.node);
        if (signal.aborted) return;
        this.#isKeptOpen = follower.node.history === undefined;
        await this.#follow(follower, signal, () => {
          attempts.followed();
          this.#brokenSinceMs = null;
        });
      } catch (error) {
        if (signal.aborted) return;
        attempts.failed();
        // The next use opens the feed again.
        if (!this.busy) return this.#close();
        this.#brokenSinceMs ??= this.#options.elapsedMs();
        this.#stand('behind', signal);
        this.#caughtUp.reject(error);
        this.#caughtUp = quietResolvers();
        attempts.tell(error);
      }
    }
  }

  async #follow(
    { node, ended }: Follower,
    signal: AbortSignal,
    onProgress: () => void,
  ): Promise<void> {
    const { store, walletId, historySinceMs, log, elapsedMs } = this.#options;
    const { journal } = store;
    const updates = node.updates({
      after: (await store.observations.cursor(walletId)) ?? null,
      async open(which) {
        const open = which === 'all' ? journal.open(walletId) : journal.openOnchain(walletId);
        // The node was not asked for what waits for approval.
        return (await open).filter((payment) => !isAwaitingApproval(payment));
      },
      signal: AbortSignal.any([signal, ended]),
      historySinceMs,
      log,
    });
    const progress = new ReadProgress(log, walletId, elapsedMs);
    let behind = 0;
    for await (const batch of updates) {
      const observations = await this.#recent.without(batch.observations);
      // A cursor alone is not worth a flush to the disk, nor a statement beside each update.
      behind += Math.max(observations.length, 1);
      const isDue =
        !node.history ||
        behind >= CURSOR_BEHIND ||
        // Read again, it would be told to an endpoint that was made since.
        batch.observations.some(({ payment }) => isWatchedOn(payment));
      const { cursor } = isDue ? batch : { cursor: null };
      if (cursor !== null) behind = 0;
      if (observations.length > 0 || cursor !== null || !node.history) {
        await this.#apply({ observations, cursor }, node);
      }
      progress.stored(batch);
      onProgress();
      if (!batch.caughtUp) continue;
      this.#caughtUp.resolve();
      this.#stand('caught_up', signal);
    }
  }

  async #watchMayHaveEnded(): Promise<void> {
    this.#mayBeUnwatched = true;
    if (this.#options.elapsedMs() - this.#watchedAtMs < WATCHED_AGAIN_MS) return;
    await this.refreshWatched();
  }

  /** A run that was aborted must not set the state of the run that followed it. */
  #stand(state: FeedStanding['state'], { aborted }: AbortSignal): void {
    if (aborted || this.#standing?.state === state) return;
    this.#standing = { state, sinceMs: this.#options.clock.now() };
  }

  async record(observation: ObservedPayment, node: WalletNode): Promise<Payment> {
    const { payment } = observation;
    const changed = await this.#apply({ observations: [observation], cursor: null }, node);
    if (node.history) return payment;
    const { store, walletId } = this.#options;
    const { index } = payment;
    const stored = changed.find((one) => one.index === index);
    return stored ?? (await store.journal.get(walletId, index)) ?? payment;
  }

  async observe(observation: ObservedPayment, node: WalletNode): Promise<void> {
    await this.#apply({ observations: [observation], cursor: null }, node);
  }

  async observeIssued(
    observation: ObservedPayment,
    watches: readonly Watch[],
    node: WalletNode,
  ): Promise<void> {
    await this.prepare(node);
    await this.#apply({ observations: [observation], watches, cursor: null }, node);
    this.watchAdded();
  }

  async observeOnce(observation: ObservedPayment, node: WalletNode): Promise<void> {
    const [fresh] = await this.#recent.without([observation]);
    if (fresh) await this.observe(fresh, node);
  }

  async whileSending<T>(
    id: PaymentId,
    node: WalletNode,
    work: () => Promise<T>,
    onTold: (changed: readonly Payment[]) => void = () => undefined,
  ): Promise<T> {
    if (node.history) return work();
    const release = this.#heldBack.hold(id);
    try {
      return await work();
    } finally {
      const observations = release();
      if (observations.length > 0) onTold(await this.#apply({ observations, cursor: null }, node));
    }
  }

  answerLost(id: PaymentId): void {
    this.#heldBack.answerLost(id);
  }

  /** Shows readers a spend that may have been carried out without a usable answer (docs/decisions.md 168). */
  async show(index: PaymentIndex): Promise<void> {
    const { store, walletId } = this.#options;
    const payment = await store.journal.show(walletId, index);
    if (payment) this.emit(payment);
  }

  /** Stores observations of a node, then calls the listeners and wakes the dispatcher. Returns what has changed. */
  async #apply(
    batch: {
      readonly observations: readonly ObservedPayment[];
      readonly watches?: readonly Watch[];
      readonly cursor: string | null;
    },
    node: WalletNode,
  ): Promise<readonly Payment[]> {
    const { cursor, watches = [] } = batch;
    const observations = this.#heldBack.without(batch.observations);
    const { store, walletId, rules, onDelivery } = this.#options;
    const journaled = node.history === undefined;
    const stored = store.observations.apply(
      walletId,
      { observations, watches, cursor, journaled, nowMs: node.clock.now() },
      rules,
    );
    if (!journaled) this.#recent.add(observations, stored);
    const { changed, deliveries, gaveWay } = await stored;
    if (deliveries > 0) onDelivery();
    for (const payment of changed) this.emit(payment);
    for (const { from, to } of gaveWay) if (from !== to.index) this.#listeners.emitFor(from, to);
    if (this.#watched && changed.some(isFinal)) await this.#watchMayHaveEnded();
    return changed;
  }
}
