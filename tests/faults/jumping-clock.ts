import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** The clock of a machine as a process sees it that is started with this environment. */
export interface JumpingClock {
  readonly env: Readonly<Record<string, string>>;
  /** Sets it to the real time and so many milliseconds more (or fewer), at once and while the process runs. */
  set(offsetMs: number): void;
}

/** Makes a clock whose files are kept in `folder`, or answers null and says so where it cannot be made. */
export function jumpingClock(folder: string): JumpingClock | null {
  const library = join(folder, 'jumping-clock.so');
  const source = join(import.meta.dir, 'jumping-clock.c');
  const compiler = process.platform === 'linux' ? Bun.which('cc') : null;
  const built =
    compiler !== null &&
    Bun.spawnSync([compiler, '-shared', '-fPIC', '-O2', '-o', library, source]).success;
  if (!built) {
    console.warn('SKIPPED: the clock of a process is moved on Linux only, with a C compiler (cc).');
    return null;
  }
  const path = join(folder, 'clock-offset');
  writeFileSync(path, new BigInt64Array([0n]));
  const file = openSync(path, 'r+');
  process.once('exit', () => closeSync(file));
  return {
    env: { LD_PRELOAD: library, CLOCK_OFFSET_FILE: path },
    // Written in place: the process has the file mapped.
    set: (offsetMs) =>
      void writeSync(file, new BigInt64Array([BigInt(Math.trunc(offsetMs))]), 0, 8, 0),
  };
}
