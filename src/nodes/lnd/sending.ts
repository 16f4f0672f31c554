import type { Observation } from '../node.ts';

/**
 * The payment hashes that this process is asking LND to pay. While a request has no answer nobody knows whether what
 * LND tells of its hash is about that request or another program's, and the row of the payment would take it for its
 * own. So it is withheld until the answer says so, which takes some milliseconds (docs/decisions.md 154).
 */
export class Sending {
  readonly #asked = new Map<string, { readonly requests: number; readonly hasWithheld: boolean }>();
  readonly #followed = new Set<string>();

  /** Must be called before a request leaves. */
  ask(hash: string): void {
    const { requests, hasWithheld } = this.#asked.get(hash) ?? { requests: 0, hasWithheld: false };
    this.#asked.set(hash, { requests: requests + 1, hasWithheld });
  }

  /** Whether an observation must be left out now. */
  withholds({ payment: { direction, hash } }: Observation): boolean {
    if (direction !== 'outbound' || hash === null) return false;
    const asked = this.#asked.get(hash);
    if (asked === undefined) return false;
    this.#asked.set(hash, { ...asked, hasWithheld: true });
    return true;
  }

  /** Must be called with each request's answer. Returns whether something was left out that is to be looked up now. */
  answered(hash: string): boolean {
    const { requests, hasWithheld } = this.#asked.get(hash) ?? { requests: 1, hasWithheld: false };
    if (requests > 1) {
      this.#asked.set(hash, { requests: requests - 1, hasWithheld });
      return false;
    }
    this.#asked.delete(hash);
    return hasWithheld;
  }

  /** Must be called when this process begins to read from its own request's answer what becomes of the payment. */
  follow(hash: string): void {
    this.#followed.add(hash);
  }

  /** Must be called when that answer has ended. */
  unfollow(hash: string): void {
    this.#followed.delete(hash);
  }

  /** Whether the payment need not be looked up. */
  has(hash: string): boolean {
    return this.#asked.has(hash) || this.#followed.has(hash);
  }
}
