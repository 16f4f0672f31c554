import { existsSync, statfsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename, join } from 'node:path';
import { LOCK_FILE } from '../lib/files/data-dir.ts';
import { watchFiles } from '../lib/files/file-watch.ts';
import type { Log } from '../lib/log.ts';
import { firstDamage } from '../store/sqlite/index.ts';
import { CHECK_COMMAND } from './check-command.ts';
import { SANDBOX_FILE, STORE_FILE } from './data-files.ts';

/** Finds damage to the files of the data directory while the sidecar runs. */
export interface DataCare {
  /** Returns one sentence for each problem, for health. */
  problems(): readonly string[];
  stop(): void;
}

const FILES = [STORE_FILE, SANDBOX_FILE];
const LOOK_EVERY_MS = 5_000;
/** The first check comes after the start, which it would slow down. After that there is one each day. */
const FIRST_CHECK_MS = 30_000;
const CHECK_EVERY_MS = 24 * 3600 * 1000;
/** A check that takes longer is stopped, because the write-ahead log cannot be shortened during a check. */
const CHECK_LIMIT_MS = 10 * 60 * 1000;
const LOWEST_PRIORITY = 19;
/** With less space than this the next payments may find no room. */
const LEAST_FREE_BYTES = 16 * 1024 * 1024;

/**
 * Watches the databases while the sidecar runs (docs/decisions.md 87). It finds files that were removed or replaced,
 * damaged pages, and a disk that is nearly full. It must be called when the databases are open. A store in memory has
 * no problems. `freeBytes` returns the free space of a directory's disk.
 */
export async function careForData(
  dataDir: string,
  log: Log,
  freeBytes: (dir: string) => number = freeOnDisk,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<DataCare> {
  if (dataDir === ':memory:') return { problems: () => [], stop: () => undefined };
  const databases = FILES.map((file) => join(dataDir, file)).filter((path) => existsSync(path));
  const watch = await watchFiles({
    paths: [...databases, ...databases.map((path) => `${path}-wal`), join(dataDir, LOCK_FILE)],
    everyMs: lookEveryMs,
    onChange: (lost) => {
      if (lost.length > 0) log.error(lostWords(lost));
      else log.warn('The files of the data directory are back.');
    },
  });
  const damaged = new Map<string, string>();
  const ending = new AbortController();
  const checkAll = async () => {
    for (const path of databases) {
      if (ending.signal.aborted || watch.lost().includes(path)) continue;
      const found = await checkApart(path, ending.signal);
      if (ending.signal.aborted) return;
      if (found.state === 'unknown') {
        log.warn(`${path} could not be checked for damage. The check is repeated in a day.`, {
          problem: found.problem,
        });
        continue;
      }
      if (found.state === 'good') damaged.delete(path);
      else {
        damaged.set(path, damageWords(path));
        log.error(damageWords(path), { problem: found.problem });
      }
    }
  };
  let wasShort = false;
  const lookAtSpace = () => {
    const isShort = freeBytes(dataDir) < LEAST_FREE_BYTES;
    if (isShort && !wasShort) log.warn(shortWords(dataDir));
    wasShort = isShort;
  };
  const space = setInterval(lookAtSpace, lookEveryMs);
  const first = setTimeout(() => void checkAll(), FIRST_CHECK_MS);
  const daily = setInterval(() => void checkAll(), CHECK_EVERY_MS);
  return {
    problems: () => [
      ...(watch.lost().length > 0 ? [lostWords(watch.lost())] : []),
      ...damaged.values(),
      ...(freeBytes(dataDir) < LEAST_FREE_BYTES ? [shortWords(dataDir)] : []),
    ],
    stop() {
      watch.stop();
      clearInterval(space);
      clearTimeout(first);
      clearInterval(daily);
      ending.abort();
    },
  };
}

/** Runs in the process that {@link CHECK_COMMAND} starts. Prints one line of JSON: the first damage found, or null. */
export function checkDatabase(path: string): void {
  console.log(JSON.stringify(firstDamage(path)));
}

type Check =
  | { readonly state: 'good' }
  | { readonly state: 'damaged' | 'unknown'; readonly problem: string };

/** Checks a database in a process of its own, because reading the whole file would block this one. */
async function checkApart(path: string, signal: AbortSignal): Promise<Check> {
  try {
    const child = Bun.spawn([...ownCommand(), CHECK_COMMAND, path], {
      env: {},
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: CHECK_LIMIT_MS,
      signal,
    });
    lowerPriority(child.pid);
    const [output, complaint, exitCode] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    if (exitCode !== 0) {
      return {
        state: 'unknown',
        problem: complaint.trim().slice(0, 500) || `exit code ${exitCode}`,
      };
    }
    const damage: unknown = JSON.parse(output);
    return damage === null ? { state: 'good' } : { state: 'damaged', problem: String(damage) };
  } catch (error) {
    return { state: 'unknown', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the command that starts this program again: the compiled binary, or Bun with the main module. */
function ownCommand(): string[] {
  const compiled = /^(\/\$bunfs|B:[\\/]~BUN)/.test(Bun.main);
  return compiled ? [process.execPath] : [process.execPath, Bun.main];
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, LOWEST_PRIORITY);
  } catch {
    // The process may be over already, or a service may not be allowed to set priorities. The check works without it.
  }
}

function lostWords(lost: readonly string[]): string {
  const [first = ''] = lost;
  const others =
    lost.length > 1
      ? ` and ${lost
          .slice(1)
          .map((path) => basename(path))
          .join(', ')}`
      : '';
  return `${first}${others} was removed or replaced while the sidecar runs, so its changes are lost when it stops: stop it, put the files back or restore them from a backup, and start it again.`;
}

/** Returns the free space; infinite where it cannot be found out, as of a directory that was removed. */
function freeOnDisk(dir: string): number {
  try {
    const { bavail, bsize } = statfsSync(dir);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

function shortWords(dataDir: string): string {
  return `The disk of ${dataDir} is full or nearly full, and nothing is paid or received without room: free space on it.`;
}

function damageWords(path: string): string {
  return `${path} is damaged: stop the sidecar, keep a copy of the file, restore it from a backup, and check the disk.`;
}
