import { once } from '../../lib/once.ts';
import { amountInput } from '../../model/amount.ts';
import type { ErrorName } from '../../model/errors.ts';
import { noteInput } from '../../model/text.ts';

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
  noteInput()
    .optional()
    .meta({ description: 'Message to the receiver, if the method can carry one.' }),
);
