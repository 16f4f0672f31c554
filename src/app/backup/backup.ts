import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defaultDataDir } from '../../config/default-data-dir.ts';
import { ConfigError, type Flags, openSettings, type Settings } from '../../config/sources.ts';
import { systemClock } from '../../lib/clock.ts';
import { copyDatabase } from '../../lib/databases/copy-database.ts';
import { sync, syncFolder } from '../../lib/files/durable.ts';
import { fileUnusable } from '../../lib/files/file-problem.ts';
import { createPrivateFile } from '../../lib/files/replace-file.ts';
import { copiedStore, firstDamage } from '../../store/sqlite/index.ts';
import { VERSION } from '../../version.ts';
import { LDK_FOLDER, STORE_FILE, TRIAL_SEED_FILE } from '../data-files.ts';
import { requireWhole } from '../moved-data.ts';
import { CONTENTS_FILE, COPIED, type Contents, fingerprint, requireNoLinks } from './contents.ts';

/**
 * Copies what the data directory keeps into a new directory, while the sidecar runs or not (docs/decisions.md 182).
 * The directory has its name only once all of it is on the disk. Returns sentences for the person. Throws
 * {@link ConfigError} or FileUnusable.
 */
export function backup(dir: string, flags: Flags): string {
  const { settings, dataDir, markerPath } = dataPlaces(flags);
  requireFiles(settings, dir);
  const file = join(dataDir, STORE_FILE);
  if (!existsSync(file)) {
    throw new ConfigError(`${file} is not there: name the directory that holds it as --data-dir.`);
  }
  requireWhole(dataDir);
  requireNoLinks(dataDir);
  const target = resolve(dir);
  if (existsSync(target)) {
    throw new ConfigError(`${target} is there already: name a directory that is to be made.`);
  }
  const names = copyInto(dataDir, target);
  const signedWith = copiedStore(join(target, STORE_FILE), null)?.signedWith ?? null;
  const channels = join(dataDir, LDK_FOLDER);
  return [
    `Copied to ${target}: ${names.join(', ')}. They hold credentials, so keep them as secret as the data directory.`,
    'Keep elsewhere what is not in it: the root seed,',
    signedWith === null
      ? 'the secrets key where you use one,'
      : `the secrets key ${signedWith}, without which the copy cannot be opened,`,
    existsSync(channels)
      ? `and peers.json of each network in ${channels}, by which "ldk recover" finds your peers. Keep no copy of the rest of that folder, the channels of the LDK node: one that comes back loses money.`
      : "and, on a real node, the node's own backup.",
    `The marker ${markerPath ?? `(${resolve(dataDir)}.marker, unless the sidecar is started with --marker-path)`} stays where it is: by it a restored copy is noticed, so no copy of it may come back with this one.`,
  ].join(' ');
}

/** The places that the settings name. */
export function dataPlaces(flags: Flags): {
  readonly settings: Settings;
  readonly dataDir: string;
  /** Null where it is beside the data directory. */
  readonly markerPath: string | null;
} {
  const settings = openSettings({ flags, env: process.env, cwd: process.cwd() });
  const dataDir = settings.find('dataDir')?.value ?? defaultDataDir(process.env);
  return { settings, dataDir, markerPath: settings.find('markerPath')?.value ?? null };
}

function requireFiles({ find }: Settings, dir: string): void {
  const path = find('databaseUrlPath');
  if (path === null && find('databaseUrl') === null) return;
  const url = path === null ? '"$SERVICE_DATABASE_URL"' : `"$(cat ${path.value})"`;
  const hint =
    path === null ? ' SERVICE_DATABASE_URL in it is the URL of the database: export it first.' : '';
  throw new ConfigError(
    `Everything is kept in a PostgreSQL database: copy that with pg_dump --format=custom --schema=wallet_sidecar --file=${dir} ${url} and keep the secrets key elsewhere.${hint}`,
  );
}

/** Copies into a directory of another name, which is renamed when all of it is on the disk. Returns what was copied. */
function copyInto(dataDir: string, target: string): readonly string[] {
  let part: string | null = null;
  try {
    part = mkdtempSync(`${target}.part-`);
    const files: Contents['files'] = {};
    for (const name of COPIED) {
      const [from, to] = [join(dataDir, name), join(part, name)];
      if (!existsSync(from)) continue;
      if (name === TRIAL_SEED_FILE) copyFileSync(from, to);
      else copyDatabase(from, to);
      sync(to);
      const damage = name === TRIAL_SEED_FILE ? null : firstDamage(to);
      if (damage !== null)
        throw new ConfigError(`${from} is damaged (${damage}): nothing was kept.`);
      files[name] = fingerprint(to);
    }
    const contents: Contents = {
      format: 1,
      made_at: new Date(systemClock.now()).toISOString(),
      version: VERSION,
      files,
    };
    const note = join(part, CONTENTS_FILE);
    createPrivateFile(note, `${JSON.stringify(contents, null, 2)}\n`);
    sync(note);
    syncFolder(part);
    renameSync(part, target);
    syncFolder(dirname(target));
    return Object.keys(files);
  } catch (error) {
    if (part !== null) rmSync(part, { recursive: true, force: true });
    if (error instanceof ConfigError) throw error;
    throw fileUnusable(target, error, 'name another directory');
  }
}
