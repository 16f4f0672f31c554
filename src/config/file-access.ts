import type { Stats } from 'node:fs';

/** Returns a warning for secrets that others can read (docs/decisions.md 6); null otherwise, and on Windows. */
export function readableByOthers(path: string, { mode }: Stats): string | null {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
    ? `${path} can be read by other users of this machine: run chmod 600 on it.`
    : null;
}
