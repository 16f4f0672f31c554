import type { WebhookEvent } from '../../model/webhooks/delivery.ts';
import type { EndpointRecord } from '../ports.ts';

/** The columns of a webhook endpoint that are signed, the same in both engines. */
export interface EndpointColumns {
  readonly id: string;
  readonly wallet: string;
  readonly url: string;
  readonly events: string;
  readonly description: string | null;
  readonly secret: string;
  readonly created_at: number;
  readonly expires_at: number | null;
}

/** Returns the columns of an endpoint. */
export function columnsOfEndpoint(endpoint: EndpointRecord): EndpointColumns {
  return {
    id: endpoint.id,
    wallet: endpoint.walletId,
    url: endpoint.url,
    events: JSON.stringify(endpoint.events),
    description: endpoint.description,
    secret: endpoint.secret,
    created_at: endpoint.createdAtMs,
    expires_at: endpoint.expiresAtMs,
  };
}

/** Returns the endpoint of these columns. */
export function endpointOf(columns: EndpointColumns): EndpointRecord {
  return {
    id: columns.id,
    walletId: columns.wallet,
    url: columns.url,
    events: JSON.parse(columns.events) as WebhookEvent[],
    description: columns.description,
    secret: columns.secret,
    createdAtMs: columns.created_at,
    expiresAtMs: columns.expires_at,
  };
}

/** Returns an endpoint that is good for longer, unless it has no end; null where it is over, or another wallet's. */
export function renewed(
  endpoint: EndpointRecord | null,
  walletId: string,
  { nowMs, expiresAtMs }: { readonly nowMs: number; readonly expiresAtMs: number },
): EndpointRecord | null {
  if (endpoint?.walletId !== walletId) return null;
  if (endpoint.expiresAtMs === null) return endpoint;
  return endpoint.expiresAtMs > nowMs ? { ...endpoint, expiresAtMs } : null;
}
