import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hex } from '@scure/base';
import { fileUnusable } from './file-problem.ts';
import { createPrivateFile } from './replace-file.ts';

/** A token that proves that its bearer owns the data directory, while this process runs (docs/decisions.md 73). */
export interface Cookie {
  /** 64 hex characters. */
  readonly token: string;
  /** Removes the file, unless another process has replaced it. */
  remove(): void;
}

const TOKEN_BYTES = 32;

/** Writes a fresh token to `<data-dir>/cookie`, which only the owner can read. Throws FileUnusable. */
export function writeCookie(dataDir: string, random: (bytes: number) => Uint8Array): Cookie {
  const path = cookieFile(dataDir);
  const token = hex.encode(random(TOKEN_BYTES));
  try {
    // A symbolic link is removed, not its target. A file that appears here before the next step makes that step fail.
    rmSync(path, { force: true });
    createPrivateFile(path, token);
  } catch (error) {
    throw fileUnusable(path, error, 'remove it');
  }
  return {
    token,
    remove() {
      if (readCookie(dataDir) === token) rmSync(path, { force: true });
    },
  };
}

/** Reads the token in a data directory; null when this user can read none. Symbolic links are not followed. */
export function readCookie(dataDir: string): string | null {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Both flags are undefined on Windows, where ordinary users may not create symbolic links.
    const file = openSync(cookieFile(dataDir), O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
    try {
      const text = fstatSync(file).isFile() ? readFileSync(file, 'utf8').trim() : '';
      return /^[0-9a-f]{64}$/.test(text) ? text : null;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}

function cookieFile(dataDir: string): string {
  return join(dataDir, 'cookie');
}
