import type { SQL } from 'bun';
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
import type { Database } from './database.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';

/** Rows of the idempotency table, for ports that write them inside their own transactions. */
export interface IdempotencyRows {
  /** Binds the key to the payment that its request makes. */
  bind(tx: SQL, scope: KeyScope, index: PaymentIndex): Promise<void>;
  /** Undoes {@link bind}, where the key is still bound to that payment. It is then no other caller's any more. */
  unbind(tx: SQL, scope: KeyScope, index: PaymentIndex): Promise<void>;
  /** Deletes the outcomes of the client's own requests, and the body of the outcome that holds its credentials. */
  forget(tx: SQL, walletId: string, clientPk: string): Promise<void>;
  /** Writes what `change` makes of the key's row. Returns it; null where there is none, or one that does not fit. */
  change(tx: SQL, scope: KeyScope, change: (row: KeyRow) => KeyRow): Promise<KeyRow | null>;
}

/** Returns the rows of the idempotency table. Outcomes and effects are sealed. */
export function idempotencyRows(signed: SignedRows): IdempotencyRows {
  const read = (raw: RawRow) => signed.read<KeyRow>(SIGNED.idempotency, raw);

  async function write(tx: SQL, row: KeyRow): Promise<void> {
    const values = sealedValues(signed, row);
    await tx`UPDATE wallet_sidecar.idempotency SET idx = ${row.idx}, sealed_effect = ${values.effect},
        subject = ${row.subject}, http_status = ${row.http_status}, sealed_body = ${values.body},
        gone = ${row.gone === 1}, any_caller = ${row.any_caller === 1}, mac = ${values.mac}
      WHERE wallet = ${row.wallet} AND caller = ${row.caller} AND key = ${row.key}`;
  }

  const rows: IdempotencyRows = {
    async change(tx, { walletId, caller, key }, change) {
      const [raw] = await tx<RawRow[]>`SELECT * FROM wallet_sidecar.idempotency
        WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key}`;
      const row = raw ? read(raw) : null;
      if (row === null) return null;
      const changed = change(row);
      if (changed !== row) await write(tx, changed);
      return changed;
    },
    async bind(tx, scope, index) {
      await rows.change(tx, scope, (row) => boundTo(row, index));
    },
    async unbind(tx, scope, index) {
      await rows.change(tx, scope, (row) => unboundFrom(row, index));
    },
    async forget(tx, walletId, clientPk) {
      await tx`DELETE FROM wallet_sidecar.idempotency WHERE wallet = ${walletId} AND caller = ${clientPk}`;
      const raws = await tx<RawRow[]>`
        SELECT * FROM wallet_sidecar.idempotency WHERE wallet = ${walletId} AND subject = ${clientPk}`;
      for (const row of signed.readAll<KeyRow>(SIGNED.idempotency, raws)) {
        await write(tx, gone(row));
      }
    },
  };
  return rows;
}

