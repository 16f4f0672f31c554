import type { Stats } from 'node:fs';

/**
 * Returns a warning for a file with secrets that other users can read (docs/decisions.md 6). Null when they cannot,
 * and always on Windows.
 */
export function readableByOthers(path: string, { mode }: Stats): string | null {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
    ? `${path} can be read by other users of this machine: run chmod 600 on it.`
    : null;
}
