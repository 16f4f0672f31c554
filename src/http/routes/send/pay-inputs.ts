import { once } from '../../../lib/once.ts';
import { amountInput } from '../../../model/amount.ts';
import type { ErrorName } from '../../../model/errors.ts';
import { paymentJson } from '../../../model/payment.ts';
import { noteInput, personalNoteInput } from '../../../model/text.ts';
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

/** The members of a body that say what goes with a payment and what it may cost. */
export const termsInput = () => ({
  message: noteInput().optional().describe('Message to the receiver, if the method can carry one.'),
  personal_note: personalNoteInput().optional(),
  max_fee: maxFeeInput(),
});

/** The private note of a payment, which may stand in the query as well (docs/decisions.md 165). */
export const noteQuery = () => ({ personal_note: sameAsInBody(noteInput()) });

/** Message and private note of a payment, which may stand in the query as well (docs/decisions.md 165). */
export const notesQuery = () => ({ message: sameAsInBody(noteInput()), ...noteQuery() });

/** What every route that pays says alike. */
export const PAYS = { response: paymentJson, movesMoney: true, answersAccepted: 'always' } as const;

/** {@link PAYS} of a route that reads message and private note from the query too, as versions up to 0.2.0 did not. */
export const PAYS_WITH_NOTES = { ...PAYS, query: notesQuery, queryIsNew: true } as const;

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
