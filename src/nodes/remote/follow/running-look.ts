import { Ends, type FoundUpTo } from './found.ts';

/** The most pages that one look reads of a list. A node that always has another must not keep it from the others. */
export const MOST_PAGES = 1000;

/**
 * A look beside which the streams go on. It reads one page ahead of what was taken, so that the node reads while the
 * page before is stored, and memory holds two pages.
 */
export class RunningLook<Cursor> {
  /** What the node's streams ended since the look began. */
  readonly ends = new Ends();
  /** Resolves when a page can be taken, or the look is over or has failed. Never rejects. */
  next: Promise<void>;
  readonly #pages: AsyncGenerator<FoundUpTo<Cursor>>;
  #read: { readonly page: FoundUpTo<Cursor> | null } | { readonly error: unknown } | null = null;

  constructor(pages: AsyncGenerator<FoundUpTo<Cursor>>) {
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
  take(): FoundUpTo<Cursor> | null {
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
