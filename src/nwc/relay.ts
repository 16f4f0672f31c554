import type { Event } from 'nostr-tools/pure';
import { type BackoffOptions, backoffDelayMs } from '../lib/backoff.ts';
import { elapsedMs } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

const BACKOFF: BackoffOptions = { firstMs: 500, mostMs: 60_000, jitter: 0.4, random: Math.random };
const CONNECT_WITHIN_MS = 15_000;
/** A relay is asked for a sign of life so often, and given up after twice that without a word. */
const ALIVE_MS = 30_000;
/** What a relay has not taken is kept so long, and not more of it: applications wait no longer. */
const KEPT_MS = 600_000;
const MOST_KEPT = 1000;
/** The most characters of a message: a request has at most 64 KB. */
const MOST_CHARACTERS = 64 * 1024;
const SUBSCRIPTION = 'nwc';

interface RelayOptions {
  readonly url: string;
  /** Returns the options of its websocket. Throws where it must not be reached. */
  readonly reach: (url: string) => Promise<{ readonly proxy?: string }>;
  readonly filter: () => object;
  /** Returns the events that a relay has to have, whatever it had before. */
  readonly stays: () => readonly Event[];
  /** Called with what the relay says is an event. Nothing of it is checked. Returns false where the relay lies. */
  readonly onEvent: (event: unknown) => boolean;
  readonly log: Log;
}

/** A connection to a relay, which is made again whenever it ends. */
export type Relay = ReturnType<typeof openRelay>;

/** Connects to a relay, and keeps events for it until it says that it has them. */
export function openRelay({ url, reach, filter, stays, onEvent, log }: RelayOptions) {
  const kept = new Map<string, { readonly event: Event; readonly untilMs: number }>();
  let socket: WebSocket | null = null;
  let isOpen = false;
  let isClosed = false;
  let failures = 0;
  let heardMs = elapsedMs();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const tell = (...message: unknown[]) => {
    if (isOpen) socket?.send(JSON.stringify(message));
  };
  const subscribe = () => tell('REQ', SUBSCRIPTION, filter());

  async function connect(): Promise<void> {
    const options = await reach(url);
    if (isClosed) return;
    const made = new WebSocket(url, options);
    socket = made;
    const late = setTimeout(() => made.close(), CONNECT_WITHIN_MS);
    made.onopen = () => {
      clearTimeout(late);
      if (failures > 1) log.info('A relay of Nostr Wallet Connect can be reached again.', { url });
      isOpen = true;
      failures = 0;
      heardMs = elapsedMs();
      subscribe();
      for (const event of stays()) tell('EVENT', event);
      for (const [id, { event, untilMs }] of kept) {
        if (untilMs < elapsedMs()) kept.delete(id);
        else tell('EVENT', event);
      }
    };
    made.onmessage = ({ data }) => socket === made && heard(String(data));
    made.onclose = () => {
      clearTimeout(late);
      if (socket === made) again();
    };
    made.onerror = () => undefined;
  }

  function heard(text: string): void {
    heardMs = elapsedMs();
    if (text.length > MOST_CHARACTERS) return;
    const [kind, subject, what] = listIn(text);
    // What it has sent besides is not read: to find a forgery out takes a millisecond.
    if (kind === 'EVENT' && subject === SUBSCRIPTION && !onEvent(what)) leave();
    if (kind === 'OK') kept.delete(String(subject));
    // Such as a relay that wants to know who asks: nothing comes from there.
    if (kind === 'CLOSED' && subject === SUBSCRIPTION) socket?.close();
  }

  function leave(): void {
    log.warn('A relay of Nostr Wallet Connect told a forged event: the connection is made anew.', {
      url,
    });
    const left = socket;
    again();
    left?.close();
  }

  function again(): void {
    isOpen = false;
    socket = null;
    if (isClosed) return;
    failures += 1;
    if (failures === 2) log.warn('A relay of Nostr Wallet Connect cannot be reached.', { url });
    timer = setTimeout(start, backoffDelayMs(failures, BACKOFF));
  }

  const start = () => void connect().catch(again);

  const alive = setInterval(() => {
    if (!isOpen) return;
    if (elapsedMs() - heardMs > 2 * ALIVE_MS) socket?.close();
    else tell('REQ', 'alive', { ids: ['0'.repeat(64)], limit: 1 });
  }, ALIVE_MS);
  start();

  return {
    url,
    /** Null while it is connected, or has not been tried yet; otherwise how often it could not be reached. */
    get failures(): number {
      return failures;
    },
    get isOpen(): boolean {
      return isOpen;
    },
    /** Asks again for what is to be told. */
    subscribe,
    publish(event: Event): void {
      kept.set(event.id, { event, untilMs: elapsedMs() + KEPT_MS });
      const [oldest] = kept.keys();
      if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      tell('EVENT', event);
    },
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(alive);
      socket?.close();
    },
  };
}

function listIn(text: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(text);
    return Array.isArray(read) ? read : [];
  } catch {
    return [];
  }
}
