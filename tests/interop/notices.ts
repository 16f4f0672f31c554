import { Webhook } from 'standardwebhooks';
import { waitUntil } from '../support/until.ts';
import { startNodeSidecar } from './node-sidecar.ts';

const SECRET = Buffer.alloc(32, 7).toString('base64');

/** A webhook that arrived with a valid signature. */
export interface SeenNotice {
  /** The header `webhook-id`. */
  readonly id: string;
  readonly status: string;
}

/** A receiver of webhooks, which stores those of ended payments by index. */
export interface NoticeReceiver {
  /** The flags with which the sidecar delivers to this receiver. */
  readonly flags: readonly string[];
  readonly byIndex: ReadonlyMap<string, readonly SeenNotice[]>;
  /**
   * Resolves once a payment's webhook has arrived. Throws if the payment also got one with another status or
   * webhook-id.
   */
  delivered(index: string, status: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a sidecar with these credentials of a node, and a receiver of its webhooks. */
export async function startNoticed(credentials: string) {
  const notices = startNoticeReceiver();
  const flags = ['--client-credentials', credentials, ...notices.flags];
  return { notices, sidecar: await startNodeSidecar(flags) };
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
      const { index, status, type } = JSON.parse(body) as Record<
        'index' | 'status' | 'type',
        string
      >;
      // Only the ends of payments are counted here.
      if (type === 'payment.held') return new Response();
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
