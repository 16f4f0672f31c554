import { isFinal, isHeld } from '../../../model/payment.ts';
import type { Observation } from '../../node.ts';
import { asAllowed } from '../../remote/calls/if-allowed.ts';
import { lookUpInvoice } from '../lightning/invoices.ts';
import { trackedPayment } from '../lightning/payments.ts';
import { newestOf, pagesOf, secsOf } from '../reads/pages.ts';
import type { Found } from '../words/cursor.ts';
import { invoiceObservations, isOpenHold, outboundObservation } from '../words/translate.ts';
import { invoiceHashShape, invoiceShape, type LndInvoice } from '../words/wire.ts';
import { type Look, readRows } from './look.ts';
import { transactions } from './look-onchain.ts';
import { newPayments } from './look-payments.ts';

/** Up to this many invoices are looked up one by one; for more, the list of all open invoices is read. */
const FEW = 8;
/** Invoices that are looked up before what was found is passed on. */
const LOOKED_UP_AT_ONCE = 50;

/** Reads what changed. What the macaroon may not read is left out. */
export async function* reconcile(look: Look): AsyncGenerator<Found> {
  if (look.reads === 'due') {
    yield* asAllowed(ended(look, look.unfinished.takeDue(look.wallet.clock.now())));
    return;
  }
  if (look.reads === 'everyInvoice') look.unfinished.note(await look.open('all'));
  // What the lists show now need not be looked up at once.
  const invoices = look.unfinished.invoices();
  // A request may be waiting for the end of a send, and the lists may be long.
  yield* asAllowed(openSends(look, look.unfinished.sends()));
  yield* asAllowed(newInvoices(look));
  yield* asAllowed(newPayments(look));
  if (look.reads === 'everyInvoice') yield* asAllowed(noLongerOpen(look, invoices));
  yield* asAllowed(ended(look, look.unfinished.takeDue(look.wallet.clock.now())));
  yield* asAllowed(transactions(look));
}

async function* newInvoices(look: Look): AsyncGenerator<Found> {
  const { rest, cursor } = look;
  const bound = cursor.addIndex === 0 ? look.sinceMs : null;
  if (bound === null) {
    yield* invoicesOf(look, {});
    return;
  }
  const { index: newest } = await newestOf(rest, 'invoices');
  // Open invoices are followed however old they are. They come first: a read that is cut off goes on at the cursor.
  for await (const { observations } of invoicesOf(look, { pending_only: 'true' })) {
    yield { observations, reached: {} };
  }
  const isWhole = yield* invoicesOf(look, { creation_date_start: secsOf(bound) });
  if (isWhole) yield { observations: [], reached: { addIndex: newest } };
}

/** Reads new invoices, and returns whether that was all of them. */
async function* invoicesOf(
  look: Look,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<Found, boolean> {
  const { rest, wallet, cursor } = look;
  let isWhole = false;
  for await (const page of pagesOf(rest, 'invoices', { after: cursor.addIndex, query })) {
    let settleIndex = 0;
    const nowMs = wallet.clock.now();
    const observations = readRows(look, page.rows, invoiceShape, (invoice) => {
      noteHold(look, invoice);
      const seen = invoiceObservations(invoice, nowMs);
      settleIndex = Math.max(settleIndex, invoice.settle_index);
      return seen;
    });
    isWhole = page.isLast;
    yield { observations, reached: { addIndex: page.reached, settleIndex } };
  }
  return isWhole;
}

/** Looks up those of the invoices that LND does not list as open any more, and passes on those that are held. */
async function* noLongerOpen(look: Look, invoices: readonly string[]): AsyncGenerator<Found> {
  const gone = new Set(invoices);
  if (gone.size > FEW) {
    const query = { pending_only: 'true' };
    for await (const { rows } of pagesOf(look.rest, 'invoices', { after: 0, query })) {
      for (const hash of readRows(look, rows, invoiceHashShape, ({ r_hash }) => [r_hash])) {
        gone.delete(hash);
      }
      yield { observations: rows.flatMap((row) => heldObservations(look, row)), reached: {} };
    }
  }
  yield* ended(look, [...gone]);
}

/** What a row of LND's list of open invoices says of a hold invoice; nothing for every other invoice. */
function heldObservations(look: Look, row: unknown): Observation[] {
  const { success, data: invoice } = invoiceShape.safeParse(row);
  if (!success || !isOpenHold(invoice)) return [];
  noteHold(look, invoice);
  const seen = invoiceObservations(invoice, look.wallet.clock.now());
  return seen.filter(({ payment }) => isHeld(payment));
}

function noteHold({ holds }: Look, invoice: LndInvoice): void {
  if (isOpenHold(invoice)) holds.follow(invoice.r_hash);
}

/** Looks invoices up, and passes on those that are over or held. */
async function* ended(look: Look, hashes: readonly string[]): AsyncGenerator<Found> {
  const { rest, wallet } = look;
  for (let from = 0; from < hashes.length; from += LOOKED_UP_AT_ONCE) {
    const observations: Observation[] = [];
    for (const hash of hashes.slice(from, from + LOOKED_UP_AT_ONCE)) {
      const invoice = await lookUpInvoice(rest, hash);
      if (invoice === null) continue;
      noteHold(look, invoice);
      const seen = invoiceObservations(invoice, wallet.clock.now());
      observations.push(...seen.filter(({ payment }) => isFinal(payment) || isHeld(payment)));
    }
    yield { observations, reached: {} };
  }
}

async function* openSends(
  { rest, wallet }: Look,
  hashes: readonly string[],
): AsyncGenerator<Found> {
  for (const hash of hashes) {
    if (wallet.sending.has(hash)) continue;
    const known = await trackedPayment(rest, hash);
    if (known === null) continue;
    yield { observations: [outboundObservation(known, wallet.clock.now())], reached: {} };
  }
}
