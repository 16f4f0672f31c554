import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Where a step towards the disk is hit. */
export interface Fault {
  /** Dies before anything of the step is kept, or when all of it is; or the step fails once and the process goes on. */
  readonly kind: 'kill before' | 'kill after' | 'no space' | 'i/o error';
  /** Which step, from 1 on. */
  readonly step: number;
}

/** The disk of a machine as a process sees it that is started with this environment. */
export interface FaultyDisk {
  readonly env: Readonly<Record<string, string>>;
  /** From now on steps are counted anew, and this one is hit; null only counts. */
  arm(fault: Fault | null): void;
  disarm(): void;
  /** Whether the fault has happened. */
  fired(): boolean;
  /** Steps since armed. */
  steps(): number;
}

const MODES = { 'kill before': 1, 'kill after': 2, 'no space': 3, 'i/o error': 3 } as const;
const ENOSPC = 28;
const EIO = 5;

/**
 * Makes a disk for files whose path begins with `root`, with files of its own in `folder`; or returns null and says so
 * where it cannot be made.
 */
export function faultyDisk(folder: string, root: string): FaultyDisk | null {
  const library = join(folder, 'faulty-disk.so');
  const source = join(import.meta.dir, 'faulty-disk.c');
  const compiler = process.platform === 'linux' ? Bun.which('cc') : null;
  const built =
    compiler !== null &&
    Bun.spawnSync([compiler, '-shared', '-fPIC', '-O2', '-o', library, source]).success;
  if (!built) {
    console.warn('SKIPPED: writes of a process are hit on Linux only, with a C compiler (cc).');
    return null;
  }
  const path = join(folder, 'faulty-disk');
  writeFileSync(path, new Int32Array(6));
  const file = openSync(path, 'r+');
  process.once('exit', () => closeSync(file));
  // Written and read in place: the process has the file mapped.
  const write = (...words: number[]) => void writeSync(file, new Int32Array(words), 0, 24, 0);
  const word = (at: number) => {
    const words = new Int32Array(6);
    readSync(file, words, 0, 24, 0);
    return words[at] ?? 0;
  };
  return {
    env: { LD_PRELOAD: library, FAULTY_DISK_FILE: path, FAULTY_DISK_ROOT: root },
    arm(fault) {
      const error = fault?.kind === 'no space' ? ENOSPC : EIO;
      // A step that is never reached: counts only.
      if (fault === null) write(1, -1, 0, 0, 0, 0);
      else write(MODES[fault.kind], fault.step, error, 0, 0, 0);
    },
    disarm: () => write(0, 0, 0, 0, 0, 0),
    fired: () => word(5) === 1,
    steps: () => word(3),
  };
}
