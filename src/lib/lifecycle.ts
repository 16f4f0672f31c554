import type { Log } from './log.ts';

/** One part of the program to stop. */
export interface StopStage {
  readonly name: string;
  readonly stop: () => Promise<void>;
  /** After this many milliseconds the next stage begins, even if this one has not ended. */
  readonly deadlineMs: number;
}

/** Runs the stages one after another. A stage that fails or misses its deadline is logged, and the next one begins. */
export async function runStopStages(stages: readonly StopStage[], log: Log): Promise<void> {
  for (const { name, stop, deadlineMs } of stages) {
    try {
      await withDeadline(stop(), deadlineMs, name);
    } catch (error) {
      log.warn('A part did not stop cleanly.', { part: name, error });
    }
  }
}

async function withDeadline(work: Promise<void>, ms: number, name: string): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} took longer than ${ms} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
