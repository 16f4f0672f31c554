import type { Database } from 'bun:sqlite';
import type { PaymentIndex } from '../../model/payment-index.ts';
import {
  boundTo,
  finished,
  gone,
  isFree,
  type KeyRow,
  named,
  newKeyRow,
  stateOf,
  unboundFrom,
  unnamed,
} from '../columns/idempotency.ts';
import type { IdempotencyStore, KeyScope } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

/** Rows of the idempotency table, for ports that write them inside their own transactions. */
export interface IdempotencyRows {
  /** Binds the key to the payment that its request makes. */
  bind(scope: KeyScope, index: PaymentIndex): void;
  /** Undoes {@link bind}, where the key is still bound to that payment. It is then no other caller's any more. */
  unbind(scope: KeyScope, index: PaymentIndex): void;
  /** Deletes the outcomes of the client's own requests, and the body of the outcome that holds its credentials. */
  forget(walletId: string, clientPk: string): void;
  /** Writes what `change` makes of the key's row. Returns it; null where there is none, or one that does not fit. */
  change(scope: KeyScope, change: (row: KeyRow) => KeyRow): KeyRow | null;
}

type StoredRow = Stored<KeyRow>;

const COLUMNS = columnList(SIGNED.idempotency);
const KEY = 'wallet = ? AND caller = ? AND key = ?';

/** Prepares the statements of the idempotency table. */
export function idempotencyRows(db: Database, signer: RowSigner): IdempotencyRows {
  const read = db.prepare<StoredRow, [string, string, string]>(
    `SELECT ${COLUMNS} FROM idempotency WHERE ${KEY}`,
  );
  const ofSubject = db.prepare<StoredRow, [string, string]>(
    `SELECT ${COLUMNS} FROM idempotency INDEXED BY idempotency_by_subject
     WHERE wallet = ? AND subject = ?`,
  );
  const dropCalls = db.prepare('DELETE FROM idempotency WHERE wallet = ? AND caller = ?');
  const write = rowWriter(db, signer, SIGNED.idempotency, { verb: 'REPLACE' });
  const rows: IdempotencyRows = {
    change({ walletId, caller, key }, change) {
      const row = read.get(walletId, caller, key);
      if (row === null || !signer.fits(SIGNED.idempotency, row)) return null;
      const changed = change(row);
      if (changed !== row) write(changed);
      return changed;
    },
    bind: (scope, index) => void rows.change(scope, (row) => boundTo(row, index)),
    unbind: (scope, index) => void rows.change(scope, (row) => unboundFrom(row, index)),
    forget(walletId, clientPk) {
      dropCalls.run(walletId, clientPk);
      for (const row of ofSubject.all(walletId, clientPk)) {
        if (signer.fits(SIGNED.idempotency, row)) write(gone(row));
      }
    },
  };
  return rows;
}

/** Returns the {@link IdempotencyStore} over SQLite. */
export function sqliteIdempotency(
  db: Database,
  queue: WriteQueue,
  rows: IdempotencyRows,
  signer: RowSigner,
): IdempotencyStore {
  const read = db.prepare<StoredRow, [string, string, string]>(
    `SELECT ${COLUMNS} FROM idempotency WHERE ${KEY}`,
  );
  const readOfAny = db.prepare<StoredRow, [string, string]>(
    `SELECT ${COLUMNS} FROM idempotency
     WHERE wallet = ? AND caller = 'owner' AND key = ? AND any_caller`,
  );
  const insert = rowWriter(db, signer, SIGNED.idempotency);
  const remove = db.prepare(`DELETE FROM idempotency WHERE ${KEY}`);
  const isOpen = db.prepare('SELECT 1 FROM spend WHERE wallet = ? AND idx = ?');
  const isRevoked = db.prepare(
    'SELECT 1 FROM client WHERE client_pk = ? AND revoked_at IS NOT NULL',
  );
  const prune = db.prepare(
    `DELETE FROM idempotency WHERE created_at < ?1
       AND NOT EXISTS (SELECT 1 FROM spend s WHERE s.wallet = idempotency.wallet AND s.idx = idempotency.idx)
       AND (wallet, caller, key) NOT IN (
         SELECT wallet, caller, key FROM idempotency ORDER BY created_at DESC LIMIT ?2)`,
  );

  function removeFree(row: KeyRow | null): void {
    if (row !== null && isFree(row)) remove.run(row.wallet, row.caller, row.key);
  }

  return {
    begin: (scope, fingerprint, nowMs, earlierFingerprint) =>
      queue.write(() => {
        const { walletId, caller, key } = scope;
        const row = read.get(walletId, caller, key) ?? readOfAny.get(walletId, key);
        if (row === null) {
          insert(newKeyRow(scope, fingerprint, nowMs));
          return { state: 'new' };
        }
        // Of a request whose row was changed nothing is known, so it is not made again.
        if (!signer.fits(SIGNED.idempotency, row)) return { state: 'conflict' };
        return stateOf(row, [fingerprint, earlierFingerprint]);
      }),
    isUsed: async ({ walletId, caller, key }) =>
      (read.get(walletId, caller, key) ?? readOfAny.get(walletId, key)) !== null,
    name: (scope, { json, index }) =>
      queue.write(() => {
        if (rows.change(scope, (row) => named(row, json, index)) === null) {
          // Without the row, a repeat would cause the effect again.
          throw new Error('An effect was named for an Idempotency-Key that is not stored.');
        }
      }),
    finish: (scope, outcome) =>
      queue.write(() => {
        // The created client may have been revoked while the request that created it still ran.
        const ended = outcome.subject !== null && isRevoked.get(outcome.subject) !== null;
        rows.change(scope, (row) => finished(row, outcome, ended));
      }),
    release: (scope) => queue.write(() => removeFree(rows.change(scope, (row) => row))),
    unname: (scope) =>
      queue.write(() => {
        const isSpendOpen = ({ wallet, idx }: KeyRow) =>
          idx !== null && isOpen.get(wallet, idx) !== null;
        removeFree(rows.change(scope, (row) => unnamed(row, isSpendOpen(row))));
      }),
    prune: ({ beforeMs, keep }) => queue.write(() => void prune.run(beforeMs, keep)),
  };
}
