import type { Database } from 'bun:sqlite';
import { idOf, isFinal, type Payment } from '../../model/payment.ts';
import type { ObservationRules, ObservationStore } from '../ports.ts';
import type { JournalRows } from './journal.ts';
import type { WriteQueue } from './write-queue.ts';

/** {@link ObservationStore} over SQLite. */
export function sqliteObservations(
  db: Database,
  queue: WriteQueue,
  journal: JournalRows,
): ObservationStore {
  const readCursor = db.prepare<{ cursor: string | null }, [string]>(
    'SELECT cursor FROM feed_cursor WHERE wallet = ?',
  );
  const startCursor = db.prepare(
    'INSERT INTO feed_cursor (wallet, cursor) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const moveCursor = db.prepare(
    `INSERT INTO feed_cursor (wallet, cursor) VALUES (?, ?)
     ON CONFLICT (wallet) DO UPDATE SET cursor = excluded.cursor`,
  );
  const isWatched = db.prepare<{ kind: string }, [string, string, string, string]>(
    `SELECT kind FROM watch WHERE wallet = ?1 AND
       (kind, key) IN (VALUES ('payment', ?2), ('offer', ?3), ('address', ?4)) LIMIT 1`,
  );
  const endWatch = db.prepare(
    "DELETE FROM watch WHERE wallet = ? AND kind = 'payment' AND key = ?",
  );
  // The row stays when its body is pruned, so that an observation seen again is not delivered again.
  const insertDelivery = db.prepare(
    `INSERT INTO delivery (id, wallet, idx, state, body, due_at, created_at)
     VALUES (?1, ?2, ?3, 'pending', ?4, ?5, ?5) ON CONFLICT (id) DO NOTHING`,
  );
  const settleSpending = db.prepare(
    'UPDATE spending SET amount_msat = ? WHERE wallet = ? AND idx = ?',
  );
  const releaseSpending = db.prepare('DELETE FROM spending WHERE wallet = ? AND idx = ?');

  /** The payment an observation is about: the same index, or one of the same id that is not over yet. */
  function known(walletId: string, seen: Payment): Payment | null {
    const same = journal.get(walletId, seen.index);
    if (same) return same;
    const latest = journal.latest(walletId, idOf(seen));
    return latest && (!isFinal(latest) || latest.status === seen.status) ? latest : null;
  }

  function finalize(walletId: string, payment: Payment, rules: ObservationRules): number {
    if (payment.direction === 'outbound') {
      if (payment.status === 'failed') releaseSpending.run(walletId, payment.index);
      else {
        const spentMsat = (payment.amountMsat ?? 0n) + payment.feesMsat;
        settleSpending.run(spentMsat, walletId, payment.index);
      }
    }
    const { index, offerId, address } = payment;
    const inbound = payment.direction === 'inbound';
    const watched = isWatched.get(
      walletId,
      index,
      (inbound && offerId) || '',
      (inbound && address) || '',
    );
    if (!watched) return 0;
    endWatch.run(walletId, index);
    const delivery = rules.deliver(payment, walletId);
    if (!delivery) return 0;
    const { id, body, createdAtMs } = delivery;
    return insertDelivery.run(id, walletId, index, body, createdAtMs).changes;
  }

  return {
    async cursor(walletId) {
      const row = readCursor.get(walletId);
      return row ? row.cursor : undefined;
    },
    startAt: (walletId, cursor) => queue.write(() => void startCursor.run(walletId, cursor)),
    apply: (walletId, batch, rules) =>
      queue.write(() => {
        const changed: Payment[] = [];
        let deliveries = 0;
        for (const seen of batch.payments) {
          const previous = batch.journaled ? known(walletId, seen) : null;
          const next = rules.transition(previous, seen);
          if (!next) continue;
          const payment = batch.journaled
            ? journal.put(walletId, next, Math.min(batch.nowMs, seen.updatedAtMs))
            : next;
          changed.push(payment);
          if (isFinal(payment)) deliveries += finalize(walletId, payment, rules);
        }
        if (batch.cursor !== null) moveCursor.run(walletId, batch.cursor);
        return { changed, deliveries };
      }),
  };
}
