import { newestOf, type Page, pagesOf, secsOf } from '../reads/pages.ts';
import { attemptOf } from '../words/attempt.ts';
import type { FollowCursor, Found } from '../words/cursor.ts';
import { outboundObservation } from '../words/translate.ts';
import { listedPaymentShape, paymentShape } from '../words/wire.ts';
import { type Look, readRows } from './look.ts';

/** Where in LND's list of payments a row stands, in the cursor's words. */
type Place = Pick<FollowCursor, 'paymentIndex' | 'listed'>;

/**
 * Reads the outgoing payments after the cursor. An LND with native SQL uses a `payment_index` again: for a retry of the
 * newest payment, after payments were deleted, and for all when they are moved to it. So the list is read from the very
 * payment on at which the cursor stands, and from the beginning where another one stands there now, or none at all
 * (docs/decisions.md 150).
 */
export async function* newPayments(look: Look): AsyncGenerator<Found> {
  const { rest, cursor } = look;
  if (cursor.paymentIndex === 0) {
    yield* everyPayment(look);
    return;
  }
  let isFirst = true;
  for await (const page of pagesOf(rest, 'payments', { after: cursor.paymentIndex - 1 })) {
    if (isFirst && isNumberedAnew(page, cursor)) {
      yield* everyPayment(look);
      return;
    }
    const isKnown = isFirst && isSame(placeOf(page.rows[0]), cursor);
    isFirst = false;
    yield found(look, page, isKnown ? page.rows.slice(1) : page.rows);
  }
}

function isNumberedAnew({ rows }: Page, cursor: Place): boolean {
  if (rows.length === 0) return true;
  const { paymentIndex, listed } = placeOf(rows[0]);
  if (paymentIndex !== cursor.paymentIndex || listed === null || cursor.listed === null) {
    return false;
  }
  return listed.hash !== cursor.listed.hash;
}

function isSame({ paymentIndex, listed }: Place, cursor: Place): boolean {
  return (
    paymentIndex === cursor.paymentIndex &&
    listed !== null &&
    listed.hash === cursor.listed?.hash &&
    listed.attempt === cursor.listed.attempt
  );
}

/** Reads the list from its beginning; those that are known already are told again, and change nothing. */
async function* everyPayment(look: Look): AsyncGenerator<Found> {
  const { rest, sinceMs } = look;
  // Older sends that are not over are the first that LND tells on its stream.
  const query = sinceMs === null ? {} : { creation_date_start: secsOf(sinceMs) };
  const newest = sinceMs === null ? null : placeOf((await newestOf(rest, 'payments')).row);
  let reached = 0;
  let isWhole = false;
  for await (const page of pagesOf(rest, 'payments', { after: 0, query })) {
    ({ reached, isLast: isWhole } = page);
    yield found(look, page, page.rows);
  }
  if (isWhole && newest !== null && newest.paymentIndex > reached)
    yield { observations: [], reached: newest };
}

function found(look: Look, page: Page, rows: readonly unknown[]): Found {
  const nowMs = look.wallet.clock.now();
  const observations = readRows(look, rows, paymentShape, (one) => [
    outboundObservation(one, nowMs),
  ]);
  // An empty list after others does not move the cursor.
  if (page.rows.length === 0 && page.reached > 0) return { observations, reached: {} };
  const { paymentIndex, listed } = placeOf(page.rows.at(-1));
  const isLast = paymentIndex === page.reached;
  return {
    observations,
    reached: { paymentIndex: page.reached, listed: isLast ? listed : null },
  };
}

function placeOf(row: unknown): Place {
  const { data } = listedPaymentShape.safeParse(row);
  if (data === undefined) return { paymentIndex: 0, listed: null };
  const { payment_index: paymentIndex, payment_hash: hash } = data;
  return { paymentIndex, listed: { hash, attempt: attemptOf(data) } };
}
