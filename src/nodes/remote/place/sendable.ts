import { formatAmountMsat } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';

/** The share of the sendable balance that is set aside for routing fees, in parts per million. */
const ROUTING_PPM = 10_000n;
const MILLION = 1_000_000n;

/** What can be sent of an amount when its routing fees come out of it too, in millisatoshis. */
export function lessRoutingFees(maxSendableMsat: bigint): bigint {
  return (maxSendableMsat * MILLION) / (MILLION + ROUTING_PPM);
}

/**
 * Throws `refused` when the channels cannot send the amount: what cannot be sent at all makes no payment
 * (docs/decisions.md 14), while a node may record a failed one.
 */
export function requireEnough(amountMsat: bigint, sendableMsat: bigint): void {
  if (amountMsat <= sendableMsat) return;
  throw refused(
    `The wallet can send ${formatAmountMsat(sendableMsat)} sats over Lightning now: pay less, or open a channel.`,
  );
}

/** What was read earlier than this says nothing of now. */
const FRESH_MS = 1000;
/** A later payment of that time may take one part in so many of what is left: other programs pay from the node too. */
const LATER_SHARE = 10n;

/** What the channels could send when the node was asked. */
interface Known {
  /** When it was asked, in monotonic milliseconds. */
  readonly atMs: number;
  /** In millisatoshis; 0 where the node did not say. */
  readonly amountMsat: Promise<bigint>;
  /** What the payments that it was enough for since may take, with their fees. */
  takenMsat: bigint;
}

/** What a payment takes at most. */
interface Wanted {
  readonly amountMsat: bigint;
  readonly maxFeeMsat: bigint;
}

/**
 * What the wallet's channels can send. The node is asked while the wallet still prepares a payment, so that the payment
 * need not wait for the answer, and once for all payments of a second.
 */
export class Sendable {
  readonly #elapsedMs: () => number;
  #known: Known | null = null;

  /** `elapsedMs` is a monotonic clock. */
  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  /** Begins to read for the next {@link require}. `read` returns what the channels can send now, in millisatoshis. */
  readAhead(read: () => Promise<bigint>): void {
    // Where it fails, `require` reads again and reports the error.
    if (this.#fresh() === null) this.#keep(read());
  }

  /** Throws `refused` when the channels cannot send the amount; see {@link requireEnough}. */
  async require(read: () => Promise<bigint>, wanted: Wanted): Promise<void> {
    const fresh = this.#fresh();
    if (fresh !== null && (await isTaken(fresh, wanted))) return;
    const reading = read();
    const known = this.#keep(reading);
    requireEnough(wanted.amountMsat, await reading);
    take(known, wanted);
  }

  #fresh(): Known | null {
    const known = this.#known;
    return known !== null && this.#elapsedMs() - known.atMs < FRESH_MS ? known : null;
  }

  #keep(reading: Promise<bigint>): Known {
    const amountMsat = reading.catch(() => 0n);
    this.#known = { atMs: this.#elapsedMs(), amountMsat, takenMsat: 0n };
    return this.#known;
  }
}

/**
 * Takes a payment of what is known, where that is enough: for the first one all of it, as it was read for that, and for
 * each one after it a tenth of what is left.
 */
async function isTaken(known: Known, wanted: Wanted): Promise<boolean> {
  const leftMsat = (await known.amountMsat) - known.takenMsat;
  const mostMsat = known.takenMsat === 0n ? leftMsat : leftMsat / LATER_SHARE;
  if (wanted.amountMsat > mostMsat) return false;
  take(known, wanted);
  return true;
}

function take(known: Known, { amountMsat, maxFeeMsat }: Wanted): void {
  known.takenMsat += amountMsat + maxFeeMsat;
}
