import { sleep } from './sleep.ts';

/** A pause between two attempts that may be cut short. */
export class Rest {
  #over = new AbortController();

  /** Waits that long, or until {@link end} is called or `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#over = new AbortController();
    return sleep(ms, AbortSignal.any([signal, this.#over.signal]));
  }

  /** Ends the present wait; does nothing when there is none. */
  end(): void {
    this.#over.abort();
  }
}
