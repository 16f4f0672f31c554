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
  /** Sets the status with which the receiver answers from now on; it is 200 at first. */
  answerWith(status: number): void;
  /** Resolves to the webhook of a payment, once it has arrived. */
  notice(index: string, direction: string): Promise<Notice>;
  close(): Promise<void>;
}

/** A webhook as it arrived. */
export interface Notice {
  readonly headers: Headers;
  readonly body: string;
}

/** Opens a world with a receiver of its webhooks. `events` is what `--webhook-events` names; its default unless given. */
export async function openWebhookWorld(events?: string): Promise<WebhookWorld> {
  const received: Notice[] = [];
  let status = 200;
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(incoming) {
      received.push({ headers: incoming.headers, body: await incoming.text() });
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
    answerWith(next) {
      status = next;
    },
    async notice(index, direction) {
      const find = () =>
        received.find(
          ({ body }) => body.includes(index) && body.includes(`"direction":"${direction}"`),
        );
      await until(() => find() !== undefined);
      return find() ?? { headers: new Headers(), body: '' };
    },
    async close() {
      delete process.env.SERVICE_WEBHOOK_SECRET;
      delete process.env.SERVICE_WEBHOOK_EVENTS;
      await world.close();
      await receiver.stop(true);
    },
  };
}
