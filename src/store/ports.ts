import type { BudgetStore } from './ports/budgets.ts';
import type { ClientStore } from './ports/clients.ts';
import type { ConnectorState } from './ports/connector-state.ts';
import type { IdempotencyStore } from './ports/idempotency.ts';
import type { StoreIdentity } from './ports/identity.ts';
import type { IssuedOffers } from './ports/issued-offers.ts';
import type { PaymentJournal } from './ports/journal.ts';
import type { Makers } from './ports/makers.ts';
import type { NameStore } from './ports/names.ts';
import type { ObservationStore } from './ports/observations.ts';
import type { Outbox } from './ports/outbox.ts';
import type { PaymentCache } from './ports/payment-cache.ts';
import type { SpendStore } from './ports/spends.ts';
import type { WatchStore } from './ports/watches.ts';
import type { WebhookEndpointStore } from './ports/webhook-endpoints.ts';

export type * from './ports/budgets.ts';
export type * from './ports/clients.ts';
export type * from './ports/connector-state.ts';
export type * from './ports/idempotency.ts';
export type * from './ports/identity.ts';
export type * from './ports/issued-offers.ts';
export type * from './ports/journal.ts';
export type * from './ports/makers.ts';
export type * from './ports/names.ts';
export type * from './ports/observations.ts';
export type * from './ports/outbox.ts';
export type * from './ports/payment-cache.ts';
export type * from './ports/spends.ts';
export type * from './ports/watches.ts';
export type * from './ports/webhook-endpoints.ts';

/**
 * Everything that the sidecar stores, as asynchronous ports that name no database (docs/decisions.md 107). A `walletId`
 * is the wallet's hex user_pk. Every method is one atomic step, and what it wrote is durable when its promise resolves.
 */
export interface Store {
  readonly cache: PaymentCache;
  readonly observations: ObservationStore;
  readonly journal: PaymentJournal;
  readonly spends: SpendStore;
  readonly watches: WatchStore;
  readonly offers: IssuedOffers;
  readonly makers: Makers;
  readonly names: NameStore;
  readonly clients: ClientStore;
  readonly outbox: Outbox;
  readonly webhookEndpoints: WebhookEndpointStore;
  readonly idempotency: IdempotencyStore;
  readonly budgets: BudgetStore;
  readonly connectorState: ConnectorState;
  readonly identity: StoreIdentity;
  /** Returns a sentence for health while the store cannot be used; null while it can. It never waits. */
  problem(): string | null;
  /** Gives the disk back what removed rows took, until `signal` aborts. Other reads and writes go on meanwhile. */
  releaseSpace(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
