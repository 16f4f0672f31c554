import { elapsedMs } from '../lib/clock.ts';
import { ApiError, stoppingError } from '../model/errors.ts';
import { ENDING_HEADER, endToEnd } from './headers.ts';
import type { Leads, RequestEnv } from './leads.ts';
import { PASSED_ON_HEADER, type PassedOn, type PassedOnSeal } from './passed-on.ts';
import { answerOf, type PeerAnswer, type PeerSender } from './send.ts';

/** A request that this process passes on; its head was checked, and its body was read. */
export interface Passing {
  /** As the server has it. */
  readonly request: Request;
  readonly body: Uint8Array<ArrayBuffer> | null;
  readonly facts: PassedOn;
  readonly env: RequestEnv;
  /**
   * After how many milliseconds a sidecar that leads, and says nothing, counts as none. A request that has such a time
   * waits for no next one. Null where it waits for both.
   */
  readonly withinMs: number | null;
  /** Whether it may take effect twice without harm. */
  readonly mayRepeat: boolean;
  /** Whether its errors say in `data.sent` what may have been sent (docs/decisions.md 12). */
  readonly movesMoney: boolean;
}

/** A process that stands by (docs/decisions.md 139). */
export interface StandBy {
  /**
   * Returns the answer of the sidecar that leads; when this process leads by then, its own. Throws error 8 when none
   * leads for too long, and error 4 when nobody knows whether the request took effect.
   */
  pass(passing: Passing): Promise<Response>;
}

interface StandByOptions {
  readonly leads: Leads;
  readonly sender: PeerSender;
  readonly seal: PassedOnSeal;
  readonly patienceMs: number;
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
  readonly onPassed: (outcome: PassedOutcome) => void;
}

type PassedOutcome = 'answered' | 'not_sent' | 'cut' | 'ending' | 'stale';

/** A caller that reads nothing of a whole answer for this long is gone. */
const UNREAD_SECS = 30;
const PAUSE_MS = 100;
/** How many sidecars may break off one request: one that ends its server must not end all of them. */
const MOST_CUTS = 3;

interface Course {
  readonly cutBy: Set<string>;
  /** Since when no sidecar was there for it. */
  sinceMs: number;
}

/** Opens it. */
export function openStandBy(options: StandByOptions): StandBy {
  const { leads, sender, seal, patienceMs, stopping, onPassed } = options;

  async function attempt(
    passing: Passing,
    { fence, url, over }: { fence: string; url: string; over: AbortSignal },
  ): Promise<PeerAnswer | PassedOutcome> {
    const { request, body, mayRepeat, withinMs, facts } = passing;
    const ends = withinMs === null ? over : AbortSignal.any([over, AbortSignal.timeout(withinMs)]);
    const head = { method: request.method, target: targetOf(request) };
    const sent = await sender.send(
      url,
      {
        ...head,
        headers: [
          ...endToEnd(request.headers),
          [PASSED_ON_HEADER, seal.write(fence, head, facts)] as const,
        ],
        body,
        mayRepeat,
      },
      { gone: request.signal, over: ends },
    );
    if (sent.kind !== 'answered') return sent.kind;
    const why = sent.answer.headers.get(ENDING_HEADER);
    if (why === null) return sent.answer;
    if (why === STALE) return 'stale';
    // Something on the way has sent the request twice, and nobody knows what became of the first.
    if (why === USED) return 'cut';
    return mayRepeat || didNothing(sent.answer) ? 'ending' : sent.answer;
  }

  return {
    async pass(passing) {
      const { request, env, mayRepeat, withinMs } = passing;
      const course: Course = { cutBy: new Set(), sinceMs: elapsedMs() };
      // The answer may take as long as a payment, and a stream has no end.
      env.timeout?.(request, 0);
      for (;;) {
        request.signal.throwIfAborted();
        const lead = leads.current();
        if (lead.kind === 'self') return answerHere(await lead.answer, passing);
        if (lead.kind === 'hidden') throw unserved(HIDDEN, passing);
        if (lead.kind === 'peer') {
          const outcome = await attempt(passing, lead);
          onPassed(typeof outcome === 'string' ? outcome : 'answered');
          if (typeof outcome !== 'string') {
            // What has come is for a caller that reads.
            void outcome.ended.then(() => env.timeout?.(request, UNREAD_SECS));
            return answerOf(outcome);
          }
          if (outcome === 'stale') throw unserved(CLOCKS_APART, passing);
          if (outcome === 'cut') {
            if (!mayRepeat) throw unknownOutcome(passing);
            if (!course.cutBy.has(lead.fence)) course.sinceMs = elapsedMs();
            course.cutBy.add(lead.fence);
          }
        }
        const leftMs = course.sinceMs + patienceMs - elapsedMs();
        if (stopping.aborted) throw unserved(stoppingError().message, passing);
        if (withinMs !== null || leftMs <= 0 || course.cutBy.size > MOST_CUTS) {
          throw unserved(NOBODY_LEADS, passing);
        }
        const ended = AbortSignal.any([request.signal, stopping]);
        await leads.changed(lead, Math.min(PAUSE_MS, leftMs), ended);
      }
    },
  };
}

/** Returns the path with the query. */
export function targetOf({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function answerHere(
  answer: (request: Request, env: RequestEnv) => Promise<Response>,
  { request, body, env }: Passing,
): Promise<Response> {
  const { method, headers, signal, url } = request;
  return answer(new Request(url, { method, headers, signal, ...(body === null ? {} : { body }) }), {
    peer: () => env.peer?.(request) ?? null,
    timeout: (_, seconds) => env.timeout?.(request, seconds),
  });
}

/** Whether an answer says that nothing was sent, or that its sidecar does not lead. */
function didNothing({ headers, body }: PeerAnswer): boolean {
  if (headers.get(ENDING_HEADER) === NOT_LEADING) return true;
  if (!(body instanceof Uint8Array)) return false;
  const text = new TextDecoder().decode(body);
  try {
    const { data } = JSON.parse(text) as { data?: { sent?: unknown } | null };
    return data?.sent === 'no';
  } catch {
    return false;
  }
}

/** The value of {@link ENDING_HEADER} of a sidecar that does not lead, and so did nothing. */
export const NOT_LEADING = 'not-leading';

/** The value of {@link ENDING_HEADER} where the clocks of the sidecars are too far apart; nothing was done. */
export const STALE = 'stale';

/** The value of {@link ENDING_HEADER} where the request has come before. */
export const USED = 'used';

const NOBODY_LEADS =
  'No sidecar of this database leads now, or it cannot be reached: try again in a moment. If this lasts, check the logs of the sidecars and their --peer-url.';
const HIDDEN =
  'The sidecar that leads was started without --peer-url, so this one cannot pass requests on: start every sidecar of this database with its --peer-url.';
const CLOCKS_APART =
  'The sidecar that leads did not take this request: the clocks of the two machines differ by more than a minute. Set them.';

/** Error 8 with what may have been sent, also by an earlier request of the key where it may be repeated. */
function unserved(message: string, { movesMoney, mayRepeat }: Passing): ApiError {
  const error = new ApiError('overCapacity', message);
  return movesMoney ? error.with({ sent: mayRepeat ? 'unknown' : 'no' }) : error;
}

/** The code is one that no client repeats by itself. */
function unknownOutcome({ movesMoney }: Passing): ApiError {
  const error = new ApiError(
    'timeout',
    'The sidecar that leads went away before it answered, so nobody knows whether this request took effect: check before you make it again, and give requests an Idempotency-Key.',
  );
  return movesMoney ? error.with({ sent: 'unknown' }) : error;
}
