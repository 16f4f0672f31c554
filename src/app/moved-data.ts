import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../config/sources.ts';
import { replacePrivateFile } from '../lib/files/replace-file.ts';
import { STORE_FILE } from './data-files.ts';

/** What the file is called after it was copied into a database. */
export const keptFile = (dataDir: string) => join(dataDir, `${STORE_FILE}.moved`);
/** A line that says where the data went. It stays when the person has removed the kept file, which holds secrets. */
const noteFile = (dataDir: string) => join(dataDir, `${STORE_FILE}.moved-to`);

/** The end of the name of what is being restored. The store's file gets its own name last. */
export const RESTORING = '.restoring';

/** Whether a restore into this directory was cut off. */
export function isHalfRestored(dataDir: string): boolean {
  return existsSync(join(dataDir, `${STORE_FILE}${RESTORING}`));
}

/** Throws {@link ConfigError} for a data directory into which a backup was put in part (docs/decisions.md 182). */
export function requireWhole(dataDir: string): void {
  if (!isHalfRestored(dataDir)) return;
  throw new ConfigError(
    `A restore into ${dataDir} was cut off: run "wallet-sidecar restore" again, or use another --data-dir.`,
  );
}

/**
 * Notes in the data directory that its store is in that database from now on. The name holds no user and no password.
 * Returns a function that removes the note.
 */
export function noteMoved(dataDir: string, databaseName: string): () => void {
  const note = noteFile(dataDir);
  replacePrivateFile(note, `${databaseName}\n`);
  return () => rmSync(note, { force: true });
}

/**
 * Throws {@link ConfigError} for a data directory whose store was moved to a database, and says to which. Started
 * without it, the sidecar would begin as an empty one, or go on beside the other (docs/decisions.md 147).
 */
export function requireNotMoved(dataDir: string): void {
  const note = noteFile(dataDir);
  const file = join(dataDir, STORE_FILE);
  const isNoted = existsSync(note);
  if (!isNoted && (existsSync(file) || !existsSync(keptFile(dataDir)))) return;
  const place = isNoted ? `the database ${readFileSync(note, 'utf8').trim()}` : 'a database';
  const back = existsSync(file)
    ? ` If the move was cut off, run "wallet-sidecar migrate sqlite-to-postgres" again; to go on with ${file} all the same, remove ${note}.`
    : '';
  throw new ConfigError(
    `What ${dataDir} held was moved to ${place}: start with --database-url that names it, or use another --data-dir.${back}`,
  );
}
