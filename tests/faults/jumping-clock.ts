import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A wall clock that a test can set. It holds for processes that are started with `env`. */
export interface JumpingClock {
  readonly env: Readonly<Record<string, string>>;
  /**
   * Sets the clock to the real time plus an offset in milliseconds, which may be negative. It takes effect at once,
   * also for running processes.
   */
  set(offsetMs: number): void;
}

/** Creates a clock with its files in `folder`. Returns null, and prints the reason, where that is not possible. */
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
    // The file is written in place, because the process has it mapped.
    set: (offsetMs) =>
      void writeSync(file, new BigInt64Array([BigInt(Math.trunc(offsetMs))]), 0, 8, 0),
  };
}
