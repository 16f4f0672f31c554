import type { Stats } from 'node:fs';

/** A warning for a file with secrets that the group or others may read; null when they may not, and on Windows. */
export function readableByOthers(path: string, { mode }: Stats): string | null {
  return process.platform !== 'win32' && (mode & 0o077) !== 0
    ? `${path} can be read by other users of this machine: run chmod 600 on it.`
    : null;
}
