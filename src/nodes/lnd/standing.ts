import { type LndRefusal, notOpenAs } from './refusal.ts';

/** What an LND was like when it was last in contact. */
export type Standing = 'unknown' | 'open' | 'no_wallet' | 'locked' | 'starting' | 'silent';

/** After this time without contact an LND is asked again. */
const FRESH_MS = 30_000;
/** An LND that is not open is asked at most this often. */
const ASK_AGAIN_MS = 1000;

/** The states of `GET /v1/state` in which LND does not serve yet. */
const STATES: Readonly<Record<string, Standing>> = {
  WAITING_TO_START: 'starting',
  NON_EXISTING: 'no_wallet',
  LOCKED: 'locked',
  UNLOCKED: 'starting',
  RPC_ACTIVE: 'starting',
};

/** The standing that LND's answer to `GET /v1/state` shows. */
export function standingOf(state: string): Standing {
  return STATES[state] ?? 'open';
}

/** The standing that an error answer of LND shows. */
export function standingByRefusal(refusal: LndRefusal): Standing {
  return notOpenAs(refusal) ?? 'open';
}

/**
 * Keeps what the LND at one place was like when it was last in contact, for health, which must not wait
 * (docs/decisions.md 7). Reading it after a long time, or after a failure, asks LND again in the background.
 */
export class StandingWatch {
  readonly #elapsedMs: () => number;
  readonly #probe: () => Promise<void>;
  #standing: Standing = 'unknown';
  #seenAtMs = 0;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #isProbing = false;

  /** `probe` asks LND, within a bound, and calls {@link note} with what it finds. */
  constructor(elapsedMs: () => number, probe: () => Promise<void>) {
    this.#elapsedMs = elapsedMs;
    this.#probe = probe;
  }

  /** Records what a contact with LND showed. */
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
