import { cpuTimeMs } from './cpu-time.ts';
import type { Note } from './figures.ts';
import type { TargetName } from './targets.ts';

/** The first rounds open connections, and are not measured. */
const OPENING = 5;
/** A process that has just started runs code that is not compiled yet: what it adds up to this round is told apart. */
const FIRST = 50;
/** A sidecar runs for days: what it adds is measured after this round. */
const WARM_UP = 250;

/** Calls of a node with the sidecar, without it, and by a bare program in its place. */
export interface Comparison {
  /** What is called directly, in words. */
  readonly node: string;
  readonly rounds: number;
  readonly direct: () => Promise<unknown>;
  readonly throughSidecar: () => Promise<unknown>;
  /** Targets for the median of what is added, and for the p99 against the node's. */
  readonly targets: { readonly median: TargetName; readonly p99: TargetName };
  /** Null where no bare program stands beside the node. */
  readonly throughFloor: (() => Promise<unknown>) | null;
  /** The processes whose CPU time is told: the sidecar, and what its time is told beside, in words. */
  readonly pids: { readonly sidecar: number; readonly beside: number; readonly besideIs: string };
}

/** How many sides {@link compare} calls. */
export const SIDES = 3;

/** How many calls of each side {@link compare} makes. */
export const callsOf = (rounds: number) => rounds + WARM_UP;

/**
 * Measures what the sidecar adds to a call of a node, and what a bare program does. All are called in turn, and each
 * round begins with the next one. The median is that of the differences of each round, in which other load on the
 * machine cancels out.
 */
export async function compare(
  name: string,
  { node, rounds, direct, throughSidecar, throughFloor, targets, pids }: Comparison,
  note: Note,
): Promise<void> {
  const ofNode: number[] = [];
  const all: number[] = [];
  const ofFloor: number[] = [];
  const calls = [
    async () => ofNode.push(await timed(direct)),
    async () => all.push(await timed(throughSidecar)),
    ...(throughFloor ? [async () => ofFloor.push(await timed(throughFloor))] : []),
  ];
  const cpuNow = () => ({
    sidecar: cpuTimeMs(pids.sidecar) ?? Number.NaN,
    beside: cpuTimeMs(pids.beside) ?? Number.NaN,
  });
  const atStart = cpuNow();
  let [afterFirst, atWarm] = [atStart, atStart];
  for (let round = 0; round < callsOf(rounds); round++) {
    if (round === FIRST) afterFirst = cpuNow();
    if (round === WARM_UP) atWarm = cpuNow();
    const first = round % calls.length;
    for (const call of [...calls.slice(first), ...calls.slice(0, first)]) await call();
  }
  const atEnd = cpuNow();
  const [plain = [], through = [], bare = []] = [ofNode, all, ofFloor].map((times) =>
    times.slice(WARM_UP),
  );
  const added = (times: readonly number[], from: number, to?: number) =>
    quantile(
      times.slice(from, to).map((ms, at) => ms - (ofNode[from + at] ?? 0)),
      0.5,
    );
  const addedMs = added(all, WARM_UP);
  const atFirst = `; ${added(all, OPENING, FIRST).toFixed(2)} ms in the first ${FIRST} calls`;
  const least = throughFloor
    ? `; a bare program adds ${added(ofFloor, WARM_UP).toFixed(2)} ms`
    : '';
  note(`added by ${name}, median of differences`, `${addedMs.toFixed(2)} ms${atFirst}`, {
    beside: `${quantile(plain, 0.5).toFixed(2)} ms, ${node}${least}`,
    goal: { target: targets.median, is: addedMs },
  });
  const plainP99 = quantile(plain, 0.99);
  const p99Of = (times: readonly number[]) => {
    const p99 = quantile(times, 0.99);
    return `${p99.toFixed(2)} ms, ${(p99 / plainP99).toFixed(2)} times`;
  };
  note(`${name}, p99`, p99Of(through), {
    beside: `${plainP99.toFixed(2)} ms, ${node}${throughFloor ? `; ${p99Of(bare)}, by a bare program` : ''}`,
    goal: { target: targets.p99, is: quantile(through, 0.99) / plainP99 },
  });
  const each = (usedMs: number, calls: number) => `${(usedMs / calls).toFixed(1)} ms`;
  const counted = each(atEnd.sidecar - atWarm.sidecar, rounds);
  const inFirst = each(afterFirst.sidecar - atStart.sidecar, FIRST);
  note(`CPU time of ${name}`, `${counted}, the sidecar; ${inFirst} in the first ${FIRST} calls`, {
    beside: `${each(atEnd.beside - atWarm.beside, rounds)}, ${pids.besideIs}`,
  });
}

/** The milliseconds that `run` takes. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** The value below which that share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
}
