import type { DeliveryJson, DeliveryState, WebhookEvent } from '../../model/webhooks/delivery.ts';

/** The columns of a delivery that are signed, the same in both engines. */
export interface DeliveryColumns {
  readonly id: string;
  readonly endpoint: string;
  readonly event: WebhookEvent;
  readonly wallet: string;
  readonly idx: string;
  readonly body: string;
  readonly created_at: number;
}

/** A delivery with what became of it, which is not signed. */
export interface DeliveryStanding extends DeliveryColumns {
  readonly state: DeliveryState;
  /** Attempts since it was last asked for. */
  readonly attempts: number;
  /** Attempts of which the log has a row: the newest 20. */
  readonly kept: number;
  readonly last_error: string | null;
  readonly due_at: number | null;
  readonly delivered_at: number | null;
}

/** Why a delivery is given up whose row is not as it was written. */
export const CHANGED_IN_DATABASE = 'changed in the database, so it is not sent';

/** Returns a delivery in the form of answers. */
export function deliveryJson(row: DeliveryStanding): DeliveryJson {
  return {
    id: row.id,
    endpoint: row.endpoint,
    type: row.event,
    index: row.idx,
    state: row.state,
    attempts: Math.max(row.attempts, row.kept),
    last_error: row.last_error,
    next_attempt_at: row.due_at,
    delivered_at: row.delivered_at,
    created_at: row.created_at,
  };
}
