import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileUnusable } from './file-problem.ts';
import { createPrivateFile } from './replace-file.ts';

/** A token that shows its bearer to be the owner of the data directory, for as long as this process lives. */
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
  const token = Buffer.from(random(TOKEN_BYTES)).toString('hex');
  try {
    // Removes a link, not what it leads to; what appears at this name in between makes the next step fail.
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

/** The token in a data directory; null when there is none that this user can read. Links are not followed. */
export function readCookie(dataDir: string): string | null {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    // Undefined on Windows, where links need rights that others do not have.
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
