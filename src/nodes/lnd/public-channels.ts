import type { LndRest } from './rest.ts';
import { channelsShape } from './wire.ts';

/** Channels open and close seldom, and invoices are made often. */
const FRESH_MS = 60_000;

/** Whether a wallet has a public channel that is active, by which payers find it without route hints. */
export class PublicChannels {
  readonly #elapsedMs: () => number;
  #read: { readonly atMs: number; readonly any: Promise<boolean> } | null = null;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** The answer of at most a minute ago. False where LND does not tell: needless hints do no harm. */
  any(owner: LndRest): Promise<boolean> {
    const nowMs = this.#elapsedMs();
    if (this.#read === null || nowMs - this.#read.atMs >= FRESH_MS) {
      this.#read = { atMs: nowMs, any: hasPublicChannel(owner).catch(() => false) };
    }
    return this.#read.any;
  }
}

async function hasPublicChannel(owner: LndRest): Promise<boolean> {
  const path = '/v1/channels?active_only=true&public_only=true';
  return (await owner.list(path, channelsShape)).channels.length > 0;
}
