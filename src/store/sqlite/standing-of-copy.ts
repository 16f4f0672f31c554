import { Database } from 'bun:sqlite';
import { lineageIn } from '../lineage.ts';
import type { Advance, StoreStanding } from '../ports.ts';

interface CopiedStore {
  readonly storeId: string;
  /** The id of the secrets key that its rows are signed with; null where they are not signed. */
  readonly signedWith: string | null;
  readonly standing: StoreStanding;
  /** The kinds of the rows that connectors keep in it. */
  readonly connectorKinds: ReadonlySet<string>;
}

/** The row of `meta`. Columns that came later are missing in copies of earlier versions. */
interface Meta {
  readonly id: string;
  readonly count: number;
  readonly confirmed_at?: number;
  readonly unconfirmed?: number | null;
  readonly signed_with?: string | null;
}

/** Reads how a copy stands to a marker, changing nothing; null for versions without an identity. */
export function copiedStore(
  path: string,
  marked: (Advance & { readonly storeId: string }) | null,
): CopiedStore | null {
  const db = new Database(path, { readonly: true });
  try {
    const has = (table: string) =>
      db.query('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) !== null;
    const meta = has('meta') ? db.query<Meta, []>('SELECT * FROM meta').get() : null;
    if (meta === null) return null;
    const word = has('advance')
      ? db.query<{ word: string }, [number]>('SELECT word FROM advance WHERE count = ?')
      : null;
    const {
      id,
      count,
      confirmed_at: confirmedAt = 0,
      unconfirmed = null,
      signed_with = null,
    } = meta;
    const wordAt = (at: number) => word?.get(at)?.word ?? null;
    const newest = { count, word: wordAt(count) };
    const lineage = lineageIn(marked?.storeId === id ? [marked] : [], {
      newest,
      confirmedAt,
      wordAt,
    });
    const standing = { newest, lineage, isUnconfirmed: unconfirmed !== null };
    const kinds = has('connector_state')
      ? db.query<{ kind: string }, []>('SELECT DISTINCT kind FROM connector_state').all()
      : [];
    const connectorKinds = new Set(kinds.map(({ kind }) => kind));
    return { storeId: id, signedWith: signed_with, standing, connectorKinds };
  } finally {
    db.close();
  }
}
