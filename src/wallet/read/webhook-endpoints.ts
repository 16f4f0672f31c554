import { randomBytes } from 'node:crypto';
import { base64, hex } from '@scure/base';
import type { Client } from '../../model/clients/client.ts';
import { ApiError, refused, rejected } from '../../model/errors.ts';
import type { WebhookEvent } from '../../model/webhooks/delivery.ts';
import { CONFIGURED_ENDPOINT, MOST_ENDPOINTS } from '../../model/webhooks/webhook-endpoint.ts';
import type { EndpointRecord } from '../../store/ports.ts';
import type { Session, WalletRows } from '../session/session.ts';

/** The length of a secret that is drawn, in bytes; 24 to 64 are allowed (docs/decisions.md 93). */
const SECRET_BYTES = 32;

interface NewEndpoint {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly description: string | null;
  /** Base64 without prefix; null draws one. */
  readonly secret: string | null;
  /** After how many seconds it is deleted unless it is renewed; null: never. */
  readonly leaseSecs: number | null;
}

type EndpointMaker = WalletRows & Pick<Session, 'isOwner' | 'caller' | 'client'>;

/** When a lease ends: no later than the client that asks for it. */
function leaseEnd(client: Client | null, nowMs: number, leaseSecs: number): number {
  return Math.min(nowMs + leaseSecs * 1000, client?.expiresAtMs ?? Number.POSITIVE_INFINITY);
}

/**
 * Makes an endpoint of the wallet (docs/decisions.md 126). Throws `rejected` (error 7) where a client gives it no end,
 * since it would go on when that client is revoked (docs/decisions.md 162), and `refused` (error 106) where the wallet
 * has the most that it may have.
 */
export async function addEndpoint(
  { userPk, store, isOwner, caller, client }: EndpointMaker,
  { url, events, description, secret, leaseSecs }: NewEndpoint,
  nowMs: number,
): Promise<EndpointRecord> {
  if (leaseSecs === null && !isOwner) {
    throw rejected(
      'lease_secs',
      "is required of a client, which must renew its endpoint: only the wallet's owner makes one without an end",
    );
  }
  const endpoint: EndpointRecord = {
    id: `ep_${hex.encode(randomBytes(16))}`,
    walletId: userPk,
    url,
    events: [...new Set(events)],
    description,
    secret: secret ?? base64.encode(randomBytes(SECRET_BYTES)),
    createdAtMs: nowMs,
    expiresAtMs: leaseSecs === null ? null : leaseEnd(client(), nowMs, leaseSecs),
  };
  // Before it is there, so that it ends with its client whatever happens in between.
  if (!isOwner) await store.makers.keep(userPk, endpoint.id, caller.id);
  if (await store.webhookEndpoints.add(endpoint, MOST_ENDPOINTS)) return endpoint;
  throw refused(
    `This wallet has ${MOST_ENDPOINTS} webhook endpoints, and may not have more: delete one that is not used.`,
  );
}

/** Returns the wallet's endpoints, oldest first, without the configured one. */
export function listEndpoints({ userPk, store }: WalletRows): Promise<EndpointRecord[]> {
  return store.webhookEndpoints.list(userPk);
}

/**
 * Deletes an endpoint with its secret, and cancels what is pending for it. Returns how many deliveries that were.
 * Throws `notFound` (error 107) where the wallet has no such endpoint, and `rejected` for the configured one.
 */
export async function removeEndpoint({ userPk, store }: WalletRows, id: string): Promise<number> {
  requireStored(id, 'deleted');
  const canceled = await store.webhookEndpoints.remove(userPk, id);
  if (canceled === null) throw endpointNotFound();
  return canceled;
}

/** Keeps an endpoint for that many seconds from now on, unless it has no end. Throws as {@link removeEndpoint}. */
export async function renewEndpoint(
  { userPk, store, client }: WalletRows & Pick<Session, 'client'>,
  { id, leaseSecs }: { readonly id: string; readonly leaseSecs: number },
  nowMs: number,
): Promise<EndpointRecord> {
  requireStored(id, 'renewed');
  const expiresAtMs = leaseEnd(client(), nowMs, leaseSecs);
  const renewed = await store.webhookEndpoints.renew(userPk, id, { nowMs, expiresAtMs });
  if (renewed === null) throw endpointNotFound();
  return renewed;
}

/** Throws `notFound` unless the wallet has the endpoint. The configured one belongs to every wallet. */
export async function requireEndpoint({ userPk, store }: WalletRows, id: string): Promise<void> {
  if (id === CONFIGURED_ENDPOINT) return;
  const endpoint = await store.webhookEndpoints.find(id);
  if (endpoint?.walletId !== userPk) throw endpointNotFound();
}

/** Returns the error 107 of an endpoint that is not there. */
export function endpointNotFound(): ApiError {
  return new ApiError('notFound', 'Webhook endpoint not found');
}

function requireStored(id: string, verb: 'deleted' | 'renewed'): void {
  if (id !== CONFIGURED_ENDPOINT) return;
  throw rejected(
    'id',
    `the endpoint of --webhook-url cannot be ${verb} here: change the setting and start the sidecar again`,
  );
}
