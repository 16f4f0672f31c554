import type { Log } from '../../lib/log.ts';
import { ApiError } from '../../model/errors.ts';

interface Teller {
  readonly userPk: string;
  readonly log: Log;
  /** Tells health, in a sentence. */
  readonly unfit: (problem: string) => void;
}

/**
 * Requires that what the node answered is what it was asked for; `misfit` says what is not, after "The node", and is
 * null when all is. Otherwise health and log say so, and `unreadable` (error 5) is thrown. Must be called before
 * anything is stored or handed out (docs/decisions.md 160).
 */
export function requireFit(teller: Teller, misfit: string | null): void {
  if (misfit !== null) rejectUnfit(teller, misfit);
}

/** {@link requireFit} for what is known not to fit. */
export function rejectUnfit({ unfit, userPk, log }: Teller, misfit: string): never {
  const problem = `The node ${misfit}.`;
  log.error('The node answered something else than it was asked for: it is not handed out.', {
    walletId: userPk,
    problem,
  });
  unfit(problem);
  throw new ApiError(
    'unreadable',
    `${problem} Nothing was handed out: check the node before you ask again.`,
  );
}
