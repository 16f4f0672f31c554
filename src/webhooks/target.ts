import { CONFIGURED_ENDPOINT } from '../model/webhooks/webhook-endpoint.ts';
import type { WebhookEndpointStore } from '../store/ports.ts';

interface Target {
  readonly url: string;
  /** Base64 without prefix; null: deliveries are not signed. */
  readonly secret: string | null;
}

/** Finds the target of an endpoint; null where there is none, now or in this process. */
export type FindTarget = (endpoint: string) => Promise<Target | null>;

/** Returns the look-up over the stored endpoints and the configured one, which is null where none is configured. */
export function targets(
  endpoints: Pick<WebhookEndpointStore, 'find'>,
  configured: Target | null,
): FindTarget {
  return async (endpoint) =>
    endpoint === CONFIGURED_ENDPOINT ? configured : endpoints.find(endpoint);
}
