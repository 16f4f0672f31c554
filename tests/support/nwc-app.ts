import { hex } from '@scure/base';
import * as nip44 from 'nostr-tools/nip44';
import { type Event, finalizeEvent, getPublicKey } from 'nostr-tools/pure';
import type { NostrRelay } from './nostr-relay.ts';
import type { Body } from './requests.ts';
import { until } from './until.ts';

interface RequestChange {
  readonly to?: string;
  /** The tag that says how it is encrypted. */
  readonly encryption?: readonly string[][];
  readonly tags?: readonly string[][];
  readonly createdAt?: number;
  readonly content?: string;
  readonly kind?: number;
}

/** An application that is paired by Nostr Wallet Connect, and reads at the relay itself what it is told. */
export type NwcApp = ReturnType<typeof nwcApp>;

/** Opens the application of a URI at that relay. */
export function nwcApp(uri: string, relay: Pick<NostrRelay, 'seen' | 'publish'>) {
  const url = new URL(uri);
  const service = url.host || url.pathname.replaceAll('/', '');
  const key = hex.decode(url.searchParams.get('secret') ?? '');
  const pk = getPublicKey(key);
  const sealKey = nip44.getConversationKey(key, service);
  const open = ({ content }: Event): Body => JSON.parse(nip44.decrypt(content, sealKey));
  const own = (kind: number) =>
    relay.seen.filter((one) => one.kind === kind && one.pubkey === service);
  const ENCRYPTED = [['encryption', 'nip44_v2']];
  const eventOf = (method: string, params: object, change: RequestChange = {}, by = key): Event =>
    finalizeEvent(
      {
        kind: change.kind ?? 23194,
        created_at: change.createdAt ?? Math.floor(Date.now() / 1000),
        content: change.content ?? nip44.encrypt(JSON.stringify({ method, params }), sealKey),
        tags: [
          ['p', change.to ?? service],
          ...(change.encryption ?? ENCRYPTED),
          ...(change.tags ?? []),
        ],
      },
      by,
    );
  const send = (event: Event) => relay.publish(event);
  const answersTo = ({ id }: Pick<Event, 'id'>): (Body & { d?: string })[] =>
    own(23195)
      .filter(({ tags }) => tags.some(([name, value]) => name === 'e' && value === id))
      .map((event) => {
        const d = event.tags.find(([name]) => name === 'd')?.[1];
        return { ...open(event), ...(d === undefined ? {} : { d }) };
      });
  const answered = (event: Event, count = 1): Promise<Body[]> =>
    until(async () => (answersTo(event).length >= count ? answersTo(event) : null));
  return {
    /** All answers of its service. */
    answers: () => own(23195),
    ...{ uri, service, pk, key, eventOf, send, answersTo, answered },
    /** Sends a request, and returns its answer. */
    async ask(method: string, params: object = {}, change: RequestChange = {}): Promise<Body> {
      const event = eventOf(method, params, change);
      send(event);
      return (await answered(event))[0];
    },
    /** What the service says that it can do: the newest says it. */
    info: (): Event | undefined => own(13194).at(-1),
    /** What it was told of payments. */
    notifications: (): Body[] => own(23197).map(open),
  };
}
