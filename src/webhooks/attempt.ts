import type { Clock } from '../lib/clock.ts';
import type { AttemptRecord } from '../store/ports.ts';
import type { Lane } from './lanes.ts';
import { type AttemptProblem, failureProblem, statusProblem } from './problem.ts';

/** Each attempt has this limit in milliseconds (docs/decisions.md 92). */
export const ATTEMPT_LIMIT_MS = 10_000;

/** How an attempt ended: with status 200, with another status, without an answer in time, or without a connection. */
export type Outcome = 'delivered' | AttemptProblem['outcome'];

/** An attempt that is over. */
export interface Attempted {
  readonly outcome: Outcome;
  readonly record: AttemptRecord;
}

interface AttemptOptions {
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Makes one attempt. Returns how it ended; null when it was aborted, since its outcome is not known then. */
export async function attemptOnce(
  { sign, poster }: Pick<Lane, 'sign' | 'poster'>,
  { id, body }: { readonly id: string; readonly body: string },
  { clock, elapsedMs, limitMs, signal }: AttemptOptions,
): Promise<Attempted | null> {
  const atMs = clock.now();
  const startMs = elapsedMs();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'wallet-sidecar',
    ...sign(id, atMs, body),
  };
  const ended = (
    problem: AttemptProblem | null,
    answer: { readonly httpStatus: number; readonly text: string } | null,
  ): Attempted => ({
    outcome: problem?.outcome ?? 'delivered',
    record: {
      atMs,
      durationMs: Math.round(elapsedMs() - startMs),
      httpStatus: answer?.httpStatus ?? null,
      error: problem?.words ?? null,
      headers,
      answer: answer?.text ?? null,
    },
  });
  try {
    const answer = await poster.post({ body, headers, limitMs, signal });
    return ended(statusProblem(answer.httpStatus), answer);
  } catch (error) {
    return signal.aborted ? null : ended(failureProblem(error, limitMs), null);
  }
}
