import type { SQL } from 'bun';
import type { Sealer } from '../../lib/seal.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { IdempotencyState, IdempotencyStore, KeyScope } from '../ports.ts';
import type { Database } from './database.ts';

/** Rows of the idempotency table, for ports that write them inside their own transactions. */
export const idempotencyRows = {
  /** Binds the key to the payment that its request makes. */
  async bind(tx: SQL, { walletId, caller, key }: KeyScope, index: PaymentIndex): Promise<void> {
    await tx`UPDATE wallet_sidecar.idempotency SET idx = ${index}
      WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key}`;
  },
  /** Undoes `bind`, where the key is still bound to that payment. It is then no other caller's any more. */
  async unbind(tx: SQL, { walletId, caller, key }: KeyScope, index: PaymentIndex): Promise<void> {
    await tx`UPDATE wallet_sidecar.idempotency SET idx = NULL, any_caller = FALSE
      WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key} AND idx = ${index}`;
  },
  /** Deletes the outcomes of the client's own requests, and the body of the outcome that holds its credentials. */
  async forget(tx: SQL, walletId: string, clientPk: string): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.idempotency WHERE wallet = ${walletId} AND caller = ${clientPk}`;
    await tx`UPDATE wallet_sidecar.idempotency SET gone = TRUE, http_status = NULL, sealed_body = NULL
      WHERE wallet = ${walletId} AND subject = ${clientPk}`;
  },
};

interface Row {
  readonly fingerprint: string;
  readonly idx: string | null;
  readonly sealed_effect: string | null;
  readonly http_status: number | null;
  readonly sealed_body: string | null;
  readonly gone: boolean;
  readonly caller: string;
  readonly any_caller: boolean;
}

const place = (column: 'sealed_effect' | 'sealed_body', { walletId, caller, key }: KeyScope) => ({
  table: 'idempotency',
  column,
  row: [walletId, caller, key],
});

async function release(tx: SQL, { walletId, caller, key }: KeyScope): Promise<void> {
  await tx`DELETE FROM wallet_sidecar.idempotency WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key}
    AND idx IS NULL AND sealed_effect IS NULL AND sealed_body IS NULL AND NOT gone`;
}

/** Returns the {@link IdempotencyStore} over PostgreSQL. Outcomes and effects are sealed. */
export function postgresIdempotency(db: Database, sealer: Sealer): IdempotencyStore {
  function stateOf(
    row: Row,
    { walletId, key }: KeyScope,
    fingerprints: readonly (string | undefined)[],
  ): IdempotencyState {
    const scope = { walletId, caller: row.caller, key };
    if (!fingerprints.includes(row.fingerprint)) return { state: 'conflict' };
    if (row.gone) return { state: 'gone' };
    const whose = row.any_caller ? { ofAnyCaller: true as const } : {};
    if (row.http_status !== null && row.sealed_body !== null) {
      const body = sealer.open(row.sealed_body, place('sealed_body', scope));
      return { state: 'done', httpStatus: row.http_status, body, ...whose };
    }
    const effect =
      row.sealed_effect && sealer.open(row.sealed_effect, place('sealed_effect', scope));
    return { state: 'running', index: row.idx as PaymentIndex | null, effect, ...whose };
  }

  return {
    begin: (scope, fingerprint, nowMs, earlierFingerprint) =>
      db.write(scope.walletId, async (tx) => {
        const { walletId, caller, key } = scope;
        const add =
          () => tx`INSERT INTO wallet_sidecar.idempotency (wallet, caller, key, fingerprint, created_at)
          SELECT ${walletId}, ${caller}, ${key}, ${fingerprint}, ${nowMs}::bigint WHERE NOT EXISTS (
            SELECT 1 FROM wallet_sidecar.idempotency
            WHERE wallet = ${walletId} AND caller = 'owner' AND key = ${key} AND any_caller)
          ON CONFLICT DO NOTHING`;
        const { count } = await add();
        if (count > 0) return { state: 'new' };
        const [row] = await tx<Row[]>`
          SELECT fingerprint, idx, sealed_effect, http_status, sealed_body, gone, caller, any_caller
          FROM wallet_sidecar.idempotency
          WHERE wallet = ${walletId} AND key = ${key}
            AND (caller = ${caller} OR (caller = 'owner' AND any_caller))
          ORDER BY caller <> ${caller} LIMIT 1`;
        if (row) return stateOf(row, scope, [fingerprint, earlierFingerprint]);
        // The row was pruned in between.
        await add();
        return { state: 'new' };
      }),
    name: (scope, { json, index }) =>
      db.write(scope.walletId, async (tx) => {
        const { walletId, caller, key } = scope;
        const sealed = sealer.seal(json, place('sealed_effect', scope));
        const { count } = await tx`
          UPDATE wallet_sidecar.idempotency SET sealed_effect = ${sealed}, idx = coalesce(${index}, idx)
          WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key}`;
        // Without the row, a repeat would cause the effect again.
        if (count === 0) {
          throw new Error('An effect was named for an Idempotency-Key that is not stored.');
        }
      }),
    finish: (scope, { httpStatus, body, subject }) =>
      db.write(scope.walletId, async (tx) => {
        const { walletId, caller, key } = scope;
        const sealed = sealer.seal(body, place('sealed_body', scope));
        // The created client may have been revoked while the request that created it still ran. With a NULL in its
        // place, PostgreSQL would plan this statement anew each time.
        await tx`UPDATE wallet_sidecar.idempotency SET subject = ${subject}, gone = ended.gone,
            http_status = CASE WHEN ended.gone THEN NULL ELSE ${httpStatus}::int END,
            sealed_body = CASE WHEN ended.gone THEN NULL ELSE ${sealed} END
          FROM (SELECT EXISTS (
            SELECT 1 FROM wallet_sidecar.client WHERE client_pk = coalesce(${subject}, '') AND revoked_at IS NOT NULL) AS gone) ended
          WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key}`;
      }),
    release: (scope) => db.write(scope.walletId, (tx) => release(tx, scope)),
    unname: (scope) =>
      db.write(scope.walletId, async (tx) => {
        const { walletId, caller, key } = scope;
        // A key stays bound to a spend that is not over, even where its request had named nothing.
        await tx`UPDATE wallet_sidecar.idempotency i SET sealed_effect = NULL,
            idx = CASE WHEN EXISTS (SELECT 1 FROM wallet_sidecar.spend s WHERE s.wallet = i.wallet AND s.idx = i.idx)
              THEN idx ELSE NULL END
          WHERE wallet = ${walletId} AND caller = ${caller} AND key = ${key} AND sealed_body IS NULL AND NOT gone`;
        await release(tx, scope);
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
