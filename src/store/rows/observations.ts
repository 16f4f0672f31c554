import { idOf, isAwaitingApproval, isFinal, type Payment } from '../../model/payment.ts';
import { hiddenPayment } from '../hidden-payment.ts';
import type {
  EndpointFilter,
  GaveWay,
  JournalRow,
  ObservationRules,
  ObservationStore,
  ObservedPayment,
} from '../ports.ts';
import type { IssuedOfferRows } from './issued-offers.ts';
import type { JournalWriter } from './journal.ts';
import type { NameInvoiceRows } from './names.ts';
import type { ObservedRows, ObservedRowsOf } from './observed-rows.ts';
import type { RowDatabase, Rows } from './rows.ts';
import type { SpendParts } from './spends.ts';
import { type Steps, send, together } from './steps.ts';

/** The tables that an observation's transaction touches. */
interface ObservationParts extends Omit<SpendParts, 'budgets' | 'clients' | 'made'> {
  readonly observed: ObservedRowsOf;
  readonly nameInvoices: NameInvoiceRows;
  readonly offers: IssuedOfferRows;
}

/** Returns the {@link ObservationStore}. */
export function observationStore(
  db: RowDatabase,
  rows: Rows,
  parts: ObservationParts,
): ObservationStore {
  const { forms } = rows;
  const cursorColumn = forms.nameOf('feed_cursor', 'cursor');
  const stored = (cursor: string | null) => forms.write('feed_cursor', ['cursor'], { cursor });
  const readCursor = rows.prepare(
    `SELECT ${cursorColumn} FROM wallet_sidecar.feed_cursor WHERE wallet = ?`,
  );
  const insertCursor = `INSERT INTO wallet_sidecar.feed_cursor (wallet, ${cursorColumn}) VALUES (?, ?)`;
  const any = (table: string) => `EXISTS (SELECT 1 FROM wallet_sidecar.${table} WHERE wallet = ?1)`;
  const holding = rows.prepare<Holding>(
    `SELECT ${any('watch')} AS watches, ${any('spend')} AS spends, ${any('spending')} AS spending,
       ${any('name_invoice')} AS names`,
  );
  const startCursor = rows.prepare(`${insertCursor} ON CONFLICT DO NOTHING`);
  const moveCursor = rows.prepare(
    `${insertCursor} ON CONFLICT (wallet) DO UPDATE SET ${cursorColumn} = excluded.${cursorColumn}`,
  );
  return {
    async cursor(walletId) {
      const raw = await db.read(() => readCursor.one(walletId));
      return raw ? (forms.other('feed_cursor', raw, 'cursor') as string | null) : undefined;
    },
    startAt: (walletId, cursor) =>
      db.write(walletId, function* () {
        yield* startCursor.run(walletId, ...stored(cursor));
      }),
    apply: (walletId, { observations, watches = [], cursor, journaled, nowMs }, rules) =>
      db.write(walletId, function* () {
        const [observed, journal, held] = yield* together([
          parts.observed(walletId, observations, journaled),
          journaled && parts.journal.writer(walletId),
          observations.length >= LONG_BATCH && holding.one(walletId),
          ...watches.map((watch) => parts.watches.add(walletId, watch)),
        ]);
        const batch = { holding: held || ALL, walletId, observed, journal, nowMs, rules, parts };
        const changed: Payment[] = [];
        const gaveWay: GaveWay[] = [];
        let deliveries = 0;
        for (const seen of observations) {
          const applied = yield* applyOne(batch, seen);
          if (applied.changed) changed.push(applied.changed);
          if (applied.gaveWay) gaveWay.push(applied.gaveWay);
          deliveries += applied.deliveries;
        }
        if (cursor !== null) yield* send(moveCursor.run(walletId, ...stored(cursor)));
        return { changed, deliveries, gaveWay };
      }),
  };
}

/** Whether the wallet has any rows that the end of a payment removes. */
interface Holding {
  readonly watches: boolean;
  readonly spends: boolean;
  readonly spending: boolean;
  readonly names: boolean;
}

