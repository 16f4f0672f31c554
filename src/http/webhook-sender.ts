import type { WebhookEvent } from '../model/webhooks/delivery.ts';
import type { AttemptRecord } from '../store/ports.ts';
import type { RedeliveryLimit } from '../wallet/read/redelivery-limit.ts';

interface SentMessage extends AttemptRecord {
  readonly id: string;
  readonly body: string;
}

/** The part of webhooks that routes use. */
export interface WebhookSender {
  /** The endpoint of `--webhook-url`; null where none is configured. */
  readonly configured: {
    readonly url: string;
    readonly signed: boolean;
    readonly events: readonly WebhookEvent[];
  } | null;
  /** Limits how often clients have deliveries sent again. */
  readonly redeliveries: RedeliveryLimit;
  /** Tells the dispatcher that deliveries are due. */
  wake(): void;
  /** Aborts attempts to an endpoint that was deleted. */
  forget(endpoint: string): void;
  /**
   * Sends a test message in the name of a wallet to an endpoint, once (docs/decisions.md 128). Returns null where the
   * endpoint is not there. Rejects with the signal's reason.
   */
  test(endpoint: string, userPk: string, signal: AbortSignal): Promise<SentMessage | null>;
}
