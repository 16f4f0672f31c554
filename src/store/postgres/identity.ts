import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import type { SQL } from 'bun';
import { keyIdOf, type Sealer } from '../../lib/secrets/seal.ts';
import { lineageIn } from '../lineage.ts';
import type { Advance, StoreIdentity, StoreStanding } from '../ports.ts';
import { StoreUnusable } from '../unusable.ts';
import { advanceCounter, IDENTITY_GONE } from './counter.ts';
import type { Database } from './database.ts';
import type { SeenAdvances } from './seen-advances.ts';
import { numberOf } from './values.ts';

const PLACE = { table: 'meta', column: 'sealed_secret', row: [] };

interface IdentityOptions {
  readonly sealer: Sealer;
  readonly seen: SeenAdvances;
  readonly onDoubt: StoreIdentity['onDoubt'];
}

/**
 * Returns the {@link StoreIdentity} over PostgreSQL. Its secret is sealed, and shows whether the key is the one with
 * which the database was sealed. Throws {@link StoreUnusable} when it is another.
 */
export async function postgresIdentity(
  db: Database,
  { sealer, seen, onDoubt }: IdentityOptions,
): Promise<StoreIdentity> {
  await db.write(null, async (tx) => {
    const sealed = sealer.seal(hex.encode(new Uint8Array(randomBytes(32))), PLACE);
    await tx`INSERT INTO wallet_sidecar.meta (one, id, sealed_secret, count)
      VALUES (1, ${hex.encode(new Uint8Array(randomBytes(16)))}, ${sealed}, 0) ON CONFLICT DO NOTHING`;
  });
  const [row] = await db.read(
    (sql) => sql<{ id: string; sealed_secret: string }[]>`
      SELECT id, sealed_secret FROM wallet_sidecar.meta`,
  );
  if (!row) throw new Error(IDENTITY_GONE);
  const { id, sealed_secret: sealed } = row;
  requireSameKey(sealed, sealer);
  return {
    id,
    secret: hex.decode(sealer.open(sealed, PLACE)),
    isSigned: true,
    async standing(marked) {
      const made = seen.all();
      const compared = marked === null ? made : [marked, ...made];
      const standing = await db.read((sql) => standingIn(sql, compared));
      if (standing.lineage === 'same') seen.found(made);
      return standing;
    },
    async advance() {
      const made = await db.write(null, (tx) => advanceCounter(tx));
      seen.add(made);
      return made;
    },
    distrust: (count) =>
      db.write(null, async (tx) => {
        await tx`UPDATE wallet_sidecar.meta SET unconfirmed = greatest(unconfirmed, ${count}::bigint)`;
      }),
    async confirm(atLeast) {
      const most = Math.max(atLeast, ...seen.all().map(({ count }) => count));
      const made = await db.write(null, async (tx) => {
        const [doubted] = await tx<{ unconfirmed: bigint | null }[]>`
          SELECT unconfirmed FROM wallet_sidecar.meta FOR UPDATE`;
        const advanced = await advanceCounter(
          tx,
          Math.max(most, Number(doubted?.unconfirmed ?? 0)),
        );
        await tx`UPDATE wallet_sidecar.meta SET unconfirmed = NULL, confirmed_at = ${advanced.count}`;
        return advanced;
      });
      seen.restart(made);
      return made;
    },
    onDoubt,
  };
}

/** Reads at one moment how the store stands to each of these advances. */
export async function standingIn(sql: SQL, compared: readonly Advance[]): Promise<StoreStanding> {
  const counts = compared.map(({ count }) => count);
  // Looked up one by one, since a plan that was made while the table was small would read all of it later.
  const [row] = await sql<
    {
      count: bigint;
      confirmed_at: bigint;
      unconfirmed: bigint | null;
      words: readonly (string | null)[];
    }[]
  >`SELECT m.count, m.confirmed_at, m.unconfirmed, to_json(ARRAY(
      SELECT (SELECT a.word FROM wallet_sidecar.advance a WHERE a.count = wanted.count)
      FROM unnest(m.count || ${sql.array(counts, 'bigint')}::bigint[]) WITH ORDINALITY AS wanted (count, place)
      ORDER BY wanted.place)) AS words
    FROM wallet_sidecar.meta m WHERE m.one = 1`;
  if (!row) throw new Error(IDENTITY_GONE);
  const [word = null, ...others] = row.words;
  const words = new Map(counts.map((count, at) => [count, others[at] ?? null]));
  const history = {
    newest: { count: numberOf(row.count), word },
    confirmedAt: numberOf(row.confirmed_at),
    wordAt: (count: number) => words.get(count) ?? null,
  };
  return {
    newest: history.newest,
    lineage: lineageIn(compared, history),
    isUnconfirmed: row.unconfirmed !== null,
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
