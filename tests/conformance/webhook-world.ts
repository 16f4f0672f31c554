import { until } from '../support/until.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

/** A world whose webhooks arrive here. */
export interface WebhookWorld {
  readonly world: ConformanceWorld;
  /** Key of the signatures, base64. */
  readonly secret: string;
  readonly receiverHost: string;
  /** What arrived, oldest first. */
  readonly received: readonly Notice[];
  /** From now on the receiver answers with this status; 200 at first. */
  answerWith(status: number): void;
  /** The notice of a payment, as soon as it is here. */
  notice(index: string, direction: string): Promise<Notice>;
  close(): Promise<void>;
}

/** A webhook as it arrived. */
export interface Notice {
  readonly headers: Headers;
  readonly body: string;
}

/** Opens a world with a receiver of its webhooks. */
export async function openWebhookWorld(): Promise<WebhookWorld> {
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
      await world.close();
      await receiver.stop(true);
    },
  };
}
