import * as nip44 from 'nostr-tools/nip44';
import { type Event, finalizeEvent, verifyEvent } from 'nostr-tools/pure';
import type { Clock } from '../lib/clock.ts';
import { keyedLock } from '../lib/keyed-lock.ts';
import type { Log } from '../lib/log.ts';
import { sleep } from '../lib/sleep.ts';
import type { PaymentJson } from '../model/payment.ts';
import type { GuardOptions } from '../net/guarded-fetch.ts';
import { type Ask, asking, type Caller, Refusal } from '../phoenixd/caller.ts';
import { news } from '../phoenixd/events.ts';
import { factsOf, offered, partsOf, spends, toldOf } from './methods.ts';
import { type Pairing, type Pairings, publicKeyOf } from './pairings.ts';
import { paramsOf } from './params.ts';
import { type Call, errorOf } from './pay.ts';
import { openRelay, type Relay } from './relay.ts';
import { notificationOf, transactionOf } from './transactions.ts';

/** The kinds of events of NIP-47. */
const KIND = { info: 13194, request: 23194, response: 23195, notification: 23197 } as const;
const ENCRYPTION = ['encryption', 'nip44_v2'];
/** How old a request may be, and how far ahead the clock of its writer. */
const MOST_AGE_SECS = 600;
const MOST_AHEAD_SECS = 60;
/** The most bytes of a request's content, and the most requests of a client that are in progress. */
const MOST_CONTENT = 64 * 1024;
const MOST_IN_PROGRESS = 16;
/** As many more may wait, such as those that a relay tells again after a restart. */
const MOST_WAITING = 256;
/** After a stream of payments has broken it is opened again so much later. */
const AGAIN_MS = 5000;

