import { OWNER_CALLER } from '../../model/clients/client.ts';
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
import { SIGNED } from '../signed-tables.ts';
import type { RowDatabase, Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { tableOf } from './table.ts';

/** Rows of the idempotency table, for ports that write them inside their own transactions. */
export interface IdempotencyRows {
  bind(scope: KeyScope, index: PaymentIndex): Steps<unknown>;
  /** Undoes {@link bind}, where the key is still bound to that payment. It is then no other caller's any more. */
  unbind(scope: KeyScope, index: PaymentIndex): Steps<unknown>;
  /** Deletes the outcomes of the client's own requests, and the body of the outcome that holds its credentials. */
  forget(walletId: string, clientPk: string): Steps<void>;
  /** Writes what `change` makes of the key's row. Returns it; null where there is none, or one that does not fit. */
  change(scope: KeyScope, change: (row: KeyRow) => KeyRow): Steps<KeyRow | null>;
}

const KEY = 'wallet = ? AND caller = ? AND key = ?';

/** Prepares the statements of the idempotency table. */
export function idempotencyRows(rows: Rows): IdempotencyRows {
  const table = tableOf<KeyRow>(rows, SIGNED.idempotency);
  const read = table.select(`WHERE ${KEY}`);
  const ofSubject = table.select(
    `${rows.indexedBy('idempotency_by_subject')} WHERE wallet = ? AND subject = ?`,
  );
  const dropCalls = rows.prepare(
    'DELETE FROM wallet_sidecar.idempotency WHERE wallet = ? AND caller = ?',
  );
  const write = table.update([
    'idx',
    'effect',
    'subject',
    'http_status',
    'body',
    'gone',
    'any_caller',
  ]);
  const keys: IdempotencyRows = {
    *change({ walletId, caller, key }, change) {
      const row = yield* read.one(walletId, caller, key);
      if (row === null) return null;
      const changed = change(row);
      if (changed !== row) yield* write(changed);
      return changed;
    },
    bind: (scope, index) => keys.change(scope, (row) => boundTo(row, index)),
    unbind: (scope, index) => keys.change(scope, (row) => unboundFrom(row, index)),
    *forget(walletId, clientPk) {
      yield* dropCalls.run(walletId, clientPk);
      for (const row of yield* ofSubject.all(walletId, clientPk)) yield* write(gone(row));
    },
  };
  return keys;
}

/** Returns the {@link IdempotencyStore}. */
export function idempotencyStore(
  db: RowDatabase,
  rows: Rows,
  keys: IdempotencyRows,
): IdempotencyStore {
  const { prepare } = rows;
  const table = tableOf<KeyRow>(rows, SIGNED.idempotency);
  // The caller's own row comes first.
  const met = table.select(
    `WHERE wallet = ?1 AND caller IN (?2, '${OWNER_CALLER}') AND key = ?3 AND (caller = ?2 OR any_caller)
     ORDER BY caller <> ?2 LIMIT 1`,
  );
  const insert = prepare(
    `INSERT INTO wallet_sidecar.idempotency (wallet, caller, key, fingerprint, created_at, mac)
     SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), ?5, CAST(?6 AS TEXT)
     WHERE NOT EXISTS (SELECT 1 FROM wallet_sidecar.idempotency WHERE wallet = ?1 AND caller = '${OWNER_CALLER}' AND key = ?3 AND any_caller)
     ON CONFLICT DO NOTHING`,
  );
  const remove = prepare(`DELETE FROM wallet_sidecar.idempotency WHERE ${KEY}`);
  const isOpen = prepare('SELECT 1 FROM wallet_sidecar.spend WHERE wallet = ? AND idx = ?');
  const isRevoked = prepare(
    'SELECT 1 FROM wallet_sidecar.client WHERE client_pk = ? AND revoked_at IS NOT NULL',
  );
  const prune = prepare(
    `DELETE FROM wallet_sidecar.idempotency WHERE created_at < ?1
       AND NOT EXISTS (SELECT 1 FROM wallet_sidecar.spend s WHERE s.wallet = idempotency.wallet AND s.idx = idempotency.idx)
       AND (wallet, caller, key) NOT IN (
         SELECT wallet, caller, key FROM wallet_sidecar.idempotency ORDER BY created_at DESC LIMIT ?2)`,
  );

  function* removeFree(row: KeyRow | null): Steps<void> {
    if (row !== null && isFree(row)) yield* remove.run(row.wallet, row.caller, row.key);
  }

  return {
    begin: (scope, fingerprint, nowMs, earlierFingerprint) =>
      db.write(scope.walletId, function* () {
        const { walletId, caller, key } = scope;
        const mac = table.mac(newKeyRow(scope, fingerprint, nowMs));
        const add = () => insert.run(walletId, caller, key, fingerprint, nowMs, mac);
        if ((yield* add()) > 0) return { state: 'new' };
        const raw = yield* met.raw.one(walletId, caller, key);
        if (raw) {
          const row = met.read(raw);
          // Of a request whose row was changed nothing is known, so it is not made again.
          if (row === null) return { state: 'conflict' };
          return stateOf(row, [fingerprint, earlierFingerprint]);
        }
        // The row was pruned in between.
        yield* add();
        return { state: 'new' };
      }),
    isUsed: async ({ walletId, caller, key }) =>
      (await db.read(() => met.raw.one(walletId, caller, key))) !== null,
    name: (scope, { json, index }) =>
      db.write(scope.walletId, function* () {
        // Without the row, a repeat would cause the effect again.
        if ((yield* keys.change(scope, (row) => named(row, json, index))) === null) {
          throw new Error('An effect was named for an Idempotency-Key that is not stored.');
        }
      }),
    finish: (scope, outcome) =>
      db.write(scope.walletId, function* () {
        // The created client may have been revoked while the request that created it still ran.
        const ended = outcome.subject !== null && (yield* isRevoked.one(outcome.subject)) !== null;
        yield* keys.change(scope, (row) => finished(row, outcome, ended));
      }),
    release: (scope) =>
      db.write(scope.walletId, function* () {
        yield* removeFree(yield* keys.change(scope, (row) => row));
      }),
    unname: (scope) =>
      db.write(scope.walletId, function* () {
        const row = yield* keys.change(scope, (found) => found);
        const open = row?.idx != null && (yield* isOpen.one(row.wallet, row.idx)) !== null;
        yield* removeFree(yield* keys.change(scope, (found) => unnamed(found, open)));
      }),
    prune: ({ beforeMs, keep }) =>
      db.write(null, function* () {
        yield* prune.run(beforeMs, keep);
      }),
  };
}
