import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A fault at one step towards the disk. */
export interface Fault {
  /**
   * Whether the process is killed before the step writes anything or after it wrote everything, or the step fails once
   * with that error.
   */
  readonly kind: 'kill before' | 'kill after' | 'no space' | 'i/o error';
  /** The number of the step, from 1. */
  readonly step: number;
}

/** A disk with faults that a test chooses. It holds for processes that are started with `env`. */
export interface FaultyDisk {
  readonly env: Readonly<Record<string, string>>;
  /** Counts steps from 1 again, and causes the fault at its step. Null only counts. */
  arm(fault: Fault | null): void;
  disarm(): void;
  /** Whether the fault has happened. */
  fired(): boolean;
  /** The number of steps since `arm`. */
  steps(): number;
}

const MODES = { 'kill before': 1, 'kill after': 2, 'no space': 3, 'i/o error': 3 } as const;
const ENOSPC = 28;
const EIO = 5;

/**
 * Creates a disk for files whose path begins with `root`, with its own files in `folder`. Lines that a program whose
 * path begins with `talker` reads and writes are steps too. Returns null, and prints the reason, where that is not
 * possible.
 */
export function faultyDisk(folder: string, root: string, talker?: string): FaultyDisk | null {
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
  // The file is read and written in place, because the process has it mapped.
  const write = (...words: number[]) => void writeSync(file, new Int32Array(words), 0, 24, 0);
  const word = (at: number) => {
    const words = new Int32Array(6);
    readSync(file, words, 0, 24, 0);
    return words[at] ?? 0;
  };
  return {
    env: {
      ...{ LD_PRELOAD: library, FAULTY_DISK_FILE: path, FAULTY_DISK_ROOT: root },
      ...(talker !== undefined && { FAULTY_DISK_TALKER: talker }),
    },
    arm(fault) {
      const error = fault?.kind === 'no space' ? ENOSPC : EIO;
      // Step -1 is never reached, so the steps are only counted.
      if (fault === null) write(1, -1, 0, 0, 0, 0);
      else write(MODES[fault.kind], fault.step, error, 0, 0, 0);
    },
    disarm: () => write(0, 0, 0, 0, 0, 0),
    fired: () => word(5) === 1,
    steps: () => word(3),
  };
}
