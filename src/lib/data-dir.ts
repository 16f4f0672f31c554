import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from './clock.ts';
import { FileUnusable, fileUnusable } from './file-problem.ts';
import { takeKernelLock } from './kernel-lock.ts';
import { replacePrivateFile } from './replace-file.ts';

/** The process that owns a data directory, as it says itself: for messages and for finding it, never for locking. */
export interface Owner {
  /** As seen in its own container. */
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Base URL by which programs on this machine reach it; null until it listens. */
  readonly url: string | null;
}

/** A data directory that this process owns. */
export interface OwnedDataDir {
  /** Writes down where the owner can be reached, for {@link readOwner}. */
  noteUrl(url: string): void;
  /** Gives the directory back; without it, the kernel does when the process ends. */
  release(): void;
}

const ADVICE = 'use another --data-dir';

/**
 * Makes the directory, readable by its owner only, and takes its lock, so that one process owns it. Throws
 * {@link FileUnusable} with a sentence that says who has it, or why it cannot be used.
 */
export function ownDataDir(dir: string): OwnedDataDir {
  try {
    makePrivateDir(dir);
    const release = takeKernelLock(join(dir, 'lock.sqlite'));
    if (release === null) throw inUse(dir, readOwner(dir));
    return owned(dir, release);
  } catch (error) {
    throw fileUnusable(dir, error, ADVICE);
  }
}

/** What the last owner of a data directory wrote about itself; it may be gone. Null when nothing can be read. */
export function readOwner(dir: string): Owner | null {
  try {
    const { pid, startedAt, url } = JSON.parse(readFileSync(ownerFile(dir), 'utf8'));
    if (typeof pid !== 'number' || typeof startedAt !== 'string') return null;
    return { pid, startedAt, url: typeof url === 'string' ? url : null };
  } catch {
    return null;
  }
}

function owned(dir: string, release: () => void): OwnedDataDir {
  const path = ownerFile(dir);
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
    release() {
      // While the lock is still held: afterwards the file may be another owner's.
      rmSync(path, { force: true });
      release();
    },
  };
}

function makePrivateDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const user = process.geteuid?.();
  // The superuser may work for others, as in a container with a mounted directory.
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
