import type { Note } from './figures.ts';
import { residentMb } from './floors.ts';
import { converse } from './load.ts';
import { type Call, syncPayments } from './sandbox.ts';

/** The pause between two requests for health, beside a sync. */
const PROBE_EVERY_MS = 2;

/** A sidecar whose wallet has many payments. */
interface Synced {
  readonly port: number;
  readonly pid: number;
  readonly call: Call;
}

/** Measures a sync of that many payments into an empty cache, and how long health takes meanwhile. */
export async function measureSync(
  { port, pid, call }: Synced,
  rows: number,
  note: Note,
): Promise<void> {
  const beforeMb = residentMb(pid);
  await call('POST', '/v2/node/clear_payments', {});
  const probe = probeHealth(port);
  const startedAt = performance.now();
  await syncPayments(call);
  const perSecond = (rows * 1000) / (performance.now() - startedAt);
  const p99Ms = await probe.p99Ms();
  const memory = `memory ${beforeMb.toFixed(0)} to ${residentMb(pid).toFixed(0)} MB`;
  note(`sync of ${rows} payments`, `${Math.round(perSecond)}/s, ${memory}`, {
    goal: { target: 'sync', is: perSecond },
  });
  note('health during that sync, p99', `${p99Ms.toFixed(1)} ms`, {
    goal: { target: 'healthDuringSync', is: p99Ms },
  });
}

/** Asks for health again and again until the result is asked for. */
function probeHealth(port: number): { p99Ms: () => Promise<number> } {
  const latencies: number[] = [];
  let isOver = false;
  let sentAt = 0;
  const done = converse(port, {
    async next() {
      await Bun.sleep(PROBE_EVERY_MS);
      if (isOver) return null;
      sentAt = performance.now();
      return { path: '/v2/health' };
    },
    answered: () => void latencies.push(performance.now() - sentAt),
  });
  return {
    async p99Ms() {
      isOver = true;
      await done;
      const sorted = latencies.toSorted((a, b) => a - b);
      return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    },
  };
}
