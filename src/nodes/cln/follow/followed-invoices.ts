import { isFinal, type Payment } from '../../../model/payment.ts';
import type { Observation } from '../../node-observations.ts';
import { asEnded, canceledInvoice } from '../lightning/canceled-invoices.ts';
import { isListed } from '../lightning/invoices.ts';
import { inBatches } from '../reads/in-batches.ts';
import { type Found, positionAt, positionIn } from '../words/cursor.ts';
import { inboundObservation } from '../words/translate.ts';
import { invoiceShape, invoicesShape } from '../words/wire.ts';
import type { FollowedList, Look } from './look.ts';
import { newRows, tipOfLook } from './pages.ts';

const NAME = 'invoices';

/** The incoming Lightning payments of a wallet. */
export const INVOICES: FollowedList = {
  name: NAME,
  // Most new invoices were made by the sidecar and are stored already, and everybody who knows an offer can make
  // others.
  orders: { created: 'soon', updated: 'now', deleted: 'soon' },
  async *read(look) {
    yield* newRows(look, {
      name: NAME,
      rows: async (rpc, page) => (await rpc.list('listinvoices', page, invoicesShape)).invoices,
      observe: async (from, rows, { sinceMs }) => observations(from, rows, sinceMs),
    });
    yield* deleted(look);
  },
};

function observations(
  { wallet, log }: Look,
  rows: readonly unknown[],
  sinceMs: number | null,
): Observation[] {
  const nowMs = wallet.clock.now();
  return wallet.oddRows
    .read(rows, { shape: invoiceShape, log, use: (row) => inboundObservation(row, nowMs) })
    .filter((seen) => seen !== null)
    .filter(
      ({ payment }) => sinceMs === null || !isFinal(payment) || payment.createdAtMs >= sinceMs,
    );
}

/** Finds the open invoices that the node has deleted. Their rows are gone, so only the number of deletions tells. */
async function* deleted(look: Look): AsyncGenerator<Found> {
  const { cursor, open } = look;
  const tip = await tipOfLook(look, NAME, 'deleted');
  if (tip === null ? !look.withOpen : tip === positionIn(cursor, NAME, 'deleted')) return;
  const known = (await open('all')).filter(
    ({ direction, rail }) => direction === 'inbound' && rail === 'invoice',
  );
  for await (const ended of inBatches(known, (payment) => endedUnlisted(look, payment))) {
    yield { observations: ended.filter((seen) => seen !== null), reached: {} };
  }
  if (tip !== null) yield { observations: [], reached: positionAt(NAME, 'deleted', tip) };
}

/** The end of an open invoice that the node does not list; null where it does. */
async function endedUnlisted({ rpc, wallet }: Look, payment: Payment): Promise<Observation | null> {
  const { hash } = payment;
  if (hash === null || (await isListed(rpc, hash))) return null;
  return (await canceledInvoice(wallet, hash)) ?? deletedByOthers(payment, wallet.clock.now());
}

/** An open invoice that another program has deleted: nobody can pay it any more. */
function deletedByOthers(payment: Payment, nowMs: number): Observation {
  const { expiresAtMs } = payment;
  const seen = { payment, attempt: null };
  return expiresAtMs !== null && expiresAtMs <= nowMs
    ? asEnded(seen, 'expired', expiresAtMs)
    : asEnded(seen, 'canceled', nowMs);
}
