import * as nip44 from 'nostr-tools/nip44';
import { type Event, verifyEvent } from 'nostr-tools/pure';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Caller } from '../phoenixd/caller.ts';
import { partsOf, spends } from './methods.ts';
import type { Pairings } from './pairings.ts';
import { paramsOf } from './params.ts';
import { type Call, errorOf } from './pay.ts';

/** The kinds of events of NIP-47. */
export const KIND = { info: 13194, request: 23194, response: 23195, notification: 23197 } as const;
/** How old a request may be, and how far ahead the clock of its writer. */
export const MOST_AGE_SECS = 600;
const MOST_AHEAD_SECS = 60;
const MOST_IN_PROGRESS = 16;
/** As many payments more may wait, such as those that a relay tells again after a restart. */
const MOST_WAITING = 256;

/** An application whose requests are answered. */
export interface Served {
  readonly clientPk: string;
  /** Its public key, and that of the service for it. */
  readonly app: string;
  readonly service: string;
  readonly sealKey: Uint8Array;
  readonly caller: Caller;
  /** Whether the client was found to have ended. */
  isOver: boolean;
  inProgress: number;
  /** Give their place to payments that wait for one. */
  readonly waiting: (() => void)[];
}

interface RequestsOptions<Live> {
  readonly pairings: Pick<Pairings, 'refuse'>;
  readonly respond: (live: Live, message: object, tags: string[][]) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly ended: AbortSignal;
}

type Request = {
  readonly id: string;
  readonly method: string;
  readonly params: unknown;
  readonly hasEnded: boolean;
};

/** Returns what takes requests, each once, and answers them. */
export function openRequests<Live extends Served>(options: RequestsOptions<Live>) {
  const { pairings, respond, clock, log, ended } = options;
  const startedSecs = clock.now() / 1000;
  /** Ids of requests that were taken, with their second. */
  const taken = new Map<string, number>();
  const nowSecs = () => clock.now() / 1000;
  const failed = (code: string, message: string) => ({ error: { code, message }, result: null });

  function isDue(event: Event): boolean {
    const now = nowSecs();
    const { created_at } = event;
    const expiration = Number(tagOf(event, 'expiration') ?? Number.POSITIVE_INFINITY);
    const isRecent = created_at >= now - MOST_AGE_SECS && created_at <= now + MOST_AHEAD_SECS;
    return isRecent && expiration > now;
  }

  async function answer(live: Live, request: Request, isStillDue: () => boolean): Promise<void> {
    const { id, method, params, hasEnded } = request;
    const respondTo = (outcome: object, d?: string) => {
      const tags = [...answering(live, id), ...(d === undefined ? [] : [['d', d]])];
      respond(live, { result_type: method, ...outcome }, tags);
    };
    const call: Call = {
      ...{ caller: live.caller, id, params: paramsOf(params), hasEnded, ended },
      refuse: (key) => pairings.refuse(live.clientPk, key, clock.now()),
    };
    const answerPart = async (result: Promise<object>, d?: string) => {
      const outcome = await result.then(
        (found) => ({ result: found, error: null }),
        (error: unknown) => {
          const known = errorOf(error);
          if (known?.code === 'INTERNAL') log.error('A request over Nostr failed.', { error });
          return known && failed(known.code, known.message);
        },
      );
      if (outcome !== null) respondTo(outcome, d);
    };
    if (live.inProgress < MOST_IN_PROGRESS) live.inProgress += 1;
    else if (!spends(method)) return respondTo(failed('RATE_LIMITED', 'Too many at a time.'));
    else if (live.waiting.length >= MOST_WAITING) return;
    // An error would have to be true for ever, so payments wait for a place while their time lasts.
    else await new Promise<void>((free) => live.waiting.push(free));
    try {
      if (!isStillDue()) return;
      await Promise.all(begun(method, call).map(({ result, d }) => answerPart(result, d)));
    } finally {
      const next = live.waiting.shift();
      if (next) next();
      else live.inProgress -= 1;
    }
  }

  const take = (live: Live, request: Request, isStillDue: () => boolean) =>
    void answer(live, request, isStillDue).catch((error) =>
      log.error('A request over Nostr failed.', { error }),
    );

  return {
    /**
     * Takes an event of a relay. What is not from one of these applications costs next to nothing. Returns false for a
     * forged one: relays look at signatures themselves, so this one lies.
     */
    arrived(byService: ReadonlyMap<string, Live>, event: unknown): boolean {
      const live = isEvent(event) ? byService.get(tagOf(event, 'p') ?? '') : undefined;
      if (!isEvent(event) || live?.app !== event.pubkey || ended.aborted) return true;
      const { id, kind, created_at, content } = event;
      if (kind !== KIND.request || !isDue(event)) return true;
      if (taken.has(id)) return true;
      if (!verifyEvent(event)) return false;
      const oldest = nowSecs() - MOST_AGE_SECS;
      for (const [old, atSecs] of taken) if (atSecs < oldest) taken.delete(old);
      taken.set(id, created_at);
      if (tagOf(event, 'encryption') !== 'nip44_v2') {
        const error = failed('UNSUPPORTED_ENCRYPTION', 'Use nip44_v2, and say so in the tag.');
        respond(live, { result_type: '', ...error }, answering(live, id));
        return true;
      }
      const request = requestIn(content, live.sealKey);
      // An earlier process might have begun what was written while it ran, by a clock that is ahead.
      const hasEnded = live.isOver && created_at - MOST_AHEAD_SECS >= startedSecs;
      if (request) take(live, { id, hasEnded, ...request }, () => isDue(event));
      return true;
    },
    /** Goes on with a request that an earlier process has begun. */
    resume(live: Live, id: string, method: string, params: object): void {
      if (taken.has(id)) return;
      taken.set(id, nowSecs());
      take(live, { id, method, params, hasEnded: false }, () => true);
    },
  };
}

/** Begins a call. What is wrong with it as a whole is its one answer. */
function begun(method: string, call: Call): ReturnType<typeof partsOf> {
  try {
    return partsOf(method, call);
  } catch (error) {
    return [{ result: Promise.reject(error) }];
  }
}

const answering = ({ app }: Served, id: string) => [
  ['p', app],
  ['e', id],
];

const tagOf = ({ tags }: Event, name: string): string | undefined =>
  tags.find(([first]) => first === name)?.[1];

function requestIn(content: string, key: Uint8Array) {
  try {
    const { method, params } = JSON.parse(nip44.decrypt(content, key));
    return typeof method === 'string' ? { method, params: params as unknown } : null;
  } catch {
    return null;
  }
}

/** Whether what a relay sent has the form of an event. Its signature is not looked at. */
function isEvent(value: unknown): value is Event {
  const { id, pubkey, sig, content, kind, created_at, tags } = Object(value);
  const texts = [id, pubkey, sig, content].every((one) => typeof one === 'string');
  const isTag = (tag: unknown) =>
    Array.isArray(tag) && tag.every((part) => typeof part === 'string');
  const numbers = [kind, created_at].every(Number.isSafeInteger);
  return texts && numbers && Array.isArray(tags) && tags.every(isTag);
}
