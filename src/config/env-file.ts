import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Parsed } from '../model/parsed.ts';
import { readableByOthers } from './file-access.ts';
import { OPTIONS, type OptionSpec } from './options.ts';

interface EnvFile {
  readonly path: string;
  readonly values: Readonly<Record<string, string | undefined>>;
  /** Set when the file holds a secret setting, and other users can read it. */
  readonly warning: string | null;
}

/**
 * Reads the values of the first `.env` in a folder or above it; the value is null when there is none. No text of the
 * file is executed, and the environment is not changed. A file that another user could have written is a problem
 * (docs/decisions.md 5).
 */
export function readNearestEnv(start: string): Parsed<EnvFile | null> {
  for (let folder = start; ; folder = dirname(folder)) {
    const path = join(folder, '.env');
    const stats = statSync(path, { throwIfNoEntry: false });
    // A folder named .env is not a settings file; it may be a Python environment.
    if (stats !== undefined && !stats.isDirectory()) return readEnv(path, stats);
    if (dirname(folder) === folder) return { value: null };
  }
}

/** Reads the values of a settings file that was named. It must be there; otherwise as {@link readNearestEnv}. */
export function readEnvFile(path: string): Parsed<EnvFile> {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined
    ? { problem: `--env-file names ${path}, which is not there: check the path` }
    : readEnv(path, stats);
}

function readEnv(path: string, found: Stats): Parsed<EnvFile> {
  if (!found.isFile()) return { problem: `${path} is not a file: give a file, or remove it` };
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return { problem: `${path} cannot be read: run chmod 600 on it as its owner, or remove it` };
  }
  try {
    // The checks are made on the opened file, which cannot be replaced between check and reading.
    const stats = fstatSync(file);
    const problem =
      untrusted(path, lstatSync(path)) ?? untrusted(path, stats) ?? writable(path, stats);
    if (problem !== null) return { problem };
    const values = parseEnv(readFileSync(file, 'utf8'));
    return {
      value: { path, values, warning: holdsSecret(values) ? readableByOthers(path, stats) : null },
    };
  } finally {
    closeSync(file);
  }
}

function holdsSecret(values: EnvFile['values']): boolean {
  return Object.values(OPTIONS).some((option: OptionSpec) => option.secret && values[option.env]);
}

function untrusted(path: string, { uid }: Stats): string | null {
  const user = process.geteuid?.();
  if (user === undefined || uid === user || uid === 0) return null;
  return `${path} belongs to another user, who could set anything in it: run chown ${user} on it if it is yours, or remove it`;
}

function writable(path: string, { mode }: Stats): string | null {
  return process.platform !== 'win32' && (mode & 0o022) !== 0
    ? `${path} can be written by other users, who could set anything in it: run chmod 600 on it`
    : null;
}
