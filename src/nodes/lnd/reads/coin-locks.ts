import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Payment } from '../../../model/payment.ts';
import { idOfIndex } from '../../../model/payment-index.ts';

/** The id under which LND itself locks coins, for every program (`chanfunding.LndInternalLockID`). */
export const LND_LOCK_ID = 'ede19a92ed321a4705f8a1cccc1d4f6182545d4bb4fae08bd5937831b7e38f98';
/** Milliseconds for which a lost lock is looked for: longer than a late request and its lock last together. */
const LOOKED_FOR_MS = 12 * 60_000;
const MARK_BYTES = 8;

/**
 * The ids of the locks on a wallet's coins, and whether some may be lost: held for a send that is not there any more.
 * An id follows from the payment's id and carries a mark of this installation, so that a lost lock is found at LND
 * (docs/decisions.md 152).
 */
export class CoinLocks {
  readonly #elapsedMs: () => number;
  readonly #mark: string;
  readonly #kept = new Set<string>();
  /** An earlier process may have lost locks just before this one started. */
  #lookUntilMs: number;
  #untold = false;

  /** `mark` is the id of the installation; `elapsedMs` a monotonic time. */
  constructor(mark: string, elapsedMs: () => number) {
    this.#mark = mark;
    this.#elapsedMs = elapsedMs;
    this.#lookUntilMs = elapsedMs() + LOOKED_FOR_MS;
  }

  /** The id, hex, of the locks for a send: the same for each request with that client_payment_id. */
  idOf({ index }: Pick<Payment, 'index'>): string {
    const own = this.#digest(` ${idOfIndex(index)}`).subarray(MARK_BYTES);
    return hex.encode(concatBytes(this.#ownMark(), own));
  }

  /** Whether this installation made the id. */
  owns(id: string): boolean {
    return id.startsWith(hex.encode(this.#ownMark()));
  }

  /** Must be called before coins are locked for a send, which the store shows only once signed; see {@link letGo}. */
  keep(id: string): void {
    this.#kept.add(id);
  }

  /** Must be called when a send is published or given up: from then on the store alone says whether it is there. */
  letGo(id: string): void {
    this.#kept.delete(id);
  }

  get kept(): readonly string[] {
    return [...this.#kept];
  }

  /** Whether locks that nobody needs may be at LND. */
  get mayBeLost(): boolean {
    return this.#elapsedMs() < this.#lookUntilMs;
  }

  /** Must be called when coins may be locked, or be locked soon, for a send that is given up. */
  lost(): void {
    this.#lookUntilMs = this.#elapsedMs() + LOOKED_FOR_MS;
  }

  /** {@link lost} under LND's own id, by which nobody can tell whose locks they are. */
  lostUnderLndId(): void {
    this.#untold = true;
  }

  /** Returns once whether a lock under LND's own id was lost. */
  takeUntold(): boolean {
    const untold = this.#untold;
    this.#untold = false;
    return untold;
  }

  #ownMark(): Uint8Array {
    return this.#digest('').subarray(0, MARK_BYTES);
  }

  #digest(what: string): Uint8Array {
    return sha256(utf8ToBytes(`wallet-sidecar coins ${this.#mark}${what}`));
  }
}
