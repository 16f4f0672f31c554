import { CONFIGURED_ENDPOINT } from '../../src/model/webhooks/webhook-endpoint.ts';
import type {
  AttemptRecord,
  DeliveryKey,
  DueDelivery,
  EndpointRecord,
  Outbox,
  Store,
} from '../../src/store/ports.ts';
import { WALLET } from './store-steps.ts';

/** The name of a delivery to the configured endpoint. */
export function configured(id: string | undefined): DeliveryKey {
  return { id: id ?? '', endpoint: CONFIGURED_ENDPOINT };
}

/** Claims deliveries to the configured endpoint. */
export function claimConfigured(
  { outbox }: Pick<Store, 'outbox'>,
  options: Omit<Parameters<Outbox['claim']>[0], 'endpoint'>,
): Promise<DueDelivery[]> {
  return outbox.claim({ endpoint: CONFIGURED_ENDPOINT, ...options });
}

/** Returns when the next delivery of any endpoint is due or the next lease ends; null when none is pending. */
export async function nextDueAt({ outbox }: Pick<Store, 'outbox'>): Promise<number | null> {
  const queued = await outbox.queued();
  return queued.length === 0 ? null : Math.min(...queued.map((one) => one.firstDueAtMs));
}

/** An attempt that the receiver took at 10 seconds, unless `change` says otherwise. */
export function attemptRecord(change: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    atMs: 10_000,
    durationMs: 0,
    httpStatus: 200,
    error: null,
    headers: { 'webhook-id': 'msg_1' },
    answer: 'ok',
    ...change,
  };
}

/** An attempt that ended with that error. */
export function failedAttempt(error: string): AttemptRecord {
  return attemptRecord({ error, httpStatus: null, answer: null });
}

/** An endpoint of {@link WALLET} that hears of finalized payments, and stays. */
export function endpointRecord(change: Partial<EndpointRecord> = {}): EndpointRecord {
  return {
    id: 'ep_1',
    walletId: WALLET,
    url: 'https://shop.example/hook',
    events: ['payment.finalized'],
    description: null,
    secret: Buffer.alloc(32, 7).toString('base64'),
    createdAtMs: 1,
    expiresAtMs: null,
    ...change,
  };
}
