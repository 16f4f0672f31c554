import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../config/config.ts';
import { ConfigError, type Flags } from '../config/sources.ts';
import { ownDataDir } from '../lib/files/data-dir.ts';
import { openMarker } from '../lib/files/marker-file.ts';
import { copyIntoPostgres, databaseName } from '../store/postgres/index.ts';
import { openStoredRows } from '../store/sqlite/index.ts';
import { SANDBOX_FILE, STORE_FILE } from './data-files.ts';
import { keptFile, noteMoved } from './moved-data.ts';

/**
 * Moves the store of a data directory into the PostgreSQL database that the settings name, and renames its file, so
 * that it is not used any more. Nothing else may use either meanwhile. A move that was cut off is run again. Returns a
 * sentence for the person. Throws {@link ConfigError}, FileUnusable or StoreUnusable.
 */
export async function migrateToPostgres(flags: Flags): Promise<string> {
  const config = loadConfig({ flags, env: process.env, cwd: process.cwd() });
  const { database, dataDir } = config;
  if (database === null) {
    throw new ConfigError(
      'This needs --database-url and --secrets-key-path: name the empty database to move to.',
    );
  }
  const file = join(dataDir, STORE_FILE);
  if (dataDir === ':memory:' || !existsSync(file)) {
    throw new ConfigError(`${file} is not there: name the directory that holds it as --data-dir.`);
  }
  const sandbox = join(dataDir, SANDBOX_FILE);
  if (existsSync(sandbox)) {
    throw new ConfigError(
      `Nothing was moved: ${sandbox} is the world of the sandbox, which does not work with a database. Where the wallet here is on a real node by now, move ${SANDBOX_FILE} away and run this again.`,
    );
  }
  const owned = ownDataDir(dataDir);
  try {
    const source = openStoredRows(file, {
      secretsKey: database.secretsKey,
      isMarkedSigned: openMarker(config).read()?.isSigned === true,
    });
    // The note comes first, so that a move that is cut off anywhere does not leave two stores that both go on.
    const forget = noteMoved(dataDir, databaseName(database.url));
    let copied: number;
    try {
      copied = await copyIntoPostgres(source, database);
    } catch (error) {
      forget();
      throw error;
    } finally {
      source.close();
    }
    const kept = keptFile(dataDir);
    renameSync(file, kept);
    for (const rest of ['-wal', '-shm']) rmSync(`${file}${rest}`, { force: true });
    const what = copied === 0 ? 'The store had been copied before' : `${copied} rows were copied`;
    return `${what}. Start with --database-url from now on. The file is kept as ${kept}: it holds secrets, so remove it when all works.`;
  } finally {
    owned.release();
  }
}
