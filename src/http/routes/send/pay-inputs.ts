import { once } from '../../../lib/once.ts';
import { amountInput } from '../../../model/amount.ts';
import type { ErrorName } from '../../../model/errors.ts';
import { noteInput } from '../../../model/text.ts';
import { agree } from '../../input-comparison.ts';
import { sameAsInBody } from '../../query.ts';

/** The errors of every Lightning payment. */
export const PAY_ERRORS: readonly ErrorName[] = ['overBudget', 'timeout'];

/** The errors of pay operations that may call an outside service. */
export const OUTSIDE_PAY_ERRORS: readonly ErrorName[] = [...PAY_ERRORS, 'serviceFailed'];

/** The request's own cap on routing fees (docs/decisions.md 48). */
export const maxFeeInput = once(() =>
  amountInput().optional().meta({
    description:
      'The largest routing fees in sats. Without it the limit of the sidecar holds: `--max-fee`, or 1 % and never less than 10 sats.',
    addition: true,
  }),
);

/** A message to the receiver. */
export const messageInput = once(() =>
  noteInput().optional().describe('Message to the receiver, if the method can carry one.'),
);

/** The private note of a payment, which may stand in the query as well (docs/decisions.md 165). */
export const noteQuery = () => ({ personal_note: sameAsInBody(noteInput()) });

/** Message and private note of a payment, which may stand in the query as well (docs/decisions.md 165). */
export const notesQuery = () => ({ message: sameAsInBody(noteInput()), ...noteQuery() });

interface Notes {
  readonly message?: string | undefined;
  readonly personal_note?: string | undefined;
}

/** Returns the notes of body and query. Throws error 7 where the two differ. */
export function agreedNotes(
  body: Notes,
  query: Notes,
): { readonly message: string | null; readonly personalNote: string | null } {
  return {
    message: agree('message', body.message, query.message) ?? null,
    personalNote: agree('personal_note', body.personal_note, query.personal_note) ?? null,
  };
}
