import type { Note } from './figures.ts';
import { residentMb } from './floors.ts';
import { converse } from './load.ts';
import { type MixedWorld, mixedLoad } from './mixed.ts';
import type { TargetName } from './targets.ts';

/** The running sidecar under load. */
export interface EnduranceWorld extends MixedWorld {
  readonly pid: number;
}

/** Requests per second of a medium-sized application. 50 of them end a payment. */
const PACE = 1000;
const CONNECTIONS = 16;

/** The mixed loads: each one's share of the requests, and its requests per second, where it has a pace. */
const LOADS: readonly MixedPart[] = [
  {
    name: 'mixed load as fast as it goes',
    share: 0.3,
    perSecond: null,
    target: 'mixedUnpaced',
  },
  {
    name: `mixed load of ${PACE} requests a second`,
    share: 0.7,
    perSecond: PACE,
    target: 'mixedPaced',
  },
];

interface MixedPart {
  readonly name: string;
  readonly share: number;
  readonly perSecond: number | null;
  readonly target: TargetName;
}

/**
 * Puts the sidecar under a mixed load of 200 connections: first as fast as it answers, then at the pace of an
 * application. After that it sends a million requests that change nothing, over which the memory must not grow.
 * `requests` is the length of the mixed load, `reads` that of the last part.
 */
export async function measureEndurance(
  world: EnduranceWorld,
  note: Note,
  { requests, reads }: { readonly requests: number; readonly reads: number },
): Promise<void> {
  const startMb = residentMb(world.pid);
  for (const { name, share, perSecond, target } of LOADS) {
    const result = await mixedLoad(world, { requests: Math.round(requests * share), perSecond });
    const latency = `${Math.round(result.perSecond)}/s, p50 ${result.p50Ms.toFixed(2)} ms, p99 ${result.p99Ms.toFixed(2)} ms of ${result.requests}`;
    note(name, latency, { goal: { target, is: result.p99Ms } });
    note(`${name}: undocumented errors`, `${result.undocumented}, of errors ${result.errors}`, {
      goal: { target: 'undocumented', is: result.undocumented },
    });
    for (const example of result.examples) console.log(`  ${example}`);
    const told = `${result.streamed} of ${result.paid}`;
    note(`${name}: paid invoices told by event streams`, told, {
      goal: { target: 'streamed', is: result.paid - result.streamed },
    });
  }
  note(
    'memory before and after the mixed load',
    `${startMb.toFixed(0)} to ${residentMb(world.pid).toFixed(0)} MB`,
  );

  await readRepeatedly(world, reads / 10);
  const tenthMb = residentMb(world.pid);
  await readRepeatedly(world, (reads / 10) * 9);
  const endMb = residentMb(world.pid);
  note(
    `memory after ${reads} health and payment requests, against ${reads / 10}`,
    `${endMb.toFixed(0)} MB, ${tenthMb.toFixed(0)} MB`,
    { goal: { target: 'memoryGrowth', is: (endMb / tenthMb - 1) * 100 } },
  );
}

async function readRepeatedly({ port, index }: EnduranceWorld, requests: number): Promise<void> {
  const paths = ['/v2/health', `/v2/node/payment?index=${index}`];
  let sent = 0;
  const caller = () =>
    converse(port, {
      next: () => (sent < requests ? { path: paths[sent++ % 2] ?? '' } : null),
      answered({ status }) {
        if (status !== 200) throw new Error(`answered ${status}`);
      },
    });
  await Promise.all(Array.from({ length: CONNECTIONS }, caller));
}
