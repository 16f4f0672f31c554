import * as nip44 from 'nostr-tools/nip44';
import { type Event, finalizeEvent } from 'nostr-tools/pure';
import type { Clock } from '../lib/clock.ts';
import { keyedLock } from '../lib/keyed-lock.ts';
import type { Log } from '../lib/log.ts';
import { sleep } from '../lib/sleep.ts';
import type { PaymentJson } from '../model/payment.ts';
import { type Ask, asking, Refusal } from '../phoenixd/caller.ts';
import { news } from '../phoenixd/events.ts';
import { factsOf, offered, toldOf } from './methods.ts';
import { type Pairing, type Pairings, publicKeyOf } from './pairings.ts';
import type { Reach } from './reach.ts';
import { openRelay, type Relay } from './relay.ts';
import { KIND, MOST_AGE_SECS, openRequests, type Served } from './requests.ts';
import { notificationOf, transactionOf } from './transactions.ts';

const ENCRYPTION = ['encryption', 'nip44_v2'];
/** After a stream of payments has broken it is opened again so much later. */
const AGAIN_MS = 5000;
/** The most ended pairings that are still answered, so that pairing again and again does not gather relays. */
const MOST_ENDED = 20;

export interface ServiceOptions {
  readonly pairings: Pairings;
  readonly begun: Awaited<ReturnType<Pairings['begun']>>;
  /** Makes requests to the application in the name of a client. */
  readonly askAs: (speaker: ReturnType<Pairings['speakerOf']>) => Ask;
  readonly reach: Reach;
  readonly clock: Clock;
  readonly log: Log;
}

/** Serves the applications of all pairings. */
export type Service = ReturnType<typeof openService>;

interface Live extends Served {
  readonly relays: readonly string[];
  readonly key: Uint8Array;
  /** Whether this process has only just met it. */
  isNew: boolean;
  /** The event that says what the application may do; null while that is not known. */
  info: Event | null;
  stopTelling: () => void;
}

/** Opens the service, which connects to relays when {@link Service.refresh} finds pairings. */
export function openService({ pairings, begun, askAs, reach, clock, log }: ServiceOptions) {
  const stopping = new AbortController();
  const byClient = new Map<string, Live>();
  /** The same by the key that requests name: two clients may be paired with the same application. */
  const byService = new Map<string, Live>();
  const relays = new Map<string, Relay>();
  /** Pairings that have ended and are told so, the latest last. */
  const ended: Live[] = [];
  const locks = keyedLock();
  const requests = openRequests<Live>({
    ...{ pairings, clock, log, ended: stopping.signal },
    respond: (live, message, tags) => publish(live, KIND.response, sealed(live, message), tags),
  });
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
    const ask = askAs(pairings.speakerOf(clientPk));
    const live: Live = {
      ...{ ...pairing, key, service: publicKeyOf(key) },
      sealKey: nip44.getConversationKey(key, app),
      caller: asking(clientPk, {}, async (path, init) => {
        const answer = await ask(path, init);
        // Such as when its time is over, which nobody else tells.
        if (answer.status === 401) void look();
        return answer;
      }),
      ...{
        inProgress: 0,
        waiting: [],
        isNew: true,
        isOver: false,
        info: null,
        stopTelling: () => undefined,
      },
    };
    byClient.set(clientPk, live);
    byService.set(live.service, live);
    return live;
  }

  /** Listens for what is new, and tells applications what they may do now. */
  async function refresh(): Promise<void> {
    const all = await pairings.list();
    const found = all.map((one) => byClient.get(one.clientPk) ?? begin(one));
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
      await pairings.remove(live.clientPk);
      live.isOver = true;
      // Where it was over before this process began, nobody waits for an answer.
      if (live.info === null) forget(live);
      else {
        tellInfo(live, [], []);
        ended.push(live);
        if (ended.length > MOST_ENDED) ended.splice(0, 1).forEach(forget);
      }
      return true;
    }
    const mine = live.isNew ? begun.filter(({ caller }) => caller === live.clientPk) : [];
    for (const url of live.relays) {
      const known = relays.get(url) ?? relayAt(url);
      relays.set(url, known);
      if (live.isNew) known.subscribe();
    }
    live.isNew = false;
    // What an earlier process has begun is answered also where no relay tells of it again.
    for (const { id, ...params } of mine) requests.resume(live, id, 'pay_invoice', params);
    if (facts) tellInfo(live, offered(facts), toldOf(facts));
    return facts !== undefined;
  }

  /** Leaves the relays that no other pairing uses. */
  function forget(live: Live): void {
    live.stopTelling();
    byClient.delete(live.clientPk);
    byService.delete(live.service);
    const inUse = new Set([...byClient.values()].flatMap((one) => one.relays));
    for (const url of live.relays) {
      if (inUse.has(url)) continue;
      relays.get(url)?.close();
      relays.delete(url);
    }
  }

  function tellInfo(live: Live, methods: string[], told: string[]): void {
    const content = [...methods, ...(told.length > 0 ? ['notifications'] : [])].join(' ');
    const notifications = told.length > 0 ? [['notifications', told.join(' ')]] : [];
    if (content === live.info?.content) return;
    live.info = publish(live, KIND.info, content, [['p', live.app], ENCRYPTION, ...notifications]);
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
    const here = () => [...byClient.values()].filter((one) => one.relays.includes(url));
    return openRelay({
      ...{ url, reach: reach.optionsFor, log },
      filter: () => ({
        kinds: [KIND.request],
        authors: here().map(({ app }) => app),
        '#p': here().map(({ service }) => service),
        since: nowSecs() - MOST_AGE_SECS,
      }),
      stays: () => here().flatMap(({ info }) => (info ? [info] : [])),
      onEvent: (event) => requests.arrived(byService, event),
    });
  }

  return {
    refresh: look,
    relays: (): readonly Relay[] => [...relays.values()],
    stop(): void {
      stopping.abort();
      clearTimeout(again);
      for (const { stopTelling } of byClient.values()) stopTelling();
      for (const relay of relays.values()) relay.close();
      reach.close();
    },
  };
}
