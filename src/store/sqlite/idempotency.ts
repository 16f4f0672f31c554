import type { Database } from 'bun:sqlite';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyState, IdempotencyStore, KeyScope } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** Rows of the idempotency table, for ports that write them inside their own transactions. */
export interface IdempotencyRows {
  /** Binds the key to the payment that its request makes. */
  bind(scope: KeyScope, index: PaymentIndex): void;
  /** Undoes {@link bind}, where the key is still bound to that payment. It is then no other caller's any more. */
  unbind(scope: KeyScope, index: PaymentIndex): void;
  /** Deletes the outcomes of the client's own requests, and the body of the outcome that holds its credentials. */
  forget(walletId: string, clientPk: string): void;
}

interface Row {
  readonly fingerprint: string;
  readonly idx: string | null;
  readonly effect: string | null;
  readonly http_status: number | null;
  readonly body: string | null;
  readonly gone: number;
  readonly any_caller: number;
}

const KEY = 'wallet = ? AND caller = ? AND key = ?';

/** Prepares the statements of the idempotency table. */
export function idempotencyRows(db: Database): IdempotencyRows {
  const bind = db.prepare(`UPDATE idempotency SET idx = ? WHERE ${KEY}`);
  const unbind = db.prepare(
    `UPDATE idempotency SET idx = NULL, any_caller = 0 WHERE ${KEY} AND idx = ?`,
  );
  const dropCalls = db.prepare('DELETE FROM idempotency WHERE wallet = ? AND caller = ?');
  const dropBodies = db.prepare(
    `UPDATE idempotency INDEXED BY idempotency_by_subject
     SET gone = 1, http_status = NULL, body = NULL WHERE wallet = ? AND subject = ?`,
  );
  return {
    bind: ({ walletId, caller, key }, index) => void bind.run(index, walletId, caller, key),
    unbind: ({ walletId, caller, key }, index) => void unbind.run(walletId, caller, key, index),
    forget(walletId, clientPk) {
      dropCalls.run(walletId, clientPk);
      dropBodies.run(walletId, clientPk);
    },
  };
}

/** Returns the {@link IdempotencyStore} over SQLite. */
export function sqliteIdempotency(db: Database, queue: WriteQueue): IdempotencyStore {
  const columns = 'fingerprint, idx, effect, http_status, body, gone, any_caller';
  const read = db.prepare<Row, [string, string, string]>(
    `SELECT ${columns} FROM idempotency WHERE ${KEY}`,
  );
  const readOfAny = db.prepare<Row, [string, string]>(
    `SELECT ${columns} FROM idempotency
     WHERE wallet = ? AND caller = 'owner' AND key = ? AND any_caller`,
  );
  const insert = db.prepare(
    'INSERT INTO idempotency (wallet, caller, key, fingerprint, created_at) VALUES (?, ?, ?, ?, ?)',
  );
  const name = db.prepare(`UPDATE idempotency SET effect = ?, idx = coalesce(?, idx) WHERE ${KEY}`);
  // The created client may have been revoked while the request that created it still ran.
  const finish = db.prepare(
    `UPDATE idempotency SET subject = ?1,
       gone = EXISTS (SELECT 1 FROM client WHERE client_pk = ?1 AND revoked_at IS NOT NULL),
       http_status = ?2, body = ?3 WHERE wallet = ?4 AND caller = ?5 AND key = ?6`,
  );
  const dropGoneBody = db.prepare(
    `UPDATE idempotency SET http_status = NULL, body = NULL WHERE ${KEY} AND gone`,
  );
  const release = db.prepare(
    `DELETE FROM idempotency
     WHERE ${KEY} AND idx IS NULL AND effect IS NULL AND body IS NULL AND NOT gone`,
  );
  // A key stays bound to a spend that is not over, even where its request had named nothing.
  const unname = db.prepare(
    `UPDATE idempotency SET effect = NULL,
       idx = iif(EXISTS (SELECT 1 FROM spend s WHERE s.wallet = idempotency.wallet AND s.idx = idempotency.idx),
         idx, NULL)
     WHERE ${KEY} AND body IS NULL AND NOT gone`,
  );
  const prune = db.prepare(
    `DELETE FROM idempotency WHERE created_at < ?1
       AND NOT EXISTS (SELECT 1 FROM spend s WHERE s.wallet = idempotency.wallet AND s.idx = idempotency.idx)
       AND (wallet, caller, key) NOT IN (
         SELECT wallet, caller, key FROM idempotency ORDER BY created_at DESC LIMIT ?2)`,
  );
  return {
    begin: ({ walletId, caller, key }, fingerprint, nowMs, earlierFingerprint) =>
      queue.write(() => {
        const row = read.get(walletId, caller, key) ?? readOfAny.get(walletId, key);
        if (row) return stateOf(row, [fingerprint, earlierFingerprint]);
        insert.run(walletId, caller, key, fingerprint, nowMs);
        return { state: 'new' };
      }),
    name: ({ walletId, caller, key }, { json, index }) =>
      queue.write(() => {
        if (name.run(json, index, walletId, caller, key).changes === 0) {
          // Without the row, a repeat would cause the effect again.
          throw new Error('An effect was named for an Idempotency-Key that is not stored.');
        }
      }),
    finish: ({ walletId, caller, key }, { httpStatus, body, subject }) =>
      queue.write(() => {
        finish.run(subject, httpStatus, body, walletId, caller, key);
        dropGoneBody.run(walletId, caller, key);
      }),
    release: ({ walletId, caller, key }) =>
      queue.write(() => void release.run(walletId, caller, key)),
    unname: ({ walletId, caller, key }) =>
      queue.write(() => {
        unname.run(walletId, caller, key);
        release.run(walletId, caller, key);
      }),
    prune: ({ beforeMs, keep }) => queue.write(() => void prune.run(beforeMs, keep)),
  };
}

function stateOf(row: Row, fingerprints: readonly (string | undefined)[]): IdempotencyState {
  if (!fingerprints.includes(row.fingerprint)) return { state: 'conflict' };
  if (row.gone === 1) return { state: 'gone' };
  const whose = row.any_caller === 1 ? { ofAnyCaller: true as const } : {};
  if (row.http_status !== null && row.body !== null) {
    return { state: 'done', httpStatus: row.http_status, body: row.body, ...whose };
  }
  return { state: 'running', index: row.idx as PaymentIndex | null, effect: row.effect, ...whose };
}
