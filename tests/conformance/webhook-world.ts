import { until } from '../support/until.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

/** A world whose webhooks are received here. */
export interface WebhookWorld {
  readonly world: ConformanceWorld;
  /** The key of the signatures in base64. */
  readonly secret: string;
  readonly receiverHost: string;
  /** The received webhooks, oldest first. */
  readonly received: readonly Notice[];
  /**
   * Sets the statuses that the attempts of each webhook are answered with from now on, one after the other; the last
   * one holds for all later attempts too. Every answer is 200 at first.
   */
  answerWith(...statuses: readonly Status[]): void;
  /** Resolves to the webhook of a payment, once it has arrived. */
  notice(index: string, direction: string): Promise<Notice>;
  /** Resolves once the default wallet has nothing left to deliver: a restart then sends nothing a second time. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A status of an answer, or what the answer waits for. */
type Status = number | Promise<number>;

/** A webhook as it arrived. */
export interface Notice {
  readonly headers: Headers;
  readonly body: string;
}

/** Opens a world with a receiver of its webhooks. `events` is what `--webhook-events` names; its default unless given. */
export async function openWebhookWorld(events?: string): Promise<WebhookWorld> {
  const received: Notice[] = [];
  let statuses: readonly Status[] = [];
  let answered = new Map<string, number>();
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(incoming) {
      const { headers } = incoming;
      received.push({ headers, body: await incoming.text() });
      const id = headers.get('webhook-id') ?? '';
      const earlier = answered.get(id) ?? 0;
      answered.set(id, earlier + 1);
      const status = await (statuses[earlier] ?? statuses.at(-1) ?? 200);
      return new Response(null, { status });
    },
  });
  const secret = Buffer.alloc(32, 9).toString('base64');
  process.env.SERVICE_WEBHOOK_SECRET = `whsec_${secret}`;
  if (events !== undefined) process.env.SERVICE_WEBHOOK_EVENTS = events;
  const world = await openConformanceWorld(receiver.url.href);
  return {
    world,
    secret,
    receiverHost: receiver.url.host,
    received,
    answerWith(...next) {
      [statuses, answered] = [next, new Map()];
    },
    async notice(index, direction) {
      const find = () =>
        received.find(
          ({ body }) => body.includes(index) && body.includes(`"direction":"${direction}"`),
        );
      await until(() => find() !== undefined);
      return find() ?? { headers: new Headers(), body: '' };
    },
    async settled() {
      await until(async () => {
        const { deliveries } = await world.get('/v2/webhooks/deliveries', { state: 'pending' });
        return deliveries.length === 0;
      }, 'nothing is left to deliver');
    },
    async close() {
      delete process.env.SERVICE_WEBHOOK_SECRET;
      delete process.env.SERVICE_WEBHOOK_EVENTS;
      await world.close();
      await receiver.stop(true);
    },
  };
}