/** A batch of so many is asked once what the wallet has; in a shorter one each payment is looked for. */
const LONG_BATCH = 20;
const ALL: Holding = { watches: true, spends: true, spending: true, names: true };

interface Batch {
  readonly holding: Holding;
  readonly walletId: string;
  readonly observed: ObservedRows;
  /** False where the node keeps the history. */
  readonly journal: JournalWriter | false;
  readonly nowMs: number;
  readonly rules: ObservationRules;
  readonly parts: ObservationParts;
}

interface Applied {
  readonly changed: Payment | null;
  readonly gaveWay: GaveWay | null;
  readonly deliveries: number;
}

function* applyOne(batch: Batch, seen: ObservedPayment): Steps<Applied> {
  const { walletId, observed, journal, rules, parts } = batch;
  const match = rules.match(observed.candidates(seen), seen);
  // What waits for approval is the wallet's own word as well, which a node with a history has kept for it.
  const isOwnWord = seen.ownWord || isAwaitingApproval(seen.payment);
  const isShown = match !== null && !isOwnWord;
  const row = isShown ? { ...match, attempt: match.attempt ?? seen.attempt } : match;
  const next = rules.transition(row?.payment ?? null, seen) ?? hiddenPayment(row);
  // The spend of a payment that is final now is removed below.
  if (isShown && !(next && isFinal(next))) yield* markShown(batch, match, seen.attempt);
  if (!next) {
    // The node has shown this row's attempt, although the rules reject what it says of it.
    if (row && row.attempt !== match?.attempt) yield* storeAttempt(batch, row);
    const gaveWay = row && (yield* giveWay(batch, seen, row, row.payment));
    if (row === null || !isFinal(row.payment)) return { changed: null, gaveWay, deliveries: 0 };
    if (gaveWay) {
      return { changed: null, gaveWay, deliveries: yield* finalize(batch, row.payment) };
    }
    const { index, direction } = row.payment;
    // A repeat of the request may have added the watch again.
    if (observed.isWatched(index)) {
      yield* send(parts.watches.endPayment(walletId, index, direction === 'inbound'));
    }
    return { changed: null, gaveWay, deliveries: 0 };
  }
  const payment = journal ? yield* record(batch, journal, row, next, seen) : next;
  const gaveWay = yield* giveWay(batch, seen, row, payment);
  const deliveries = isFinal(payment)
    ? yield* finalize(batch, payment)
    : yield* announceMilestone(batch, payment);
  return { changed: payment, gaveWay, deliveries };
}

/** See {@link ObservationStore.apply}. Null where no spend gives way to the payment. */
function* giveWay(
  { walletId, rules, parts, observed }: Batch,
  { answers }: ObservedPayment,
  row: JournalRow | null,
  to: Payment,
): Steps<GaveWay | null> {
  if (answers === undefined || (!answers.isTaken && answers.index === to.index)) return null;
  const { index: from } = answers;
  const spend = yield* parts.spends.get(walletId, from);
  // A spend that is over gives way only where its own row took the attempt of the other program.
  if (spend === null && from !== to.index) return null;
  const key = spend?.idempotencyKey ?? null;
  const refundOf = (spend ?? row)?.payment.refundOf ?? null;
  yield* together([
    parts.spending.undo(walletId, from, rules.periodStart),
    parts.refunds.settle(walletId, { ...to, index: from, refundOf, status: 'failed' }),
    parts.spends.remove(walletId, from),
    parts.fetched.remove(walletId, from),
    spend !== null &&
      key !== null &&
      parts.keys.unbind({ walletId, caller: spend.caller, key }, from),
  ]);
  observed.shown(from);
  if (from === to.index) return { from, to };
  if (yield* parts.watches.endPayment(walletId, from, false)) {
    yield* parts.watches.add(walletId, { kind: 'payment', index: to.index });
  }
  yield* parts.journal.giveWay(walletId, from, to.index);
  return { from, to };
}

