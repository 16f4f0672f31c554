import { cpus, loadavg } from 'node:os';
import type { Surroundings } from './results.ts';

/** For how long is watched what other programs use. */
const WATCH_MS = 4_000;

/** Watches what other programs use. The bench must do nothing meanwhile. */
export async function surroundings(): Promise<Surroundings> {
  const before = times();
  await Bun.sleep(WATCH_MS);
  const after = times();
  const [load = 0] = loadavg();
  const busy = (after.busy - before.busy) / Math.max(after.all - before.all, 1);
  return { load: Math.round(load * 100) / 100, busyPercent: Math.round(busy * 100) };
}

/** The machine in words. */
export function machine(): string {
  return `${cpus().length} x ${cpus()[0]?.model}`;
}

function times(): { all: number; busy: number } {
  const sums = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({
    busy: user + nice + sys + irq,
    idle,
  }));
  const busy = sums.reduce((sum, one) => sum + one.busy, 0);
  return { busy, all: busy + sums.reduce((sum, one) => sum + one.idle, 0) };
}
