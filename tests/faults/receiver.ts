import type { PaymentJson } from '../../src/model/payment.ts';

interface Notice extends PaymentJson {
  readonly user_pk: string;
}

/** A webhook receiver that remembers what it accepted. */
export interface UnreliableReceiver {
  readonly url: string;
  /** What the sidecar must be started with, so that its notices carry their ids. */
  readonly env: Readonly<Record<string, string>>;
  /** From now on everything is accepted. */
  behave(): void;
  /** Ids under which a payment was noticed; only the second wallet pays, so the direction names the wallet. */
  ids(outbound: boolean, index: string): ReadonlySet<string>;
  /** How often each id was accepted. */
  accepted(): ReadonlyMap<string, number>;
  /** Notices that should not have been sent as they were, in words. */
  invalid(): readonly string[];
  stop(): Promise<void>;
}

/** Starts a receiver that fails, hangs and answers slowly at random, until told to behave. */
export function unreliableReceiver(random: () => number): UnreliableReceiver {
  let good = false;
  const seen = new Map<string, Set<string>>();
  const accepted = new Map<string, number>();
  const invalid: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const notice = (await request.json()) as Notice;
      const id = request.headers.get('webhook-id') ?? '';
      if (notice.status === 'pending') invalid.push(`${notice.index} is pending`);
      if (!id.startsWith('msg_')) invalid.push(`${notice.index} came without an id`);
      const mood = good ? 1 : random();
      if (mood < 0.1) await Bun.sleep(300);
      if (mood < 0.25) return new Response(null, { status: 503 });
      const key = `${notice.direction === 'outbound'} ${notice.index}`;
      seen.set(key, (seen.get(key) ?? new Set()).add(id));
      accepted.set(id, (accepted.get(id) ?? 0) + 1);
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
    accepted: () => accepted,
    invalid: () => invalid,
    stop: () => server.stop(true),
  };
}
