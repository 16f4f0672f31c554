import type { Log } from '../../lib/log.ts';
import type { UpdateBatch } from '../../nodes/node.ts';

/** A reading that is over sooner is not worth a line. */
const EVERY_MS = 5000;

/** Logs how far a feed has come that has much to catch up with. */
export class ReadProgress {
  readonly #log: Log;
  readonly #walletId: string;
  readonly #elapsedMs: () => number;
  #toldMs: number;
  #payments = 0;
  #isTold = false;
  #isOver = false;

  constructor(log: Log, walletId: string, elapsedMs: () => number) {
    this.#log = log;
    this.#walletId = walletId;
    this.#elapsedMs = elapsedMs;
    this.#toldMs = elapsedMs();
  }

  /** Must be called after each batch until the feed has caught up, when that is stored. */
  stored({ observations, caughtUp }: UpdateBatch): void {
    if (this.#isOver) return;
    this.#isOver = caughtUp;
    this.#payments += observations.length;
    if (caughtUp && this.#isTold) this.#tell("All of the node's payments are read.");
    else if (this.#elapsedMs() - this.#toldMs >= EVERY_MS) {
      this.#isTold = true;
      this.#toldMs = this.#elapsedMs();
      this.#tell("The node's payments are being read.");
    }
  }

  #tell(message: string): void {
    this.#log.info(message, { walletId: this.#walletId, payments: this.#payments });
  }
}
