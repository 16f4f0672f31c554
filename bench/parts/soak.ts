import { residentMb } from '../floors.ts';
import { mixedLoad } from '../mixed.ts';
import { startMixedWorld } from '../mixed-world.ts';
import type { Point } from '../page/picture.ts';
import { setting } from '../settings.ts';
import type { Bench } from './part.ts';

/** Requests per second, about a fifth of what two busy cores answer. 25 of them end a payment. */
const PACE = 500;
/** The time is cut into this many slices, each of which is a point of the picture. */
const SLICES = 60;

/** Keeps a mixed load up at a fixed pace, and draws latencies and memory over time. */
export async function measureSoak({ note, draw, folder }: Bench): Promise<void> {
  const minutes = setting('BENCH_SOAK_MINUTES');
  const requests = Math.ceil((minutes * 60 * PACE) / SLICES);
  const world = await startMixedWorld(folder);
  const [p50, p99, memory]: [Point[], Point[], Point[]] = [[], [], []];
  let undocumented = 0;
  try {
    for (let slice = 1; slice <= SLICES; slice++) {
      const result = await mixedLoad(world, { requests, perSecond: PACE });
      const minute = (slice * minutes) / SLICES;
      p50.push([minute, result.p50Ms]);
      p99.push([minute, result.p99Ms]);
      memory.push([minute, residentMb(world.pid)]);
      undocumented += result.undocumented;
    }
  } finally {
    await world.stop();
  }
  const half = (points: readonly Point[], from: 0 | 1) =>
    medianOf(points.slice((from * SLICES) / 2, ((from + 1) * SLICES) / 2));
  const load = `${minutes} minutes of ${PACE} requests a second`;
  note(`${load}: p99 of the second half`, `${half(p99, 1).toFixed(1)} ms`, {
    beside: `${half(p99, 0).toFixed(1)} ms, of the first half`,
    goal: { target: 'soakLatency', is: half(p99, 1) },
  });
  note(`${load}: memory in the second half`, `${half(memory, 1).toFixed(0)} MB`, {
    beside: `${half(memory, 0).toFixed(0)} MB, in the first half`,
    goal: { target: 'soakMemory', is: (half(memory, 1) / half(memory, 0) - 1) * 100 },
  });
  note(`${load}: undocumented errors`, `${undocumented}`, {
    goal: { target: 'undocumented', is: undocumented },
  });
  const time = { label: 'minutes', scale: 'linear' } as const;
  draw({
    name: 'soak',
    title: `A mixed load of ${PACE} requests a second`,
    panels: [
      {
        x: time,
        y: { label: 'latency, ms', scale: 'log' },
        lines: [
          { name: 'p99', points: p99 },
          { name: 'p50', points: p50 },
        ],
      },
      {
        x: time,
        y: { label: 'memory, MB', scale: 'linear' },
        lines: [{ name: 'resident memory', points: memory }],
      },
    ],
  });
}

function medianOf(points: readonly Point[]): number {
  const values = points.map(([, value]) => value).toSorted((a, b) => a - b);
  return values[Math.floor(values.length / 2)] ?? 0;
}
