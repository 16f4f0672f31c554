import type { Found } from './found.ts';
import { Ends } from './found.ts';

/**
 * A look beside which the streams go on. It reads one page ahead of what was taken, so that LND reads while the page
 * before is stored, and memory holds two pages.
 */
export class RunningLook {
  /** What LND's streams ended since the look began. */
  readonly ends = new Ends();
  /** Resolves when a page can be taken, or the look is over or has failed. Never rejects. */
  next: Promise<void>;
  readonly #pages: AsyncGenerator<Found>;
  #read: { readonly page: Found | null } | { readonly error: unknown } | null = null;

  constructor(pages: AsyncGenerator<Found>) {
    this.#pages = pages;
    this.next = this.#readNext();
  }

  get isOver(): boolean {
    return this.#read !== null && 'page' in this.#read && this.#read.page === null;
  }

  /**
   * Takes the page that was read and begins to read the next one; null where none was read yet or the look is over.
   * Throws the error that ended the look.
   */
  take(): Found | null {
    const read = this.#read;
    if (read === null) return null;
    if ('error' in read) throw read.error;
    if (read.page === null) return null;
    this.#read = null;
    this.next = this.#readNext();
    const { observations, reached } = read.page;
    return { observations: this.ends.withoutEarlier(observations), reached };
  }

  /** Ends the look. What it reads at this moment is not used. */
  drop(): void {
    void this.#pages.return(undefined).catch(() => undefined);
  }

  async #readNext(): Promise<void> {
    try {
      const { done, value } = await this.#pages.next();
      this.#read = { page: done ? null : value };
    } catch (error) {
      this.#read = { error };
    }
  }
}
