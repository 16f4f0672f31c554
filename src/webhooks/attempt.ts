import type { Clock } from '../lib/clock.ts';
import type { AttemptRecord } from '../store/ports.ts';
import type { Lane } from './lanes.ts';
import { PostFailed, type PostPhase } from './post.ts';

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

interface AttemptProblem {
  readonly outcome: 'refused' | 'timeout' | 'unreachable';
  readonly words: string;
}

/** Returns the problem with an answer's status; null for 200, the only one that counts (docs/webhooks.md, Attempts). */
function statusProblem(status: number): AttemptProblem | null {
  if (status === 200) return null;
  const redirect = status >= 300 && status < 400 && status !== 304;
  return {
    outcome: 'refused',
    words: redirect ? `answered ${status}: redirects are not followed` : `answered ${status}`,
  };
}

/**
 * Returns the problem with an attempt that had no answer. `error` is what the request threw. The words name no host:
 * clients read them in the list of deliveries, and where these go is the owner's to know (docs/decisions.md 127).
 */
export function failureProblem(error: unknown, limitMs: number): AttemptProblem {
  const { phase, code } =
    error instanceof PostFailed ? error : new PostFailed('connecting', 'unknown error');
  if (code === 'TIMEOUT') {
    return { outcome: 'timeout', words: `${LATE[phase]} within ${limitMs / 1000} seconds` };
  }
  if (/^(ETIMEDOUT|ESOCKETTIMEDOUT)$/.test(code)) {
    return { outcome: 'timeout', words: 'the connection to the receiver timed out' };
  }
  const words = REASONS.find(([codes]) => codes.test(code))?.[1] ?? BY_PHASE[phase];
  return { outcome: 'unreachable', words: words.replace('CODE', code) };
}

const LATE: Readonly<Record<PostPhase, string>> = {
  connecting: 'no connection',
  handshake: 'no TLS handshake',
  waiting: 'no answer',
};

/** What happened, by the error code of the system, the TLS library or the HTTP parser. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^CERT_HAS_EXPIRED$/, "the receiver's certificate has expired"],
  [/^CERT_NOT_YET_VALID$/, "the receiver's certificate is not valid yet"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "the receiver's certificate is for another name"],
  [
    /SELF_SIGNED|^UNABLE_TO_|^CERT_|^INVALID_CA$|^ERR_TLS_CERT/,
    "the receiver's certificate is not trusted (CODE)",
  ],
  [/^(ENOTFOUND|ENODATA|ENONAME)$/, "the receiver's name was not found in DNS"],
  [/^(EAI_AGAIN|ESERVFAIL|EREFUSED)$/, "DNS did not answer for the receiver's name"],
  [/^ECONNREFUSED$/, 'connection refused by the receiver'],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, 'no route to the receiver'],
  [/^HPE_/, 'the answer of the receiver is not HTTP'],
  [/^(EPROTO|ERR_SSL)/, 'the TLS handshake with the receiver failed (CODE)'],
];

const BY_PHASE: Readonly<Record<PostPhase, string>> = {
  connecting: 'could not connect to the receiver (CODE)',
  handshake: 'the TLS handshake with the receiver failed (CODE)',
  waiting: 'the receiver reset or closed the connection without an answer (CODE)',
};
