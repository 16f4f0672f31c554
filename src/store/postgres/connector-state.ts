import type { Sealer } from '../../lib/secrets/seal.ts';
import type { ConnectorState } from '../ports.ts';
import type { Database } from './database.ts';

const place = (walletId: string, kind: string, key: string) => ({
  table: 'connector_state',
  column: 'sealed_json',
  row: [walletId, kind, key],
});

/** Returns the {@link ConnectorState} over PostgreSQL. Its values are sealed, since they may be tokens. */
export function postgresConnectorState(db: Database, sealer: Sealer): ConnectorState {
  return {
    async get(walletId, kind, key) {
      const [row] = await db.read(
        (sql) => sql<{ sealed_json: string }[]>`
          SELECT sealed_json FROM wallet_sidecar.connector_state WHERE wallet = ${walletId} AND kind = ${kind} AND key = ${key}`,
      );
      return row ? JSON.parse(sealer.open(row.sealed_json, place(walletId, kind, key))) : null;
    },
    put: (walletId, kind, key, value) =>
      db.write(walletId, async (tx) => {
        const sealed = sealer.seal(JSON.stringify(value), place(walletId, kind, key));
        await tx`INSERT INTO wallet_sidecar.connector_state (wallet, kind, key, sealed_json)
          VALUES (${walletId}, ${kind}, ${key}, ${sealed})
          ON CONFLICT (wallet, kind, key) DO UPDATE SET sealed_json = excluded.sealed_json`;
      }),
  };
}
