import { elapsedMs } from '../../../lib/clock.ts';
import { sleep } from '../../../lib/sleep.ts';
import { ApiError } from '../../../model/errors.ts';
import { Openings } from '../../remote/calls/openings.ts';

/**
 * How many issuers may be asked at a time: half of the calls that may be open at a node, since anybody can make offers
 * that nobody answers, and asking costs nothing.
 */
const MOST_ASKED = 16;
/**
 * The least time between two questions. Each is one onion message, and Core Lightning drops without a word what a peer
 * sends beyond four a second (`connectd/connectd.h`); the question would then wait for its time limit in vain. Three a
 * second leave one for what the node answers to payers of its own offers.
 */
const SPACING_MS = 334;
/** How many questions may wait for their turn: as many as are asked in about 20 seconds. */
const MOST_WAITING = 60;

interface Bounds {
  readonly mostAsked: number;
  readonly spacingMs: number;
  readonly mostWaiting: number;
}

const BOUNDS: Bounds = {
  mostAsked: MOST_ASKED,
  spacingMs: SPACING_MS,
  mostWaiting: MOST_WAITING,
};

/** The turns of asking the issuers of offers for invoices, for one wallet: bounded in number and rate, and in order. */
export class IssuerTurns {
  readonly #bounds: Bounds;
  readonly #asked: Openings;
  /** Held by the one that waits for the time of the next question. */
  readonly #next = new Openings(1);
  #waiting = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: Partial<Bounds> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds };
    this.#asked = new Openings(this.#bounds.mostAsked);
  }

  /**
   * Waits for a turn, at most `withinMs` for a place among those that are asked, and returns the function that ends the
   * turn. Throws `overCapacity` when there is no room or no place in time, and the signal's reason when it aborts, so
   * that the turn is the next one's. Nothing was sent then.
   */
  async enter(withinMs: number, signal: AbortSignal): Promise<() => void> {
    if (this.#waiting >= this.#bounds.mostWaiting) throw overCapacity();
    this.#waiting += 1;
    try {
      const leave = await this.#asked.enter(withinMs, signal);
      try {
        await this.#spaced(signal);
        return leave;
      } catch (error) {
        leave();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw overCapacity(error);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #spaced(signal: AbortSignal): Promise<void> {
    const leave = await this.#next.enter(null, signal);
    try {
      const leftMs = this.#lastMs + this.#bounds.spacingMs - elapsedMs();
      if (leftMs > 0) await sleep(leftMs, signal);
      signal.throwIfAborted();
      this.#lastMs = elapsedMs();
    } finally {
      leave();
    }
  }
}

function overCapacity(cause?: unknown): ApiError {
  return new ApiError(
    'overCapacity',
    'Too many receivers of offers are being asked at the moment. Nothing was sent: try again.',
    { cause },
  );
}
