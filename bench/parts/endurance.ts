import { measureEndurance } from '../endurance.ts';
import { startMixedWorld } from '../mixed-world.ts';
import { setting } from '../settings.ts';
import type { Bench } from './part.ts';

/** Measures a mixed load, and whether the memory grows over many reads, on a sidecar of its own. */
export async function measureMixedLoad({ note, folder }: Bench): Promise<void> {
  const world = await startMixedWorld(folder);
  try {
    await measureEndurance(world, note, {
      requests: setting('BENCH_MIXED'),
      reads: setting('BENCH_READS'),
    });
  } finally {
    await world.stop();
  }
}
