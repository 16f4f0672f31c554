import type { PaymentJson } from '../../src/model/payment.ts';

interface Notice extends PaymentJson {
  readonly type: string;
  readonly user_pk: string;
}

/** A webhook receiver that records what it accepted. */
export interface UnreliableReceiver {
  readonly url: string;
  /** The environment variables with which the sidecar signs webhooks, and so sends their ids. */
  readonly env: Readonly<Record<string, string>>;
  /** Lets the receiver accept everything from now on. */
  behave(): void;
  /** The webhook-ids of a payment's end. Only the second wallet pays, so the direction tells which wallet it is. */
  ids(outbound: boolean, index: string): ReadonlySet<string>;
  /** The webhook-ids that told that a received payment is held. */
  heldIds(index: string): ReadonlySet<string>;
  /** The webhook-ids of all accepted ends of payments in a direction, by index. */
  accepted(outbound: boolean): ReadonlyMap<string, ReadonlySet<string>>;
  /** How often each webhook-id was accepted. */
  times(): ReadonlyMap<string, number>;
  /** What was wrong with received webhooks, in words. */
  invalid(): readonly string[];
  stop(): Promise<void>;
}

/** Starts a receiver that fails and is slow at random, until {@link UnreliableReceiver.behave} is called. */
export function unreliableReceiver(random: () => number): UnreliableReceiver {
  let good = false;
  const seen = new Map<string, Set<string>>();
  const times = new Map<string, number>();
  const invalid: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const notice = (await request.json()) as Notice;
      const id = request.headers.get('webhook-id') ?? '';
      const held = notice.type === 'payment.held';
      const state = `${notice.status} ${notice.status_msg}`;
      if (held !== (notice.status === 'pending')) invalid.push(`${notice.index} is ${state}`);
      if (!id.startsWith('msg_')) invalid.push(`${notice.index} came without an id`);
      const mood = good ? 1 : random();
      if (mood < 0.1) await Bun.sleep(300);
      if (mood < 0.25) return new Response(null, { status: 503 });
      const key = `${held ? 'held ' : ''}${notice.direction === 'outbound'} ${notice.index}`;
      seen.set(key, (seen.get(key) ?? new Set()).add(id));
      times.set(id, (times.get(id) ?? 0) + 1);
      return new Response(null, { status: 200 });
    },
  });
  return {
    url: server.url.href,
    env: { SERVICE_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 3).toString('base64')}` },
    behave: () => {
      good = true;
    },
    ids: (outbound, index) => seen.get(`${outbound} ${index}`) ?? new Set<string>(),
    heldIds: (index) => seen.get(`held false ${index}`) ?? new Set<string>(),
    accepted: (outbound) => {
      const start = `${outbound} `;
      const ends = [...seen].filter(([key]) => key.startsWith(start));
      return new Map(ends.map(([key, ids]) => [key.slice(start.length), ids]));
    },
    times: () => times,
    invalid: () => invalid,
    stop: () => server.stop(true),
  };
}
