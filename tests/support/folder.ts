import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, on which nothing waits for a disk. */
const IN_MEMORY = '/dev/shm';
/** The room that it must have, in bytes: the folders of all tests that run side by side are in it. */
const ROOM = 4 * 2 ** 30;

/** Whether programs run from there, and there is room: a container's is small, and runs none. */
function isUsable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === folder);
    return bavail * bsize >= ROOM && mount !== undefined && !mount.includes('noexec');
  } catch {
    return false;
  }
}

/** `bun test` says so in NODE_ENV; what measures, such as `npm run bench`, does it on the disk. */
const isTest = process.env.NODE_ENV === 'test';
const isOpen = process.env.TMPDIR === undefined;
const place = isTest && isOpen && isUsable(IN_MEMORY) ? IN_MEMORY : tmpdir();

/**
 * A new empty folder, whose name tells what it is for; {@link removeFolder} removes it. In tests it is in
 * memory where that can hold it and TMPDIR names no other place.
 */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(place, `wallet-sidecar-${name}-`));
}

/** Removes a folder with all it holds; no effect where there is none. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
