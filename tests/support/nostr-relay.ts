import type { Event } from 'nostr-tools/pure';

type Filter = Readonly<Record<string, unknown>>;

/** A Nostr relay on loopback (NIP-01), which keeps what is not ephemeral, and can be made to misbehave. */
export type NostrRelay = ReturnType<typeof startNostrRelay>;

/** Starts a relay. With `keepsAll` it keeps ephemeral events too, as relays for Nostr Wallet Connect do. */
export function startNostrRelay({
  port = 0,
  keepsAll = true,
  kept = [] as Event[],
  seen = [] as Event[],
} = {}) {
  const subscriptions = new Map<Bun.ServerWebSocket<unknown>, Map<string, readonly Filter[]>>();
  const tell = (event: object) => {
    for (const [socket, all] of subscriptions) {
      for (const [id, filters] of all) {
        if (filters.some((one) => fits(one, event as Event)))
          socket.send(JSON.stringify(['EVENT', id, event]));
      }
    }
  };
  const publish = (event: Event) => {
    const isEphemeral = event.kind >= 20_000 && event.kind < 30_000;
    if (!isEphemeral || keepsAll) kept.push(event);
    seen.push(event);
    tell(event);
  };
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    fetch: (request, own) => (own.upgrade(request) ? undefined : new Response('relay')),
    websocket: {
      open: (socket) => void subscriptions.set(socket, new Map()),
      close: (socket) => void subscriptions.delete(socket),
      message(socket, text) {
        const [kind, what, ...filters] = JSON.parse(String(text));
        const say = (...message: unknown[]) => socket.send(JSON.stringify(message));
        if (kind === 'CLOSE') subscriptions.get(socket)?.delete(what);
        if (kind === 'REQ') {
          subscriptions.get(socket)?.set(what, filters);
          for (const event of kept) {
            if (filters.some((one: Filter) => fits(one, event))) say('EVENT', what, event);
          }
          say('EOSE', what);
        }
        if (kind !== 'EVENT') return;
        publish(what);
        say('OK', what.id, true, '');
      },
    },
  });
  return {
    url: `ws://127.0.0.1:${server.port}`,
    port: server.port ?? 0,
    /** Takes an event as from somebody who is connected. */
    publish,
    /** What it was sent and keeps, and all that it was sent. */
    ...{ kept, seen },
    /** How many are connected. */
    connected: () => subscriptions.size,
    /** Sends anything to whose filters it fits. */
    tell,
    /** Sends anything as an event, to whatever filters. */
    invent(event: unknown) {
      for (const [socket, all] of subscriptions) {
        for (const id of all.keys()) socket.send(JSON.stringify(['EVENT', id, event]));
      }
    },
    /** Sends these texts to everybody who is connected. */
    shout(...texts: readonly string[]) {
      for (const socket of subscriptions.keys()) for (const text of texts) socket.send(text);
    },
    stop: () => server.stop(true),
  };
}

function fits(filter: Filter, event: Event): boolean {
  return Object.entries(filter).every(([name, wanted]) => {
    const among = (value: unknown) => Array.isArray(wanted) && wanted.includes(value);
    if (name === 'since') return event.created_at >= Number(wanted);
    if (name === 'ids') return among(event.id);
    if (name === 'kinds') return among(event.kind);
    if (name === 'authors') return among(event.pubkey);
    if (!name.startsWith('#')) return true;
    return event.tags.some(([tag, value]) => `#${tag}` === name && among(value));
  });
}
