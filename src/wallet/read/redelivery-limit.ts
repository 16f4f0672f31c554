import { rateLimit } from '../../lib/rate-limit.ts';
import { ApiError } from '../../model/errors.ts';

/** More clients than a sidecar has at a time. */
const MOST_CLIENTS = 10_000;

/** Limits how often a client has deliveries sent again, since each costs its receivers work (docs/decisions.md 162). */
export interface RedeliveryLimit {
  /** Counts one request of a client, by what it names. Throws `overCapacity` (error 8) where it has none left now. */
  take(clientPk: string, by: 'id' | 'since'): void;
}

/** Returns the limit: 60 at once and then one a second by id; 3 at once and then one a minute by time. */
export function redeliveryLimit(elapsedMs: () => number): RedeliveryLimit {
  const shared = { mostKeys: MOST_CLIENTS, elapsedMs };
  const limits = {
    id: rateLimit({ burst: 60, perSec: 1, ...shared }),
    since: rateLimit({ burst: 3, perSec: 1 / 60, ...shared }),
  };
  return {
    take(clientPk, by) {
      if (limits[by].take(clientPk)) return;
      throw new ApiError(
        'overCapacity',
        by === 'id'
          ? 'These credentials have had many deliveries sent again: try again in a second.'
          : 'These credentials have had many deliveries sent again: try again in a minute, or name one by its id.',
      );
    },
  };
}
