import type { LndTransaction } from '../words/wire.ts';

/** How soon the list is read again while something that LND told is missing in it. */
export const LISTED_WITHIN_MS = 250;
/** What is not in the list after this time is not waited for: the transaction may have been replaced at once. */
const PATIENCE_MS = 10_000;

type Seen = Pick<LndTransaction, 'tx_hash' | 'num_confirmations'>;

/**
 * Knows whether LND's list of transactions lags behind its streams. LND tells of a transaction a moment before it has
 * stored it, and of a block before its wallet has read it.
 */
export class ListLag {
  readonly #elapsedMs: () => number;
  readonly #missing = new Map<string, { readonly toldAtMs: number; readonly inBlock: boolean }>();
  #blockAtMs = Number.NEGATIVE_INFINITY;
  #isBehind = false;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  toldTransaction({ tx_hash, num_confirmations }: Seen): void {
    const toldAtMs = this.#elapsedMs();
    this.#missing.set(tx_hash, { toldAtMs, inBlock: num_confirmations > 0 });
  }

  toldBlock(): void {
    this.#blockAtMs = this.#elapsedMs();
  }

  /** Notes what the list holds. `isSynced` is whether LND's wallet had read the newest block before that. */
  read(listed: readonly Seen[], isSynced: boolean): void {
    this.#isBehind = !isSynced;
    for (const { tx_hash, num_confirmations } of listed) {
      const told = this.#missing.get(tx_hash);
      if (told && (num_confirmations > 0 || !told.inBlock)) this.#missing.delete(tx_hash);
    }
    for (const [txid, { toldAtMs }] of this.#missing) {
      if (!this.#isRecent(toldAtMs)) this.#missing.delete(txid);
    }
  }

  /** Whether the list must be read again soon. */
  get waiting(): boolean {
    if (this.#isBehind && this.#isRecent(this.#blockAtMs)) return true;
    return [...this.#missing.values()].some(({ toldAtMs }) => this.#isRecent(toldAtMs));
  }

  #isRecent(toldAtMs: number): boolean {
    return this.#elapsedMs() - toldAtMs < PATIENCE_MS;
  }
}