/** Stores that the node has shown the spend of this row. */
function* markShown(
  { observed, parts }: Batch,
  { payment: { index } }: JournalRow,
  attempt: number | null,
): Steps<void> {
  const spend = observed.unshown(index);
  if (spend === null) return;
  yield* send(parts.spends.known(spend, attempt));
  if (attempt !== null) observed.shown(index);
}

/** Stores the attempt of a row that is not written otherwise. */
function* storeAttempt({ walletId, observed, parts }: Batch, row: JournalRow): Steps<void> {
  yield* send(parts.journal.setAttempt(walletId, row));
  observed.put(row);
}

function* record(
  { walletId, observed, nowMs, rules, parts }: Batch,
  writer: JournalWriter,
  row: JournalRow | null,
  next: Payment,
  seen: ObservedPayment,
): Steps<Payment> {
  const changed = row
    ? { ...row, payment: next, isHidden: false }
    : {
        payment: rules.atFreeIndex(yield* withIdOfOffer(walletId, parts, next), observed.isTaken),
        attempt: seen.attempt,
        afterAttempt: null,
      };
  const { payment, stored } = writer.put(changed, Math.min(nowMs, seen.payment.updatedAtMs));
  yield* send(stored);
  observed.put({ ...changed, payment });
  return payment;
}

/** A payment without a row, with the id that the wallet keeps for what arrives on its offer. */
function* withIdOfOffer(
  walletId: string,
  { offers }: ObservationParts,
  payment: Payment,
): Steps<Payment> {
  const { direction, offerId } = payment;
  if (direction !== 'inbound' || offerId === null) return payment;
  const kept = yield* offers.get(walletId, offerId);
  return { ...payment, externalId: kept?.externalId ?? null };
}

function* finalize(batch: Batch, payment: Payment): Steps<number> {
  const { holding, walletId, observed, rules, parts } = batch;
  const { watches, spending, refunds, spends, fetched, nameInvoices, endpoints } = parts;
  const { index } = payment;
  const costMsat = rules.costMsat(payment);
  const isInbound = payment.direction === 'inbound';
  const mayBeWatched = holding.watches && observed.isWatched(index);
  observed.end(index);
  const others = rules.watchesOf(payment).filter(({ kind }) => kind !== 'payment');
  const [isWatched, areOthers, hears] = yield* together([
    holding.watches && watches.endPayment(walletId, index, isInbound),
    holding.watches && watches.hasAny(walletId, others),
    mayBeWatched && endpoints.list(walletId),
    holding.spending &&
      costMsat !== null &&
      spending.close(walletId, index, costMsat, rules.periodStart),
    payment.refundOf !== null && refunds.settle(walletId, payment),
    holding.spends && !isInbound && spends.remove(walletId, index),
    // Of a completed payment it is kept, for payer proofs.
    payment.status === 'failed' && fetched.remove(walletId, index),
    holding.names && isInbound && nameInvoices.remove(walletId, idOf(payment)),
  ]);
  return isWatched || areOthers ? yield* deliver(batch, payment, hears || null) : 0;
}

function* announceMilestone(batch: Batch, payment: Payment): Steps<number> {
  const watch = batch.rules.milestoneOf(payment);
  if (watch === null || !(yield* batch.parts.watches.end(batch.walletId, watch))) return 0;
  return yield* deliver(batch, payment, null);
}

/** Writes the deliveries of a payment. `hears` are the wallet's endpoints, where they were read already. */
function* deliver(
  batch: Batch,
  payment: Payment,
  hears: readonly EndpointFilter[] | null,
): Steps<number> {
  const { walletId, rules, parts } = batch;
  const listed = hears ?? (yield* parts.endpoints.list(walletId));
  const draft = rules.deliver(payment, walletId, listed);
  return draft === null ? 0 : yield* parts.putDeliveries(walletId, payment.index, draft);
}