export interface ServiceOptions {
  readonly pairings: Pairings;
  /** Makes requests to the application in the name of a client. */
  readonly askAs: (speaker: ReturnType<Pairings['speakerOf']>) => Ask;
  /** What relays may be reached that the configuration does not name. */
  readonly guard: GuardOptions;
  readonly trusted: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Serves the applications of all pairings. */
export type Service = ReturnType<typeof openService>;

/** A pairing that is served. */
interface Live extends Pairing {
  readonly key: Uint8Array;
  readonly service: string;
  readonly sealKey: Uint8Array;
  readonly caller: Caller;
  inProgress: number;
  /** Give their place to payments that wait for one. */
  readonly waiting: (() => void)[];
  /** The event that says what the application may do; null while that is not known. */
  info: Event | null;
  /** Whether its client has ended: it is told so until this process ends. */
  isOver: boolean;
  stopTelling: () => void;
}

/** Opens the service, which connects to relays when {@link Service.refresh} finds pairings. */
export function openService({ pairings, askAs, guard, trusted, clock, log }: ServiceOptions) {
  const startedMs = clock.now();
  const stopping = new AbortController();
  const byApp = new Map<string, Live>();
  const relays = new Map<string, Relay>();
  /** Ids of requests that were taken, with their second. */
  const taken = new Map<string, number>();
  const locks = keyedLock();
  let again: ReturnType<typeof setTimeout> | undefined;
  const nowSecs = () => Math.floor(clock.now() / 1000);

  function publish(live: Live, kind: number, content: string, tags: string[][]): Event {
    // Of two info events of the same second a relay may keep the older one.
    const created_at = Math.max(
      nowSecs(),
      kind === KIND.info ? 1 + (live.info?.created_at ?? 0) : 0,
    );
    const event = finalizeEvent({ kind, created_at, content, tags }, live.key);
    for (const url of live.relays) relays.get(url)?.publish(event);
    return event;
  }
  const sealed = (live: Live, message: object) =>
    nip44.encrypt(JSON.stringify(message), live.sealKey);

  function begin(pairing: Pairing): Live {
    const { clientPk, app } = pairing;
    const key = pairings.serviceKey(clientPk);
    const live: Live = {
      ...{ ...pairing, key, service: publicKeyOf(key) },
      sealKey: nip44.getConversationKey(key, app),
      caller: asking(clientPk, {}, askAs(pairings.speakerOf(clientPk))),
      ...{ inProgress: 0, waiting: [], info: null, isOver: false, stopTelling: () => undefined },
    };
    byApp.set(app, live);
    return live;
  }

  /** Listens for what is new, and tells applications what they may do now. */
  async function refresh(): Promise<void> {
    const all = await pairings.list();
    const found = all.map((one) => byApp.get(one.app) ?? begin(one));
    const known = await Promise.all(found.map(follow));
    if (known.every(Boolean)) return;
    clearTimeout(again);
    again = setTimeout(() => void look(), AGAIN_MS);
  }

  /** Returns whether it is known what the application may do: its node may be away, and it may ask all the same. */
  async function follow(live: Live): Promise<boolean> {
    const facts = await factsOf(live.caller).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 104) return null;
      return undefined;
    });
    if (facts === null) {
      live.isOver = true;
      await pairings.remove(live.clientPk);
      // It was over before this process began: nobody waits for an answer.
      if (live.info === null) byApp.delete(live.app);
      else tellInfo(live, [], []);
      return true;
    }
    for (const url of live.relays) {
      const known = relays.get(url) ?? relayAt(url);
      relays.set(url, known);
      if (live.info === null) known.subscribe();
    }
    if (facts) tellInfo(live, offered(facts), toldOf(facts));
    return facts !== undefined;
  }

  function tellInfo(live: Live, methods: string[], told: string[]): void {
    const content = [...methods, ...(told.length > 0 ? ['notifications'] : [])].join(' ');
    const notifications = told.length > 0 ? [['notifications', told.join(' ')]] : [];
    if (content === live.info?.content) return;
    live.info = publish(live, KIND.info, content, [ENCRYPTION, ...notifications]);
    live.stopTelling();
    live.stopTelling = told.length > 0 ? tellPayments(live) : () => undefined;
  }

  /** Tells of payments from now on, until the returned function is called or the client may not see them. */
  function tellPayments(live: Live): () => void {
    const end = new AbortController();
    const tell = async () => {
      const { body } = await live.caller.ask('GET', '/v2/node/events');
      if (body === null) return;
      const events = body.pipeThrough(new TextDecoderStream()).getReader();
      end.signal.addEventListener('abort', () => void events.cancel().catch(() => undefined));
      if (end.signal.aborted) return events.cancel();
      const nameOf = (one: PaymentJson) => {
        const type = notificationOf(one);
        return type ? `${type} ${one.index}` : null;
      };
      for await (const payment of news(events, nameOf)) {
        const notification_type = notificationOf(payment);
        const message = { notification_type, notification: transactionOf(payment) };
        publish(live, KIND.notification, sealed(live, message), [['p', live.app]]);
      }
    };
    // A stream that ends has lost its client or its grant, which the look that follows finds.
    const goOn = async () => {
      if (end.signal.aborted) return;
      await look();
      await sleep(AGAIN_MS, end.signal);
      if (!end.signal.aborted) live.stopTelling = tellPayments(live);
    };
    void tell()
      .catch((error) => log.debug('Payments are not told over Nostr.', { error }))
      .then(goOn);
    return () => end.abort();
  }

  const look = (): Promise<void> =>
    locks
      .run('refresh', async () => (stopping.signal.aborted ? undefined : refresh()))
      .catch((error) => log.warn('The pairings of Nostr Wallet Connect were not read.', { error }));

  function relayAt(url: string): Relay {
    const here = () => [...byApp.values()].filter((one) => one.relays.includes(url));
    return openRelay({
      ...{ url, guard: trusted.includes(url) ? null : guard, log },
      filter: () => ({
        kinds: [KIND.request],
        authors: here().map(({ app }) => app),
        '#p': here().map(({ service }) => service),
        since: nowSecs() - MOST_AGE_SECS,
      }),
      stays: () => here().flatMap(({ info }) => (info ? [info] : [])),
      onEvent: (event) =>
        void arrived(event).catch((error) => log.error('A request over Nostr failed.', { error })),
    });
  }

  function isDue(event: Event): boolean {
    const now = nowSecs();
    const isRecent = event.created_at >= now - MOST_AGE_SECS;
    const expiration = Number(tagOf(event, 'expiration') ?? Number.POSITIVE_INFINITY);
    return isRecent && event.created_at <= now + MOST_AHEAD_SECS && expiration > now;
  }

  /** Takes a request once. What is not from an application of a pairing costs next to nothing. */
  async function arrived(event: unknown): Promise<void> {
    const live = isEvent(event) ? byApp.get(event.pubkey) : undefined;
    if (!isEvent(event) || live === undefined || stopping.signal.aborted) return;
    const { id, kind, created_at, content } = event;
    if (kind !== KIND.request || !isDue(event) || content.length > MOST_CONTENT) return;
    if (tagOf(event, 'p') !== live.service || taken.has(id) || !verifyEvent(event)) return;
    const oldest = nowSecs() - MOST_AGE_SECS;
    for (const [old, atSecs] of taken) if (atSecs < oldest) taken.delete(old);
    taken.set(id, created_at);
    await answer(live, event);
  }

  async function answer(live: Live, event: Event): Promise<void> {
    const { id, created_at } = event;
    const respond = (result_type: string, outcome: object, d?: string) => {
      const tags = [['p', live.app], ['e', id], ...(d === undefined ? [] : [['d', d]])];
      publish(live, KIND.response, sealed(live, { result_type, ...outcome }), tags);
    };
    const failed = (code: string, message: string) => ({ error: { code, message }, result: null });
    if (tagOf(event, 'encryption') !== 'nip44_v2') {
      respond('', failed('UNSUPPORTED_ENCRYPTION', 'Use nip44_v2, and say so in the tag.'));
      return;
    }
    const request = requestIn(event.content, live.sealKey);
    if (request === null) return;
    const { method, params } = request;
    const call: Call = {
      ...{ caller: live.caller, id, params: paramsOf(params), ended: stopping.signal },
      isFresh: created_at * 1000 >= startedMs,
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
      if (outcome !== null) respond(method, outcome, d);
    };
    if (live.inProgress < MOST_IN_PROGRESS) live.inProgress += 1;
    else if (!spends(method)) {
      respond(method, failed('RATE_LIMITED', 'Too many requests at a time: try later.'));
      return;
    } else if (live.waiting.length < MOST_WAITING) {
      // An error would have to be true for ever, so payments wait for a place while their time lasts.
      await new Promise<void>((free) => live.waiting.push(free));
    } else return;
    try {
      if (!isDue(event)) return;
      await Promise.all(begun(method, call).map(({ result, d }) => answerPart(result, d)));
    } finally {
      const next = live.waiting.shift();
      if (next) next();
      else live.inProgress -= 1;
    }
  }

  return {
    refresh: look,
    relays: (): readonly Relay[] => [...relays.values()],
    stop(): void {
      stopping.abort();
      clearTimeout(again);
      for (const { stopTelling } of byApp.values()) stopTelling();
      for (const relay of relays.values()) relay.close();
    },
  };
}

function begun(method: string, call: Call): ReturnType<typeof partsOf> {
  try {
    return partsOf(method, call);
  } catch (error) {
    return [{ result: Promise.reject(error) }];
  }
}

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
