import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import { keyIdOf, type Sealer } from '../../lib/seal.ts';
import type { StoreIdentity } from '../ports.ts';
import { StoreUnusable } from '../unusable.ts';
import { advanceCounter, IDENTITY_GONE } from './counter.ts';
import type { Database } from './database.ts';
import { numberOf } from './values.ts';

const PLACE = { table: 'meta', column: 'sealed_secret', row: [] };

/**
 * Returns the {@link StoreIdentity} over PostgreSQL. Its secret is sealed, and shows whether the key is the one with
 * which the database was sealed. Throws {@link StoreUnusable} when it is another.
 */
export async function postgresIdentity(db: Database, sealer: Sealer): Promise<StoreIdentity> {
  await db.write(null, async (tx) => {
    const sealed = sealer.seal(hex.encode(new Uint8Array(randomBytes(32))), PLACE);
    await tx`INSERT INTO meta (one, id, sealed_secret, count)
      VALUES (1, ${hex.encode(new Uint8Array(randomBytes(16)))}, ${sealed}, 0) ON CONFLICT DO NOTHING`;
  });
  const read = async () => {
    const [row] = await db.read(
      (sql) => sql<{ id: string; sealed_secret: string; count: bigint }[]>`
        SELECT id, sealed_secret, count FROM meta`,
    );
    if (!row) throw new Error(IDENTITY_GONE);
    return row;
  };
  const { id, sealed_secret: sealed } = await read();
  requireSameKey(sealed, sealer);
  return {
    id,
    secret: hex.decode(sealer.open(sealed, PLACE)),
    count: async () => numberOf((await read()).count),
    advance: (atLeast) => db.write(null, (tx) => advanceCounter(tx, atLeast)),
  };
}

/** Throws {@link StoreUnusable} for secrets that were sealed with another key. */
export function requireSameKey(sealed: string, { keyId }: Sealer): void {
  const usedId = keyIdOf(sealed);
  if (usedId === keyId) return;
  throw new StoreUnusable(
    `The secrets in the database are sealed with the key ${usedId}, and --secrets-key is the key ${keyId}: start with the key that this database was created with.`,
  );
}
