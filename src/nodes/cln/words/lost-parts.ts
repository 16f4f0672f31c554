import { z } from 'zod';
import type { ConnectorRows } from '../../remote-kind.ts';
import type { SendAttempt, SendPart } from './translate.ts';
import type { ClnSendpay } from './wire.ts';

/**
 * For how long parts must have been pending, without a change, before each of the two looks that show them as lost.
 * lightningd ends a part within 30 seconds that no channel takes (`htlc_offer_timeout` in lightningd/peer_htlcs.c).
 */
const STILL_MS = 5 * 60_000;
/** How soon parts are looked at again while no block has come between. */
const AGAIN_MS = 60_000;
/** How soon parts are looked at again of which no channel tells, and which may have been in one that is closed. */
const UNCERTAIN_AGAIN_MS = 60 * 60_000;

/** The row in which the lost parts of a wallet are kept, the newest last. */
const ROW = { kind: 'cln_lost', key: 'parts' } as const;
const rowShape = z.object({ parts: z.array(z.string()) });
/** How many are kept. A part is lost only where lightningd is killed in the very moment in which it pays. */
const MOST_KEPT = 1000;

/** The pending parts of a hash. Times are of the monotonic clock. */
interface Watched {
  readonly parts: readonly string[];
  readonly dueAtMs: number;
  /** The height of the chain when no channel had them for the first time; null before. */
  readonly missedAtHeight: number | null;
  readonly isUncertain: boolean;
}

/**
 * Knows which parts of payments the node has lost (docs/decisions.md 169). Killed after it has written down a part and
 * before a channel has it, lightningd lists the part as pending for ever. `findLost` looks for such parts.
 */
export class LostParts {
  readonly #elapsedMs: () => number;
  readonly #rows: ConnectorRows;
  readonly #userPk: string;
  readonly #watched = new Map<string, Watched>();
  /** Null until the row was read. */
  #lost: ReadonlySet<string> | null = null;

  /** `elapsedMs` is a monotonic clock; `userPk` names the wallet whose row is kept. */
  constructor(elapsedMs: () => number, rows: ConnectorRows, userPk: string) {
    this.#elapsedMs = elapsedMs;
    this.#rows = rows;
    this.#userPk = userPk;
  }

  /** The parts, with those marked that are lost: they count as failed. One that is not pending any more is not lost. */
  async marked(parts: readonly ClnSendpay[]): Promise<readonly SendPart[]> {
    if (!parts.some(isPending)) return parts;
    const lost = await this.#known();
    return parts.map((part) =>
      isPending(part) && lost.has(nameOf(part))
        ? { ...part, status: 'failed', isLost: true }
        : part,
    );
  }

  /** Must be called with all attempts of a hash that the node shows, as {@link marked} returned their parts. */
  shown(hash: string, attempts: readonly SendAttempt[]): void {
    const parts = pendingOf(attempts.flatMap((attempt) => attempt.parts));
    if (parts.length === 0) this.#watched.delete(hash);
    else if (!isSame(this.#watched.get(hash)?.parts, parts)) this.#watch(hash, parts);
  }

  /** The hashes whose pending parts are to be looked for in the channels. */
  due(): string[] {
    const nowMs = this.#elapsedMs();
    return [...this.#watched].flatMap(([hash, { dueAtMs }]) => (dueAtMs <= nowMs ? [hash] : []));
  }

  /** In how many milliseconds a hash is due; infinite when none is watched. */
  get dueInMs(): number {
    const times = [...this.#watched.values()].map(({ dueAtMs }) => dueAtMs);
    return Math.min(...times, Number.POSITIVE_INFINITY) - this.#elapsedMs();
  }

  onItsWay(hash: string): void {
    const watched = this.#watched.get(hash);
    if (watched) this.#watch(hash, watched.parts);
  }

  /** Notes that no channel has a part. Returns whether that was so at a lower height, and for long enough. */
  missed(hash: string, height: number): boolean {
    const before = this.#watched.get(hash)?.missedAtHeight ?? null;
    const isFirst = before === null;
    this.#change(hash, isFirst ? STILL_MS : AGAIN_MS, { missedAtHeight: before ?? height });
    return !isFirst && height > before;
  }

  /** Notes that the parts may be paid although no channel has them. Returns whether that is new. */
  uncertain(hash: string): boolean {
    const isNew = this.#watched.get(hash)?.isUncertain === false;
    this.#change(hash, UNCERTAIN_AGAIN_MS, { isUncertain: true });
    return isNew;
  }

  /** Notes that a hash could not be looked for. */
  postpone(hash: string): void {
    this.#change(hash, AGAIN_MS, {});
  }

  /** Whether there are parts that no channel has and that may be paid all the same. */
  get areUncertain(): boolean {
    return [...this.#watched.values()].some(({ isUncertain }) => isUncertain);
  }

  /** Whether these are the pending parts of the hash that were looked for. */
  areWatched(hash: string, parts: readonly ClnSendpay[]): boolean {
    return isSame(this.#watched.get(hash)?.parts, pendingOf(parts));
  }

  /** Keeps that the pending ones of these parts are lost. They are marked as soon as this resolves. */
  async confirm(parts: readonly ClnSendpay[]): Promise<void> {
    const all = [...new Set([...(await this.#known()), ...pendingOf(parts)])].slice(-MOST_KEPT);
    await this.#rows.put(this.#userPk, ROW.kind, ROW.key, { parts: all });
    this.#lost = new Set(all);
  }

  async #known(): Promise<ReadonlySet<string>> {
    if (this.#lost !== null) return this.#lost;
    const row = (await this.#rows.get(this.#userPk, ROW.kind, ROW.key)) ?? null;
    this.#lost ??= new Set(row === null ? [] : rowShape.parse(row).parts);
    return this.#lost;
  }

  #watch(hash: string, parts: readonly string[]): void {
    const dueAtMs = this.#elapsedMs() + STILL_MS;
    this.#watched.set(hash, { parts, dueAtMs, missedAtHeight: null, isUncertain: false });
  }

  #change(hash: string, inMs: number, change: Partial<Watched>): void {
    const watched = this.#watched.get(hash);
    if (watched === undefined) return;
    this.#watched.set(hash, { ...watched, dueAtMs: this.#elapsedMs() + inMs, ...change });
  }
}

function isPending({ status }: Pick<ClnSendpay, 'status'>): boolean {
  return status === 'pending';
}

function pendingOf(parts: readonly ClnSendpay[]): string[] {
  return parts.filter(isPending).map(nameOf);
}

/** The number of a row is the node's own. With hash and time it is no other's, even in an older database. */
function nameOf({ payment_hash, created_index, created_at }: ClnSendpay): string {
  return `${payment_hash} ${created_index} ${created_at}`;
}

function isSame(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a !== undefined && a.length === b.length && a.every((name, at) => name === b[at]);
}
