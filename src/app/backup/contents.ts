import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../../config/sources.ts';
import { LOCK_FILE } from '../../lib/files/data-dir.ts';
import { SANDBOX_FILE, STORE_FILE, TRIAL_SEED_FILE } from '../data-files.ts';
import { RESTORING } from '../moved-data.ts';

/**
 * What a backup holds, in the order in which it is copied: the node comes after the store, because a node that is ahead
 * of its store is followed, and one that is behind is not known.
 */
export const COPIED = [STORE_FILE, SANDBOX_FILE, TRIAL_SEED_FILE] as const;

/** The file that makes a directory a whole backup. It is written last. */
export const CONTENTS_FILE = 'backup.json';

/** What a backup says of itself. */
export type Contents = z.output<typeof contents>;
const contents = z.object({
  format: z.literal(1),
  /** ISO 8601. */
  made_at: z.iso.datetime(),
  /** The version of the program that made it. */
  version: z.string(),
  files: z.partialRecord(z.enum(COPIED), z.object({ bytes: z.int(), sha256: z.string() })),
});

/**
 * Throws {@link ConfigError} for a data directory in which a link stands for a file that is copied: the superuser would
 * follow it for the user who put it there.
 */
export function requireNoLinks(dataDir: string): void {
  const names = [...COPIED, ...COPIED.map((name) => `${name}${RESTORING}`), LOCK_FILE];
  const link = names
    .map((name) => join(dataDir, name))
    .find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link === undefined) return;
  throw new ConfigError(`${link} is a symbolic link: remove it, and look who has put it there.`);
}

/** Returns the size and hash of a file. */
export function fingerprint(path: string): { bytes: number; sha256: string } {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(1024 * 1024);
  const file = openSync(path, 'r');
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      hash.update(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
  return { bytes: statSync(path).size, sha256: hash.digest('hex') };
}

/** Returns what a whole backup holds. Throws {@link ConfigError} for any other directory. */
export function readContents(dir: string): Contents {
  const problem = notWhole(dir, `its ${CONTENTS_FILE} is missing or cannot be read`);
  let text: unknown;
  try {
    text = JSON.parse(readFileSync(join(dir, CONTENTS_FILE), 'utf8'));
  } catch (cause) {
    throw new ConfigError(problem.message, { cause });
  }
  const read = contents.safeParse(text);
  if (!read.success || read.data.files[STORE_FILE] === undefined) throw problem;
  for (const [name, noted] of Object.entries(read.data.files)) {
    const path = join(dir, name);
    if (!existsSync(path)) throw notWhole(dir, `${name} is missing`);
    const found = fingerprint(path);
    if (found.bytes !== noted.bytes || found.sha256 !== noted.sha256) {
      throw notWhole(dir, `${name} is not as it was copied`);
    }
  }
  return read.data;
}

/** Returns the error of a directory that cannot be used as a backup. */
export function notWhole(dir: string, why: string): ConfigError {
  return new ConfigError(
    `${dir} is not a whole backup, since ${why}: name a directory that "wallet-sidecar backup" made.`,
  );
}
