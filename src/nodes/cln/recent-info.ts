import type { ClnInfo } from './wire.ts';

/** A node's version changes only when it is started anew, and node_info may be asked for often. */
const FRESH_MS = 60_000;

/** What the node says of itself, as it was at most a minute ago. */
export class RecentInfo {
  readonly #elapsedMs: () => number;
  #read: { readonly atMs: number; readonly info: ClnInfo } | null = null;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Returns what was read last, or what `read` returns where that is older. Throws what `read` throws. */
  async get(read: () => Promise<ClnInfo>): Promise<ClnInfo> {
    const atMs = this.#elapsedMs();
    if (this.#read !== null && atMs - this.#read.atMs < FRESH_MS) return this.#read.info;
    const info = await read();
    this.#read = { atMs, info };
    return info;
  }
}
