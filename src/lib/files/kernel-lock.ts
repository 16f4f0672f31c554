import { Database } from 'bun:sqlite';
import { chmodSync, lstatSync } from 'node:fs';
import { codeOf } from '../error-code.ts';

/** Open connections that hold a lock. Without this reference the garbage collector would close them. */
const held = new Set<Database>();

/** How long another process may try the lock, which it then has for a moment (docs/decisions.md 191). */
const TRIED_WITHIN_MS = 250;
/** How long one that tries the lock waits for another that does; a sidecar that runs has it for longer. */
const TRIES_FOR_MS = 5;

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
    begin(database, TRIED_WITHIN_MS);
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

/**
 * Whether no process holds the lock. False too where that cannot be found out: the file is not there or no lock, or
 * this user may not write it. It must not be called by the process that holds the lock.
 */
export function isKernelLockFree(path: string): boolean {
  try {
    const file = lstatSync(path);
    // A lock is empty. SQLite would roll back what others have left beside another file.
    if (!file.isFile() || file.size > 0) return false;
    const database = new Database(path, { readwrite: true, create: false });
    try {
      begin(database, TRIES_FOR_MS);
      return true;
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}

function begin(database: Database, withinMs: number): void {
  database.run(`PRAGMA busy_timeout = ${withinMs}`);
  database.run('BEGIN IMMEDIATE');
}
