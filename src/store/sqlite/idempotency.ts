import type { Database } from 'bun:sqlite';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyStore } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

interface Row {
  readonly fingerprint: string;
  readonly idx: string | null;
  readonly http_status: number | null;
  readonly body: string | null;
}

/** {@link IdempotencyStore} over SQLite. */
export function sqliteIdempotency(db: Database, queue: WriteQueue): IdempotencyStore {
  const read = db.prepare<Row, [string, string]>(
    'SELECT fingerprint, idx, http_status, body FROM idempotency WHERE wallet = ? AND key = ?',
  );
  const insert = db.prepare(
    'INSERT INTO idempotency (wallet, key, fingerprint, created_at) VALUES (?, ?, ?, ?)',
  );
  const finish = db.prepare(
    'UPDATE idempotency SET http_status = ?, body = ? WHERE wallet = ? AND key = ?',
  );
  const release = db.prepare(
    'DELETE FROM idempotency WHERE wallet = ? AND key = ? AND idx IS NULL AND body IS NULL',
  );
  const prune = db.prepare(
    `DELETE FROM idempotency WHERE created_at < ?1 AND (wallet, key) NOT IN (
       SELECT wallet, key FROM idempotency ORDER BY created_at DESC LIMIT ?2)`,
  );
  return {
    begin: (walletId, key, fingerprint, nowMs) =>
      queue.write(() => {
        const row = read.get(walletId, key);
        if (!row) {
          insert.run(walletId, key, fingerprint, nowMs);
          return { state: 'new' as const };
        }
        if (row.fingerprint !== fingerprint) return { state: 'conflict' as const };
        if (row.http_status !== null && row.body !== null) {
          return { state: 'done' as const, httpStatus: row.http_status, body: row.body };
        }
        return { state: 'running' as const, index: row.idx as PaymentIndex | null };
      }),
    finish: (walletId, key, { httpStatus, body }) =>
      queue.write(() => void finish.run(httpStatus, body, walletId, key)),
    release: (walletId, key) => queue.write(() => void release.run(walletId, key)),
    prune: ({ beforeMs, keep }) => queue.write(() => void prune.run(beforeMs, keep)),
  };
}
