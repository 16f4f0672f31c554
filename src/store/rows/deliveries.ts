import type { DeliveryColumns } from '../columns/delivery.ts';
import type { DeliveryDraft } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Query, Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { tableOf } from './table.ts';

/** Writes the deliveries of an event of a payment, by its index, or of a client, by its key. Returns how many. */
export type DeliveryWriter = (
  walletId: string,
  subject: string,
  draft: DeliveryDraft,
) => Steps<number>;

/**
 * Returns what writes the deliveries of an event, unless there are some of its webhook-id, and returns how many. Rows
 * stay when a delivery is pruned or canceled, so an event that comes again is not delivered again, and not to an
 * endpoint that was made later either.
 */
export function deliveryWriter(rows: Rows): DeliveryWriter {
  const table = tableOf<DeliveryColumns>(rows, SIGNED.delivery);
  const inserts = new Map<number, Query<unknown>>();
  const prepareOf = (count: number) =>
    rows.query<unknown>(
      `INSERT INTO wallet_sidecar.delivery (id, event, wallet, idx, state, body, due_at, created_at, endpoint, mac)
       SELECT CAST(?1 AS TEXT), CAST(?2 AS TEXT), CAST(?3 AS TEXT), CAST(?4 AS TEXT), 'pending', CAST(?5 AS TEXT),
         CAST(?6 AS BIGINT), CAST(?6 AS BIGINT), column1, column2
       FROM (VALUES ${Array(count).fill('(CAST(? AS TEXT), CAST(? AS TEXT))').join(', ')}) AS given
       WHERE NOT EXISTS (SELECT 1 FROM wallet_sidecar.delivery WHERE id = ?1)`,
    );
  return function* (wallet, idx, { id, event, body, createdAtMs, endpoints }) {
    if (endpoints.length === 0) return 0;
    const given = endpoints.flatMap((endpoint) => [
      endpoint,
      table.mac({ id, endpoint, event, wallet, idx, body, created_at: createdAtMs }),
    ]);
    const insert = inserts.get(endpoints.length) ?? prepareOf(endpoints.length);
    inserts.set(endpoints.length, insert);
    return yield* insert.run(id, event, wallet, idx, body, createdAtMs, ...given);
  };
}
