import { Database } from 'bun:sqlite';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Folders with what a release left, one for each; README.md says how they are made. */
export const RELEASES = join(import.meta.dir, 'releases');
/** The databases of a data directory, each kept as the SQL that makes it. */
const DATABASES = ['sidecar', 'sandbox'] as const;

/** How a keyed request stood when the release ended. */
export type Standing =
  /** It was answered with 200. */
  | 'done'
  /** Its payment was under way, and it was answered with 202. */
  | 'pending'
  /** Its payment was under way when the process was killed, so that it was never answered. */
  | 'cut off';

/** A request with an Idempotency-Key, and what the release answered. */
export interface KeyedRequest {
  /** The Idempotency-Key. */
  readonly key: string;
  /** The version that was asked. */
  readonly version: string;
  /** The name of the caller in {@link ReleaseNotes}. */
  readonly caller: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly standing: Standing;
  /** The answer's body; null where there was none. */
  readonly answer: Readonly<Record<string, unknown>> | null;
}

/** A caller of the release. */
export interface ReleaseCaller {
  /** Null for the owner, who sends none. */
  readonly credentials: string | null;
  readonly scopes: readonly string[];
  readonly isRevoked: boolean;
}

/** What is known of the data besides the databases. */
export interface ReleaseNotes {
  readonly version: string;
  readonly callers: Readonly<Record<string, ReleaseCaller>>;
  readonly requests: readonly KeyedRequest[];
  /** Hashes of the payments that an outside node holds: each can be settled. */
  readonly held: readonly string[];
}

/** The names of the folders in {@link RELEASES}. */
export function releases(): string[] {
  return readdirSync(RELEASES).toSorted();
}

export function readNotes(folder: string): Promise<ReleaseNotes> {
  return Bun.file(join(folder, 'requests.json')).json();
}

/** Makes a data directory of what a release left. */
export async function restoreData(folder: string, dataDir: string): Promise<void> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  for (const [kept, file] of files(folder, dataDir)) if (existsSync(kept)) copyFileSync(kept, file);
  for (const name of DATABASES) {
    const db = new Database(join(dataDir, `${name}.sqlite`), { create: true });
    const kept = await Bun.file(join(folder, `${name}.sql.gz`)).bytes();
    db.run(new TextDecoder().decode(Bun.gunzipSync(kept)));
    db.close();
  }
}

/** Keeps a data directory, whose sidecar has ended, as the data of a release. */
export async function keepData(
  dataDir: string,
  folder: string,
  notes: ReleaseNotes,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [kept, file] of files(folder, dataDir)) if (existsSync(file)) copyFileSync(file, kept);
  for (const name of DATABASES) {
    const ask = (what: string) => sqlite(join(dataDir, `${name}.sqlite`), what);
    const version = `PRAGMA user_version = ${ask('PRAGMA user_version').trim()};\n`;
    const sql = Bun.gzipSync(new TextEncoder().encode(ask('.dump') + version), { level: 9 });
    await Bun.write(join(folder, `${name}.sql.gz`), sql);
  }
  await Bun.write(join(folder, 'requests.json'), `${JSON.stringify(notes, null, 1)}\n`);
}

/** The files besides the databases: where the data of a release has them, and where the sidecar does. */
function files(folder: string, dataDir: string): [string, string][] {
  return [
    [join(folder, 'dev-root-seed'), join(dataDir, 'dev-root-seed')],
    [join(folder, 'marker'), `${dataDir}.marker`],
  ];
}

/** What the program sqlite3 prints, which must be installed. */
function sqlite(path: string, what: string): string {
  const { success, stdout, stderr } = Bun.spawnSync(['sqlite3', path, what]);
  if (!success) throw new Error(`${stderr}`);
  return `${stdout}`;
}
