import { Webhook } from 'standardwebhooks';
import { waitUntil } from '../support/until.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

/** A webhook that arrived, its signature verified. */
export interface SeenNotice {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly status: string;
}

/** A receiver of webhooks that keeps what came, by payment index. */
export interface NoticeReceiver {
  /** What the sidecar is started with to deliver here. */
  readonly flags: readonly string[];
  readonly byIndex: ReadonlyMap<string, readonly SeenNotice[]>;
  /** Resolves once a payment's webhook has come; throws if one of another status or another webhook-id came too. */
  delivered(index: string, status: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a receiver on loopback. */
export function startNoticeReceiver(): NoticeReceiver {
  const byIndex = new Map<string, SeenNotice[]>();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text();
      new Webhook(SECRET).verify(body, Object.fromEntries(request.headers));
      const { index, status } = JSON.parse(body) as { index: string; status: string };
      const id = request.headers.get('webhook-id') ?? '';
      byIndex.set(index, [...(byIndex.get(index) ?? []), { id, status }]);
      return new Response();
    },
  });
  return {
    flags: ['--webhook-url', `${server.url.href}hook`, '--webhook-secret', SECRET],
    byIndex,
    async delivered(index, status) {
      await waitUntil(
        `the webhook of ${index} is here`,
        async () => (byIndex.get(index)?.length ?? 0) > 0,
      );
      const seen = byIndex.get(index) ?? [];
      const other = seen.find((one) => one.status !== status);
      if (other) throw new Error(`The webhook of ${index} says ${other.status}, not ${status}.`);
      if (new Set(seen.map(({ id }) => id)).size > 1) {
        throw new Error(`The webhooks of ${index} have several ids.`);
      }
    },
    stop: () => server.stop(true),
  };
}
