import { once } from '../../../lib/once.ts';
import { amountInput } from '../../../model/amount.ts';
import { type ErrorName, rejected } from '../../../model/errors.ts';
import { paymentJson, type SendWords } from '../../../model/payment.ts';
import { type PaymentIndex, paymentIndexInput } from '../../../model/payment-index.ts';
import { type PaymentPrice, type Price, priceInput } from '../../../model/prices/price.ts';
import {
  addition,
  externalIdInput,
  noteInput,
  optionalAddition,
  personalNoteInput,
} from '../../../model/text.ts';
import { amountToPay } from '../../../wallet/read/prices.ts';
import { AMOUNT_OR_PRICE } from '../../body-rules.ts';
import { agree } from '../../input-comparison.ts';
import { sameAsInBody } from '../../query.ts';
import type { SessionContext } from '../../route.ts';

/** The errors of every call that pays over Lightning: services outside say what a name or a price is worth. */
export const PAY_ERRORS: readonly ErrorName[] = [
  'notFound',
  'overBudget',
  'timeout',
  'serviceFailed',
  'unsupported',
];

/** The request's own cap on routing fees (docs/decisions.md 48). */
export const maxFeeInput = once(() =>
  optionalAddition(
    amountInput(),
    'Largest routing fees in sats; else `--max-fee`: 1 %, at least 10 sats.',
  ),
);

/** The price of a body, in place of its amount (docs/decisions.md 197). */
export const priceToPayInput = (amount = 'amount') =>
  priceInput()
    .optional()
    .meta(addition(`In place of \`${amount}\`.`));

/** Returns what a body says that is paid, where it says one: its amount, or what its price is worth now. */
export async function amountGiven(
  { session, parts }: Pick<SessionContext, 'session' | 'parts'>,
  body: { readonly amount?: bigint | undefined; readonly price?: Price | undefined },
): Promise<{ readonly amountMsat: bigint | null; readonly price?: PaymentPrice }> {
  if (body.price) return amountToPay(session, parts.services.rates, body.price);
  return { amountMsat: body.amount ?? null };
}

/** {@link amountGiven} of a body that must say one. */
export async function requireAmountGiven(...asked: Parameters<typeof amountGiven>) {
  const { amountMsat, ...priced } = await amountGiven(...asked);
  if (amountMsat === null) throw rejected('amount', AMOUNT_OR_PRICE[2]);
  return { amountMsat, ...priced };
}

/** The members of a body that the wallet keeps with a payment for itself. */
export const ownWordsInput = () => ({
  personal_note: personalNoteInput().optional(),
  external_id: externalIdInput().optional(),
});

/** {@link ownWordsInput} of a payment that may be a refund (docs/decisions.md 194). */
export const sendWordsInput = () => ({
  ...ownWordsInput(),
  refund_of: optionalAddition(
    paymentIndexInput(),
    'Index of a received payment to refund, never beyond its amount in all.',
  ),
});

/** The members of a body that say what goes with a payment and what it may cost. */
export const termsInput = () => ({
  message: noteInput().optional().describe('Message to the receiver, if the method can carry one.'),
  ...sendWordsInput(),
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

interface BodyNotes extends Notes {
  readonly external_id?: string | undefined;
  readonly refund_of?: PaymentIndex | undefined;
}

/** Returns the notes of body and query, and the rest of the body's words. Throws error 7 where the two differ. */
export function agreedNotes(
  body: BodyNotes,
  query: Notes,
): SendWords & { readonly message: string | null } {
  return {
    message: agree('message', body.message, query.message) ?? null,
    personalNote: agree('personal_note', body.personal_note, query.personal_note) ?? null,
    externalId: body.external_id ?? null,
    refundOf: body.refund_of ?? null,
  };
}
