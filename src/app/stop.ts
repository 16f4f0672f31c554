import type { Ending } from '../lib/steps.ts';
import { stoppingError } from '../model/errors.ts';

/**
 * The time in milliseconds that each part may take to end. Together it is less than 5 seconds, because containers are
 * killed after 10 and the machine may be busy (docs/decisions.md 94). An LDK node that is cut may lose a channel, so it
 * has longer, and unit and container wait for it.
 */
const END_MS = {
  port: 100,
  lock: 100,
  store: 500,
  node: 500,
  ldk: 40_000,
  data: 100,
  webhooks: 1500,
  feeds: 300,
  requests: 1500,
  waits: 100,
  relays: 100,
  housekeeping: 100,
};

/** Says how a part is ended, each within its time. */
export function ending(part: keyof typeof END_MS, end: Ending['end']): Ending {
  return { part, end, withinMs: END_MS[part] };
}

/** Ends the waits and streams of callers. */
export function endWaits(waits: AbortController): void {
  waits.abort(stoppingError());
}

/** Runs `stop` and ends the process at SIGTERM or SIGINT. Returns a function after which it does not. */
export function onStopSignal(stop: () => Promise<void>): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const end = () => void stop().then(() => process.exit(0));
  for (const signal of signals) process.once(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}
