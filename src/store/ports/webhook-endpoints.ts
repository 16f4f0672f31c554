import type { WebhookEvent } from '../../model/webhooks/delivery.ts';

/** The part of an endpoint by which {@link ObservationRules.deliver} chooses who hears of a payment. */
export interface EndpointFilter {
  readonly id: string;
  readonly events: readonly WebhookEvent[];
  /** When the endpoint is deleted unless it is renewed, in milliseconds; null: never. */
  readonly expiresAtMs: number | null;
}

/** A webhook endpoint that a wallet's owner made. */
export interface EndpointRecord extends EndpointFilter {
  readonly walletId: string;
  readonly url: string;
  readonly description: string | null;
  /** Base64 without prefix. It is stored in clear, because deliveries are signed while nobody calls. */
  readonly secret: string;
  readonly createdAtMs: number;
}

/** The webhook endpoints of all wallets, but for the configured one (docs/decisions.md 126). */
export interface WebhookEndpointStore {
  /** Adds an endpoint. Returns false, and adds nothing, where its wallet has `most` of them. */
  add(endpoint: EndpointRecord, most: number): Promise<boolean>;
  /** The wallet's endpoints, oldest first. */
  list(walletId: string): Promise<EndpointRecord[]>;
  /** The endpoint with that id, of any wallet; null when there is none. */
  find(id: string): Promise<EndpointRecord | null>;
  /**
   * Moves the time at which an endpoint is deleted; one without such a time stays as it is. Returns the endpoint; null
   * when the wallet has none of that id, or its time is over at `nowMs`.
   */
  renew(
    walletId: string,
    id: string,
    times: { readonly nowMs: number; readonly expiresAtMs: number },
  ): Promise<EndpointRecord | null>;
  /**
   * Deletes an endpoint with its secret, and makes its pending deliveries `canceled`. Returns how many these were; null
   * when the wallet has no endpoint of that id.
   */
  remove(walletId: string, id: string): Promise<number | null>;
  /** Does the same to every endpoint whose time is over at `nowMs`. Returns their ids. */
  removeExpired(nowMs: number): Promise<string[]>;
}
