import { sleep } from '../../lib/sleep.ts';
import type { Observation } from '../node.ts';
import type { Found } from './found.ts';

/** Collects what the streams and this process report, until the feed takes it. */
export class Inbox {
  /** Whether the lists must be read again; the feed resets it. */
  wanted: 'now' | 'soon' | null = null;
  /** Whether LND does not tell of settled invoices, so that they are found by reading alone. */
  isDeafToInvoices = false;
  #observations: Observation[] = [];
  #settleIndex = 0;
  #failure: { readonly error: unknown } | null = null;
  #arrived = Promise.withResolvers<void>();

  /** Adds changes; of a settled invoice also the `settle_index`, up to which the stream has been read then. */
  readonly add = (observations: readonly Observation[], settled = { settle_index: 0 }): void => {
    this.#observations.push(...observations);
    this.#settleIndex = Math.max(this.#settleIndex, settled.settle_index);
    this.#arrived.resolve();
  };

  readonly requestLook = (): void => {
    this.wanted = 'now';
    this.#arrived.resolve();
  };

  readonly requestLookSoon = (): void => {
    // One request is enough. Otherwise every new invoice would wake the feed.
    if (this.wanted !== null) return;
    this.wanted = 'soon';
    this.#arrived.resolve();
  };

  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#arrived.resolve();
  }

  /** Takes what has arrived. Throws the error that ended a stream, once everything before it was taken. */
  take(): Found {
    const observations = this.#observations;
    if (this.#failure && observations.length === 0) throw this.#failure.error;
    this.#observations = [];
    if (!this.#failure) this.#arrived = Promise.withResolvers();
    return { observations, reached: { settleIndex: this.#settleIndex } };
  }

  /** Resolves when something arrives, when `other` resolves, after `ms` at the latest, or when `signal` aborts. */
  async wait(ms: number, other: Promise<void> | null, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    await Promise.race([
      this.#arrived.promise,
      ...(other === null ? [] : [other]),
      sleep(Math.max(ms, 0), AbortSignal.any([signal, timer.signal])),
    ]);
    timer.abort();
  }
}
