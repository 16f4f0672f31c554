/**
 * What a node was like when it was last in contact. `closed`: it answered that it does not serve, and why and what to
 * do is the rest of a sentence about it.
 */
export type Standing = 'unknown' | 'open' | 'silent' | { readonly closed: string };

/** After this time without contact a node is asked again. */
const FRESH_MS = 30_000;
/** A node that is not open is asked at most this often. */
const ASK_AGAIN_MS = 1000;

/**
 * Keeps what the node at one place was like when it was last in contact, for health, which must not wait
 * (docs/decisions.md 7). Reading it after a long time, or after a failure, asks the node again in the background.
 */
export class StandingWatch {
  readonly #elapsedMs: () => number;
  readonly #probe: () => Promise<void>;
  #standing: Standing = 'unknown';
  #seenAtMs = 0;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;

  /** `probe` asks the node, within a bound, and calls {@link note} with what it finds. */
  constructor(elapsedMs: () => number, probe: () => Promise<void>) {
    this.#elapsedMs = elapsedMs;
    this.#probe = probe;
  }

  /** Records what a contact with the node showed. */
  readonly note = (standing: Standing): void => {
    this.#standing = standing;
    this.#seenAtMs = this.#elapsedMs();
  };

  /** What the last contact showed. Returns at once. */
  now(): Standing {
    if (this.#isDue()) void this.#ask();
    return this.#standing;
  }

  #isDue(): boolean {
    const nowMs = this.#elapsedMs();
    if (this.#isProbing || nowMs - this.#probedAtMs < ASK_AGAIN_MS) return false;
    return this.#standing !== 'open' || nowMs - this.#seenAtMs >= FRESH_MS;
  }

  async #ask(): Promise<void> {
    this.#isProbing = true;
    try {
      await this.#probe();
    } catch {
      // The probe has recorded what it found.
    } finally {
      this.#isProbing = false;
      this.#probedAtMs = this.#elapsedMs();
    }
  }
}
