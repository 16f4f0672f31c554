import { Database } from 'bun:sqlite';
import { chmodSync } from 'node:fs';
import { codeOf } from './error-code.ts';

/** Kept for the life of the process: a collected connection would give its lock back. */
const held = new Set<Database>();

/**
 * Takes a lock that the kernel holds until it is released or the process ends, however it ends, and that is seen in
 * other containers too. Returns the release, or null when another process has the lock.
 *
 * It is SQLite's write lock on an empty file: a record lock on Unix, LockFile on Windows. IMMEDIATE and not
 * EXCLUSIVE, because two processes that go on from a shared to an exclusive lock can keep each other from it, whereas
 * of two that want the write lock one always gets it. The file is never removed, since a process could then lock the
 * removed file and another one its successor; and it is opened by SQLite alone, since closing any other handle of
 * this process on it would end the lock.
 */
export function takeKernelLock(path: string): (() => void) | null {
  const database = new Database(path, { create: true });
  try {
    database.run('PRAGMA busy_timeout = 0');
    database.run('BEGIN IMMEDIATE');
    if (process.platform !== 'win32') chmodSync(path, 0o600);
  } catch (error) {
    database.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) return null;
    throw error;
  }
  held.add(database);
  return () => {
    held.delete(database);
    database.close();
  };
}
