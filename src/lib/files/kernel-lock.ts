import { Database } from 'bun:sqlite';
import { chmodSync } from 'node:fs';
import { codeOf } from '../error-code.ts';

/** Open connections that hold a lock. Without this reference the garbage collector would close them. */
const held = new Set<Database>();

/**
 * Takes a lock that the kernel holds until it is released or the process ends in any way, and that other containers on
 * this machine see too (docs/decisions.md 84). Returns a function that releases it, or null when another process has
 * the lock.
 *
 * - The lock is SQLite's write lock on an empty file: a record lock on Unix, LockFile on Windows.
 * - It is taken with IMMEDIATE. With EXCLUSIVE, two processes that upgrade a shared lock at the same time can block
 *   each other; of two that take the write lock, one always gets it.
 * - The file is never removed: one process could then lock the removed file, and another process a new one.
 * - Only SQLite opens the file: closing any other handle of this process on it would release the lock.
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
