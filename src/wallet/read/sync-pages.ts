/** How long storing a page should take: a request that arrives meanwhile waits for it. */
const PAGE_MS = 6;
/** A commit costs a flush to the disk, so fewer are not worth one. */
const FEWEST = 100;
/** This bounds memory, and what a page costs that is read from the node. */
const MOST = 200;

/**
 * How many payments a sync reads and stores at a time. Other requests are served between two pages, so the size follows
 * from the time that pages take (docs/decisions.md 88).
 */
export class PageSize {
  #payments = FEWEST;

  /** The size of the next page. */
  get payments(): number {
    return this.#payments;
  }

  /** Notes how long storing a page took. One that was held up by other work halves the size at most, by the bounds. */
  took(payments: number, ms: number): void {
    const fitting = Math.round((payments * PAGE_MS) / ms);
    this.#payments = Math.min(Math.max(fitting, FEWEST), MOST);
  }
}
