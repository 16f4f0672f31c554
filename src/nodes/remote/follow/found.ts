import { idOf, isFinal } from '../../../model/payment.ts';
import type { Observation } from '../../node.ts';

/** What a stream or a look found at a node, and how far it has read, in the cursor of the node's kind. */
export interface FoundUpTo<Cursor> {
  readonly observations: readonly Observation[];
  readonly reached: Partial<Cursor>;
}

/**
 * The ends that a node has told of while a look was running. The node may have answered a page of the look before that,
 * so the page may show a payment as pending that is known to be over.
 */
export class Ends {
  readonly #over = new Set<string>();

  add(observations: readonly Observation[]): void {
    for (const seen of observations) if (isFinal(seen.payment)) this.#over.add(keyOf(seen));
  }

  /** The observations without those that show a payment as it was before its end. */
  withoutEarlier(observations: readonly Observation[]): readonly Observation[] {
    if (this.#over.size === 0) return observations;
    return observations.filter((seen) => isFinal(seen.payment) || !this.#over.has(keyOf(seen)));
  }
}

/** Each attempt to pay a hash ends for itself. */
function keyOf({ payment, attempt }: Observation): string {
  return `${payment.direction} ${idOf(payment)} ${attempt}`;
}