/** Returns the {@link IdempotencyStore} over PostgreSQL. */
export function postgresIdempotency(
  db: Database,
  rows: IdempotencyRows,
  signed: SignedRows,
): IdempotencyStore {
  async function removeFree(tx: SQL, row: KeyRow | null): Promise<void> {
    if (row === null || !isFree(row)) return;
    await tx`DELETE FROM wallet_sidecar.idempotency
      WHERE wallet = ${row.wallet} AND caller = ${row.caller} AND key = ${row.key}`;
  }

  return {
    begin: (scope, fingerprint, nowMs, earlierFingerprint) =>
      db.write(scope.walletId, async (tx) => {
        const { walletId, caller, key } = scope;
        const row = newKeyRow(scope, fingerprint, nowMs);
        const mac = signed.mac(SIGNED.idempotency, row);
        const add =
          () => tx`INSERT INTO wallet_sidecar.idempotency (wallet, caller, key, fingerprint, created_at, mac)
          SELECT ${walletId}, ${caller}, ${key}, ${fingerprint}, ${nowMs}::bigint, ${mac} WHERE NOT EXISTS (
            SELECT 1 FROM wallet_sidecar.idempotency
            WHERE wallet = ${walletId} AND caller = 'owner' AND key = ${key} AND any_caller)
          ON CONFLICT DO NOTHING`;
        const { count } = await add();
        if (count > 0) return { state: 'new' };
        const [raw] = await tx<RawRow[]>`
          SELECT * FROM wallet_sidecar.idempotency
          WHERE wallet = ${walletId} AND key = ${key}
            AND (caller = ${caller} OR (caller = 'owner' AND any_caller))
          ORDER BY caller <> ${caller} LIMIT 1`;
        if (raw) {
          const found = signed.read<KeyRow>(SIGNED.idempotency, raw);
          // Of a request whose row was changed nothing is known, so it is not made again.
          if (found === null) return { state: 'conflict' };
          return stateOf(found, [fingerprint, earlierFingerprint]);
        }
        // The row was pruned in between.
        await add();
        return { state: 'new' };
      }),
    isUsed: ({ walletId, caller, key }) =>
      db.read(async (sql) => {
        const rows = await sql`SELECT 1 FROM wallet_sidecar.idempotency
          WHERE wallet = ${walletId} AND key = ${key}
            AND (caller = ${caller} OR (caller = 'owner' AND any_caller)) LIMIT 1`;
        return rows.length > 0;
      }),
    name: (scope, { json, index }) =>
      db.write(scope.walletId, async (tx) => {
        // Without the row, a repeat would cause the effect again.
        if ((await rows.change(tx, scope, (row) => named(row, json, index))) === null) {
          throw new Error('An effect was named for an Idempotency-Key that is not stored.');
        }
      }),
    finish: (scope, outcome) =>
      db.write(scope.walletId, async (tx) => {
        // The created client may have been revoked while the request that created it still ran.
        const ended = outcome.subject !== null && (await isRevoked(tx, outcome.subject));
        await rows.change(tx, scope, (row) => finished(row, outcome, ended));
      }),
    release: (scope) =>
      db.write(scope.walletId, async (tx) =>
        removeFree(tx, await rows.change(tx, scope, (row) => row)),
      ),
    unname: (scope) =>
      db.write(scope.walletId, async (tx) => {
        const row = await rows.change(tx, scope, (found) => found);
        const isOpen = row?.idx != null && (await isSpendOpen(tx, row.wallet, row.idx));
        await removeFree(tx, await rows.change(tx, scope, (found) => unnamed(found, isOpen)));
      }),
    prune: ({ beforeMs, keep }) =>
      db.write(null, async (tx) => {
        await tx`DELETE FROM wallet_sidecar.idempotency i WHERE created_at < ${beforeMs}
          AND NOT EXISTS (SELECT 1 FROM wallet_sidecar.spend s WHERE s.wallet = i.wallet AND s.idx = i.idx)
          AND (wallet, caller, key) NOT IN (
            SELECT wallet, caller, key FROM wallet_sidecar.idempotency ORDER BY created_at DESC LIMIT ${keep})`;
      }),
  };
}

async function isRevoked(tx: SQL, clientPk: string): Promise<boolean> {
  const rows = await tx`
    SELECT 1 FROM wallet_sidecar.client WHERE client_pk = ${clientPk} AND revoked_at IS NOT NULL`;
  return rows.length > 0;
}

async function isSpendOpen(tx: SQL, walletId: string, index: string): Promise<boolean> {
  const rows = await tx`
    SELECT 1 FROM wallet_sidecar.spend WHERE wallet = ${walletId} AND idx = ${index}`;
  return rows.length > 0;
}

function sealedValues(signed: SignedRows, row: KeyRow) {
  const columns = { ...row };
  return {
    effect: signed.seal(SIGNED.idempotency, columns, 'effect'),
    body: signed.seal(SIGNED.idempotency, columns, 'body'),
    mac: signed.mac(SIGNED.idempotency, row),
  };
}
