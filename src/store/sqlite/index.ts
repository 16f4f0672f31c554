import type { Database } from 'bun:sqlite';
import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import { asStorageError } from '../../model/storage-error.ts';
import type { Store } from '../ports.ts';
import { rowPorts } from '../rows/ports.ts';
import type { Rows } from '../rows/rows.ts';
import { sqliteCacheWriter } from './cache-writer.ts';
import { sqliteIdentity, storeCounter } from './identity.ts';
import { sqliteObserved } from './observed-rows.ts';
import { openDatabase } from './open.ts';
import { firstDamage } from './page-check.ts';
import { sqliteDatabase, sqliteRows } from './rows.ts';
import { type SigningOptions, sqliteSigner } from './signing.ts';
import { releaseSpace } from './space.ts';
import { writeQueue } from './write-queue.ts';

export { SCHEMA_VERSION } from './migrations/index.ts';
export { openStoredRows } from './read-rows.ts';
export { copiedStore } from './standing-of-copy.ts';
export { firstDamage };

/** Opens a file or `:memory:`. Throws StoreUnusable as {@link openDatabase} and {@link sqliteSigner} do. */
export function openSqliteStore(
  path: string,
  signing: SigningOptions = { secretsKey: null },
): Store {
  const db = openDatabase(path);
  const signer = signerOf(db, signing);
  const { queue, ports } = sqlitePorts(db, sqliteRows(db, signer), signing.secretsKey !== null);
  return {
    ...readable(ports),
    problem: () => null,
    releaseSpace: (signal) => releaseSpace(db, queue, signal),
    async close() {
      try {
        // Writes that were queued in this turn are committed before the file is closed.
        await queue.write(() => undefined);
      } finally {
        db.close();
      }
    },
  };
}

/** Returns the ports over a file, whose statements `rows` makes, and the queue of their writes. */
export function sqlitePorts(db: Database, rows: Rows, isSigned: boolean) {
  const queue = writeQueue(db);
  const counter = storeCounter(db);
  const ports = rowPorts(sqliteDatabase(queue, counter.advance), rows, {
    observed: sqliteObserved,
    cacheWriter: (all) => sqliteCacheWriter(all, queue),
    // One process owns the file, so a name that is drawn at each opening tells it from those before.
    owner: hex.encode(new Uint8Array(randomBytes(8))),
  });
  return { queue, ports: { ...ports, identity: sqliteIdentity(db, queue, counter, isSigned) } };
}

/** Closes the database where it cannot be used. */
function signerOf(db: Database, signing: SigningOptions) {
  try {
    return sqliteSigner(db, signing);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Wraps ports so that a read throws error 8 when SQLite finds the database locked or failing. */
function readable<T extends object>(ports: T): T {
  const entries = Object.entries(ports).map(([name, port]) => [name, readablePort(port)]);
  return Object.fromEntries(entries) as T;
}

function readablePort(port: object): object {
  const entries = Object.entries(port).map(([name, member]) => [
    name,
    typeof member !== 'function'
      ? member
      : async (...args: unknown[]) => {
          try {
            return await member(...args);
          } catch (error) {
            throw asStorageError(error);
          }
        },
  ]);
  return Object.fromEntries(entries);
}
