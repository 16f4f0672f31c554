import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { type Cookie, writeCookie } from './cookie-file.ts';
import { FileUnusable, fileUnusable } from './file-problem.ts';
import { isKernelLockFree, takeKernelLock } from './kernel-lock.ts';
import { replacePrivateFile } from './replace-file.ts';

/** What the owner of a data directory wrote of itself: for messages, never a lock (docs/decisions.md 84). */
export interface Owner {
  /** The process id, as seen in its own container. */
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Base URL by which programs on this machine reach it; null until it listens. */
  readonly url: string | null;
}

/** A data directory that this process owns. */
export interface OwnedDataDir {
  noteUrl(url: string): void;
  /** Writes a cookie, which is removed before the lock is released, and returns its token. Throws FileUnusable. */
  writeCookie(random: (bytes: number) => Uint8Array): string;
  /** Releases the lock. If this is never called, the kernel releases it when the process ends. */
  release(): void;
}

const ADVICE = 'use another --data-dir';

/** The name of the file in a data directory whose lock the process that owns it holds. */
export const LOCK_FILE = 'lock.sqlite';

/**
 * Creates the directory, which only this user can read, and takes its lock, so that one process owns it
 * (docs/decisions.md 84). Throws {@link FileUnusable} with a sentence that says which process owns the directory, or
 * why it cannot be used.
 */
export function ownDataDir(dir: string): OwnedDataDir {
  try {
    makePrivateDir(dir);
    const release = takeKernelLock(join(dir, LOCK_FILE));
    if (release === null) throw inUse(dir, readOwner(dir));
    return owned(dir, release);
  } catch (error) {
    throw fileUnusable(dir, error, ADVICE);
  }
}

/** Reads what the last owner, which may have ended, wrote of itself. Returns null when nothing can be read. */
export function readOwner(dir: string): Owner | null {
  try {
    const { pid, startedAt, url } = JSON.parse(readFileSync(ownerFile(dir), 'utf8'));
    if (typeof pid !== 'number' || typeof startedAt !== 'string') return null;
    return { pid, startedAt, url: typeof url === 'string' ? url : null };
  } catch {
    return null;
  }
}

/**
 * Works as {@link readOwner}, but returns null where the lock is free, so that the process has ended. It must not be
 * called by a process that owns a data directory.
 */
export function readRunningOwner(dir: string): Owner | null {
  const owner = readOwner(dir);
  return owner === null || isKernelLockFree(join(dir, LOCK_FILE)) ? null : owner;
}

function owned(dir: string, release: () => void): OwnedDataDir {
  const path = ownerFile(dir);
  let cookie: Cookie | null = null;
  const owner: Owner = {
    pid: process.pid,
    startedAt: new Date(systemClock.now()).toISOString(),
    url: null,
  };
  const write = (value: Owner) => replacePrivateFile(path, JSON.stringify(value));
  try {
    write(owner);
  } catch (error) {
    release();
    throw error;
  }
  return {
    noteUrl: (url) => write({ ...owner, url }),
    writeCookie(random) {
      cookie = writeCookie(dir, random);
      return cookie.token;
    },
    release() {
      cookie?.remove();
      // The file is removed while the lock is still held: afterwards it may belong to another owner.
      rmSync(path, { force: true });
      release();
    },
  };
}

function makePrivateDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const user = process.geteuid?.();
  // The superuser may use a directory of another user, as in a container with a mounted directory.
  if (user !== undefined && user !== 0 && statSync(dir).uid !== user) {
    throw new FileUnusable(
      `${dir} belongs to another user: start as that user, change its owner with chown, or ${ADVICE}.`,
    );
  }
  chmodSync(dir, 0o700);
}

function inUse(dir: string, owner: Owner | null): FileUnusable {
  const who =
    owner === null
      ? 'another wallet-sidecar'
      : `the wallet-sidecar with process id ${owner.pid}, started at ${owner.startedAt}`;
  return new FileUnusable(`${dir} is in use by ${who}: stop that one, or ${ADVICE}.`);
}

function ownerFile(dir: string): string {
  return join(dir, 'lock');
}
