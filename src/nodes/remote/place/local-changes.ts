import type { Observation } from '../../node.ts';

/** Passes changes that this process learns of by its own calls to the feed, if one is open. */
export class LocalChanges {
  readonly #listeners = new Set<LocalListener>();

  /** Calls the listener for each change until the returned function is called. */
  subscribe(listener: LocalListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Passes changed payments to the listeners. */
  publish(observations: readonly Observation[]): void {
    for (const { changed } of this.#listeners) changed(observations);
  }

  /** Asks the listeners to follow an invoice for a hash from now on. */
  followHold(hash: string): void {
    for (const { hold } of this.#listeners) hold?.(hash);
  }

  /** Asks the listeners to read the unfinished payments again, because one may have changed without a report. */
  requestLook(): void {
    for (const { look } of this.#listeners) look();
  }
}

/** Hears of such changes. */
export interface LocalListener {
  readonly changed: (observations: readonly Observation[]) => void;
  readonly look: () => void;
  /** Absent where the node tells of held payments by itself. */
  readonly hold?: (hash: string) => void;
}
