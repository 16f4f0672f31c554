import type { Log } from '../../lib/log.ts';
import { idOf } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { SendReport, WalletNode } from '../../nodes/node.ts';
import type { Spend as SpendRow, Store } from '../../store/ports.ts';
import type { PaymentFeed } from '../session/ports.ts';
import { repeatOf } from './send-again.ts';
import { questionOf, readSpend, type Spend } from './spend.ts';
import { decide, isLate, lookUpOf, notSeen } from './spend-state.ts';

export interface LookUpsOptions {
  readonly walletId: string;
  readonly store: Pick<Store, 'spends' | 'journal'>;
  readonly feed: Pick<PaymentFeed, 'observe' | 'whileSending' | 'answerLost'>;
  readonly log: Log;
  /** A monotonic time in milliseconds, which setting the clock does not change. */
  readonly elapsedMs: () => number;
  /** Called with the index of a spend whose row cannot be read, so that health can say so. */
  readonly unreadable?: (index: PaymentIndex) => void;
}

/** What this process remembers of a spend that the node does not show. */
interface LookUp {
  /** Since when it is looked for, in monotonic milliseconds. */
  readonly sinceMs: number;
  /** When it was last sent again; null before. */
  repeatedAtMs: number | null;
  spend: Spend | null;
}

/** The spends that the node may be asked about, and what follows from its word about each. */
export class LookUps {
  readonly #options: LookUpsOptions;
  readonly #giveUp: (index: PaymentIndex) => Promise<void>;
  /** A spend whose request is just leaving is not among them, because the node cannot know it yet. */
  readonly #lookUps = new Map<PaymentIndex, LookUp>();
  readonly #unreadable = new Set<PaymentIndex>();

  constructor(options: LookUpsOptions, giveUp: (index: PaymentIndex) => Promise<void>) {
    this.#options = options;
    this.#giveUp = giveUp;
  }

  add(index: PaymentIndex): void {
    if (this.#lookUps.has(index)) return;
    const sinceMs = this.#options.elapsedMs();
    this.#lookUps.set(index, { sinceMs, repeatedAtMs: null, spend: null });
  }

  /** Returns the spends that the node has still not shown, oldest first. The others are not looked for any more. */
  async left(): Promise<Spend[]> {
    const { store, walletId } = this.#options;
    // What is added while the rows are read stays.
    const gone = new Set(this.#lookUps.keys());
    const left: Spend[] = [];
    for (const row of await store.spends.unfinished(walletId)) {
      const spend = row.state === 'asked' && gone.has(row.payment.index) && this.read(row);
      if (!spend) continue;
      left.push(spend);
      gone.delete(spend.payment.index);
    }
    for (const index of gone) this.#lookUps.delete(index);
    return left;
  }

  /**
   * Returns the spend of a row. Null where the row cannot be read, which is told once: its payment stays pending until
   * the feed tells its end, and stops no other.
   */
  read(row: SpendRow): Spend | null {
    const { index } = row.payment;
    const lookUp = this.#lookUps.get(index);
    if (lookUp?.spend) return lookUp.spend;
    if (this.#unreadable.has(index)) return null;
    try {
      const spend = readSpend(row);
      // The row of a spend that is asked for does not change before the node has shown it.
      if (lookUp) lookUp.spend = spend;
      return spend;
    } catch (error) {
      const { log, walletId, unreadable } = this.#options;
      this.#unreadable.add(index);
      log.error(
        'The row of an unfinished payment cannot be read: the payment stays pending and is not sent again.',
        { walletId, index, error },
      );
      unreadable?.(index);
      return null;
    }
  }

  /** Asks the node what became of a spend, and does what follows from it (docs/decisions.md 34). */
  async ask(node: WalletNode, spend: Spend, isRestart = false): Promise<void> {
    const { elapsedMs, feed } = this.#options;
    const outcome = await node.sendOutcome(questionOf(spend));
    const { index } = spend.payment;
    const lookUp = this.#lookUps.get(index);
    const forMs = lookUp ? elapsedMs() - (lookUp.repeatedAtMs ?? lookUp.sinceMs) : 0;
    const question = lookUpOf(spend, node, { isRestart, forMs });
    const when = { question, nowMs: node.clock.now() };
    const { fate, observation } = decide(spend, outcome, when);
    if (fate === 'give_up') await this.#giveUp(index);
    if (fate === 'send_again') await this.#sendAgain(node, spend);
    if (observation) await feed.observe(observation, node);
  }

  /**
   * Sends the same request again (docs/decisions.md 114, 143). The first one has reached the node by now or is lost, so
   * that the two do not meet.
   */
  async #sendAgain(node: WalletNode, spend: Spend): Promise<void> {
    const repeat = repeatOf(node, spend);
    if (repeat === null) return;
    const { feed, elapsedMs, log, walletId } = this.#options;
    const { index, rail } = spend.payment;
    const id = idOf(spend.payment);
    const report = await feed.whileSending(id, node, async (): Promise<SendReport> => {
      const said = await repeat();
      const lookUp = this.#lookUps.get(index);
      if (lookUp) lookUp.repeatedAtMs = elapsedMs();
      const when = { question: 'repeat', nowMs: node.clock.now() } as const;
      const { observation } = decide(spend, said, when);
      if (observation) await feed.observe(observation, node);
      if ('error' in said) feed.answerLost(id);
      return said;
    });
    if (!('error' in report) || rail === 'onchain') return;
    const message = 'A payment that the node does not show was sent again in vain.';
    log.warn(message, { walletId, index, error: report.error });
  }

  /** Notes in the payment that the node does not show it, once that is so for long. */
  async noteMissing(node: WalletNode, index: PaymentIndex): Promise<void> {
    const { elapsedMs, store, walletId, feed } = this.#options;
    const sinceMs = this.#lookUps.get(index)?.sinceMs ?? elapsedMs();
    if (node.history || !isLate(elapsedMs() - sinceMs)) return;
    if ((await store.spends.get(walletId, index))?.state !== 'asked') return;
    const observation = notSeen(await store.journal.get(walletId, index));
    if (observation) await feed.observe(observation, node);
  }
}
