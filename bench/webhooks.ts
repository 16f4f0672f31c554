import { quantile } from './compared.ts';
import type { Note } from './figures.ts';
import { type Call, TERMS } from './sandbox.ts';

/** Pairs whose notices are timed one by one, each of which has two. */
const SINGLE = 200;
/** Payments that end at the same moment, and how many of them are made at a time. */
const BURST = 3_000;
const AT_ONCE = 100;
/** How long the last notices may take. */
const PATIENCE_MS = 60_000;

/** A receiver of notices in this process. */
export interface Receiver {
  readonly url: string;
  /** By payment, how many milliseconds after its end it was told. */
  readonly delays: Map<string, number>;
  readonly stop: () => Promise<void>;
}

/** Starts a receiver that accepts everything. */
export function startReceiver(): Receiver {
  const delays = new Map<string, number>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const notice = (await request.json()) as Readonly<Record<string, string>>;
      const name = `${notice.direction} ${notice.index}`;
      delays.set(name, Date.now() - Number(notice.finalized_at));
      return new Response(null, { status: 200 });
    },
  });
  return { url: server.url.href, delays, stop: () => server.stop(true) };
}

interface Notified {
  readonly call: Call;
  readonly makePair: () => Promise<void>;
  readonly receiver: Receiver;
}

/** Measures how soon notices arrive: first of single payments, then of many that end at once. */
export async function measureWebhooks(
  { call, makePair, receiver: { delays } }: Notified,
  note: Note,
): Promise<void> {
  await arrivals(delays, 0);
  delays.clear();
  for (let made = 0; made < SINGLE; made++) await makePair();
  await arrivals(delays, 2 * SINGLE);
  const [p50, p99] = [quantile([...delays.values()], 0.5), quantile([...delays.values()], 0.99)];
  note('webhook after the end of a payment, p50', `${p50} ms of ${delays.size}`, {
    goal: { target: 'webhookP50', is: p50 },
  });
  note('webhook after the end of a payment, p99', `${p99} ms`, {
    goal: { target: 'webhookP99', is: p99 },
  });

  const lasting = { ...TERMS, expiration_secs: 100_000 };
  for (let made = 0; made < BURST; made += AT_ONCE) {
    const some = Array.from({ length: AT_ONCE }, () =>
      call('POST', '/v2/node/create_invoice', lasting),
    );
    await Promise.all(some);
  }
  delays.clear();
  const startedAt = performance.now();
  await call('POST', '/sandbox/clock', { advance_secs: 100_001 });
  await arrivals(delays, BURST);
  const perSecond = (delays.size * 1000) / (performance.now() - startedAt);
  note('webhooks of payments that end at once', `${Math.round(perSecond)}/s of ${delays.size}`, {
    goal: { target: 'webhookBurst', is: perSecond },
  });
}

/** Waits until that many notices are there; with 0 until no more come. */
async function arrivals(delays: Map<string, number>, count: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let before = -1; performance.now() < deadline; before = delays.size) {
    if (count > 0 ? delays.size >= count : before === delays.size) return;
    await Bun.sleep(count > 0 ? 1 : 500);
  }
  throw new Error(`Only ${delays.size} of ${count} notices arrived in ${PATIENCE_MS} ms.`);
}
