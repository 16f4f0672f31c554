import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** A data directory that cannot be used now; the message is one sentence for the person who starts the program. */
class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable';
}

/**
 * Makes the directory, readable by its owner only, and takes its lock, so that one process owns it. Answers how to
 * give it back. Throws {@link DataDirUnusable}, saying who has it. The lock of a process that is gone is taken over.
 */
export function ownDataDir(dir: string): () => void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const path = join(dir, 'lock');
  if (!tryLock(path)) {
    const owner = readOwner(path);
    if (owner !== null && isSameProcess(owner)) {
      throw new DataDirUnusable(
        `${dir} is in use by the wallet-sidecar with process id ${owner.pid}: stop that one, or use another --data-dir.`,
      );
    }
    rmSync(path, { force: true });
    if (!tryLock(path)) {
      throw new DataDirUnusable(
        `${dir} was taken by another wallet-sidecar at this moment: try again.`,
      );
    }
  }
  return () => rmSync(path, { force: true });
}

interface Owner {
  readonly pid: number;
  /** When that process began, where the system tells: a process id alone may be given to another process. */
  readonly startedAt: string;
}

function tryLock(path: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600);
    const owner: Owner = { pid: process.pid, startedAt: startOf(process.pid) };
    writeSync(file, JSON.stringify(owner));
    closeSync(file);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false;
    throw error;
  }
}

function readOwner(path: string): Owner | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    // Half written by a process that was killed at this very moment.
    return null;
  }
}

function isSameProcess({ pid, startedAt }: Owner): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM' && startOf(pid) === startedAt;
  }
  return startOf(pid) === startedAt;
}

/** The 22nd field of /proc/<pid>/stat; empty on systems without it. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
