import {
  constants,
  copyFileSync,
  existsSync,
  lchownSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError, type Flags } from '../../config/sources.ts';
import { schemaVersionOf } from '../../lib/databases/copy-database.ts';
import { LOCK_FILE, ownDataDir } from '../../lib/files/data-dir.ts';
import { sync, syncFolder } from '../../lib/files/durable.ts';
import { fileUnusable } from '../../lib/files/file-problem.ts';
import { openMarker } from '../../lib/files/marker-file.ts';
import { STATE_ROWS } from '../../nodes/ldk/index.ts';
import { SANDBOX_SCHEMA_VERSION } from '../../nodes/sandbox/index.ts';
import { copiedStore, firstDamage, SCHEMA_VERSION } from '../../store/sqlite/index.ts';
import { SIGNED_BEFORE } from '../../store/unusable.ts';
import { problemAtStart } from '../../wallet/budget/store-guard.ts';
import { LDK_FOLDER, SANDBOX_FILE, STORE_FILE } from '../data-files.ts';
import { isHalfRestored, keptFile, RESTORING } from '../moved-data.ts';
import { dataPlaces } from './backup.ts';
import { COPIED, type Contents, notWhole, readContents, requireNoLinks } from './contents.ts';

const KNOWN = { [STORE_FILE]: SCHEMA_VERSION, [SANDBOX_FILE]: SANDBOX_SCHEMA_VERSION } as const;

/**
 * Checks a backup, and puts it into a data directory that has no database (docs/decisions.md 182). Returns sentences
 * that say what the sidecar will do with it. Cut off anywhere, it is run again; the sidecar does not start before.
 * Throws {@link ConfigError}, FileUnusable or MarkerUnreadable.
 */
export function restore(dir: string, flags: Flags): string {
  const { settings, dataDir, markerPath } = dataPlaces(flags);
  if (settings.find('databaseUrl') !== null || settings.find('databaseUrlPath') !== null) {
    throw new ConfigError(
      'Everything is kept in a PostgreSQL database: restore that with pg_restore, and leave --database-url out to restore files.',
    );
  }
  if (dataDir === ':memory:') {
    throw new ConfigError('A data directory in memory keeps nothing: name another --data-dir.');
  }
  const from = resolve(dir);
  const { files, made_at } = readContents(from);
  for (const [name, known] of Object.entries(KNOWN)) requireReadable(from, name, known, files);
  requireNoLinks(dataDir);
  const owned = ownDataDir(dataDir);
  try {
    requireEmpty(dataDir);
    const fate = fateOf(join(from, STORE_FILE), files[SANDBOX_FILE] !== undefined, {
      dataDir,
      markerPath,
    });
    put(
      from,
      dataDir,
      COPIED.filter((name) => files[name] !== undefined),
    );
    return `${resolve(dataDir)} holds the backup of ${made_at}. ${fate}`;
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : fileUnusable(dataDir, error, 'use another --data-dir');
  } finally {
    owned.release();
  }
}

function requireReadable(dir: string, name: string, known: number, files: Contents['files']): void {
  if (!Object.hasOwn(files, name)) return;
  const path = join(dir, name);
  const damage = firstDamage(path);
  if (damage !== null) throw notWhole(dir, `${name} is damaged (${damage})`);
  const version = schemaVersionOf(path);
  if (version > known) {
    throw new ConfigError(
      `${path} was written by a newer version of wallet-sidecar (schema ${version}, this version knows ${known}): restore it with that version.`,
    );
  }
}

function requireEmpty(dataDir: string): void {
  // What a restore that was cut off has put there, nothing has used yet.
  if (isHalfRestored(dataDir)) return;
  const there = [...COPIED.map((name) => join(dataDir, name)), keptFile(dataDir)].find(existsSync);
  if (there === undefined) return;
  throw new ConfigError(
    `${there} is there already, and nothing is overwritten: name an empty directory as --data-dir.`,
  );
}

const CLIENTS_OF_THEN =
  'Clients are as they were at the copy: revoke or narrow those again that were since, and create newer ones again.';

/** Returns sentences that say what the sidecar will do with a copy of the store. */
function fateOf(
  path: string,
  hasSandbox: boolean,
  place: { readonly dataDir: string; readonly markerPath: string | null },
): string {
  const mark = openMarker(place).read();
  const store = copiedStore(path, mark);
  const said: string[] = [];
  const problem = store && problemAtStart(store.storeId, store.standing, mark);
  if (store !== null && problem === null)
    said.push('By the marker no client and no budget has changed since, so budgets hold.');
  else said.push(CLIENTS_OF_THEN);
  if (store !== null) {
    if (problem !== null)
      said.push(
        `Once the sidecar runs, health says: ${problem} Until then clients with a budget cannot spend.`,
      );
    if (store.signedWith !== null) said.push(`Start it with the secrets key ${store.signedWith}.`);
    else if (mark?.isSigned) said.push(SIGNED_BEFORE);
  }
  return [
    ...said,
    hasSandbox
      ? 'The sandbox is as it was at the copy, without the payments since.'
      : 'Payments since the copy are read from the node again.',
    ...(store?.connectorKinds.has(STATE_ROWS)
      ? [
          `The channels of the LDK node are in no backup: before the start, move the folder ${LDK_FOLDER} of the data directory that was used last into ${resolve(place.dataDir)}. Never use a copy of it.`,
        ]
      : []),
    'Idempotency-Keys since then are forgotten: look at "wallet-sidecar payments" before a request is repeated.',
  ].join(' ');
}

/** Copies under other names, and renames when all is on the disk: the store last, whose other name is the sign. */
function put(from: string, dataDir: string, names: readonly string[]): void {
  for (const name of names) {
    const copy = join(dataDir, `${name}${RESTORING}`);
    rmSync(copy, { force: true });
    // Whatever another user may put there in the meantime is not written to.
    copyFileSync(join(from, name), copy, constants.COPYFILE_EXCL);
    sync(copy);
    giveToOwner(dataDir, copy);
  }
  giveToOwner(dataDir, join(dataDir, LOCK_FILE));
  syncFolder(dataDir);
  for (const name of names.toReversed()) {
    renameSync(join(dataDir, `${name}${RESTORING}`), join(dataDir, name));
    syncFolder(dataDir);
  }
}

/** Where the superuser restores for a service, its user must be able to write the files. */
function giveToOwner(dataDir: string, path: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  lchownSync(path, uid, gid);
}
