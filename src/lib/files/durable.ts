import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns when the content of these files, or the entries of these directories, have reached the disk. */
export function sync(...paths: readonly string[]): void {
  for (const path of paths) {
    const file = openSync(path, process.platform === 'win32' ? 'r+' : 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** Works as {@link sync} for a directory. On Windows none can be opened, and renames are durable without it. */
export function syncFolder(path: string): void {
  if (process.platform !== 'win32') sync(path);
}
