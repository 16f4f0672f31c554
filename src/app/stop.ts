import { runStopStages } from '../lib/lifecycle.ts';
import type { Log } from '../lib/log.ts';
import { ApiError } from '../model/errors.ts';

/**
 * The time in milliseconds that each part may take when the server stops. Together it is less than 5 seconds, because
 * containers are killed after 10 and the machine may be busy (docs/decisions.md 94).
 */
const STOP_MS = { waits: 100, requests: 1500, feeds: 300, webhooks: 1500, node: 500, store: 500 };

/** The parts that end when the server stops. */
interface StoppingParts {
  readonly stopping: AbortController;
  readonly listener: { stop(): Promise<void> };
  readonly wallets: { stop(): void };
  readonly dispatcher: { stop(): Promise<void> };
  readonly nodes: { close(): Promise<void> };
  readonly store: { close(): Promise<void> };
}

/** Ends the parts one after another, each within its time. */
export async function stopInStages(parts: StoppingParts, log: Log): Promise<void> {
  const { stopping, listener, wallets, dispatcher, nodes, store } = parts;
  await runStopStages(
    [
      {
        name: 'waits',
        deadlineMs: STOP_MS.waits,
        stop: async () => stopping.abort(stoppingError()),
      },
      { name: 'requests', deadlineMs: STOP_MS.requests, stop: () => listener.stop() },
      { name: 'feeds', deadlineMs: STOP_MS.feeds, stop: async () => wallets.stop() },
      { name: 'webhooks', deadlineMs: STOP_MS.webhooks, stop: () => dispatcher.stop() },
      { name: 'node', deadlineMs: STOP_MS.node, stop: () => nodes.close() },
      { name: 'store', deadlineMs: STOP_MS.store, stop: () => store.close() },
    ],
    log,
  );
}

/** Ends a process that stands by: what waits for a sidecar that leads ends, and what was passed on gets its time. */
export async function stopStandingBy(
  { stopping, listener }: Pick<StoppingParts, 'stopping' | 'listener'>,
  log: Log,
): Promise<void> {
  stopping.abort(stoppingError());
  await runStopStages(
    [{ name: 'requests', deadlineMs: STOP_MS.requests, stop: () => listener.stop() }],
    log,
  );
}

/**
 * Runs `stop` and ends the process when it receives SIGTERM or SIGINT. Returns a function after which it does not any
 * more.
 */
export function onStopSignal(stop: () => Promise<void>): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const end = () => void stop().then(() => process.exit(0));
  for (const signal of signals) process.once(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

function stoppingError(): ApiError {
  return new ApiError('overCapacity', 'The sidecar is stopping: try again in a moment.');
}
