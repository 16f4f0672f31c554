import { initialSchema } from './0001-initial.ts';
import { connectorStateByKey } from './0002-connector-state-by-key.ts';
import { failedDeliveries } from './0003-failed-deliveries.ts';
import { journalTips } from './0004-journal-tips.ts';

/** Every step of the schema, in order; the position (from 1) is the version that it leads to. Never edited. */
export const MIGRATIONS: readonly string[] = [
  initialSchema,
  connectorStateByKey,
  failedDeliveries,
  journalTips,
];
