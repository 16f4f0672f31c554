import type { Database } from 'bun:sqlite';
import { SCHEMA } from '../schema.ts';
import { initialSchema } from './0001-initial.ts';
import { connectorStateByKey } from './0002-connector-state-by-key.ts';
import { failedDeliveries } from './0003-failed-deliveries.ts';
import { journalTips } from './0004-journal-tips.ts';
import { clientsAndSpends } from './0005-clients-and-spends.ts';
import { leaseOwners } from './0006-lease-owners.ts';
import { waivedFeeIds } from './0007-waived-fee-ids.ts';
import { names } from './0008-names.ts';
import { fetchedInvoices } from './0009-fetched-invoices.ts';
import { compactRows } from './0010-compact-rows.ts';
import { webhookEndpoints } from './0011-webhook-endpoints.ts';
import { givenWay } from './0012-given-way.ts';
import { keysOfAnyCaller } from './0013-keys-of-any-caller.ts';
import { advances } from './0014-advances.ts';
import { signedRows } from './0015-signed-rows.ts';
import { externalIds } from './0016-external-ids.ts';
import { approvals } from './0017-approvals.ts';
import { origins } from './0018-origins.ts';
import { completions } from './0019-completions.ts';
import { own } from './0021-own.ts';
import { unusedIndexes } from './0023-unused-indexes.ts';
import { searchWords } from './words/0020-search-words.ts';
import { wordBundles } from './words/0022-word-bundles.ts';
import { wordSets } from './words/0024-word-sets.ts';
import { bundledMakers } from './words/0025-makers.ts';

/**
 * Every step of the schema, in order. The position of a step, from 1, is the version that it leads to. Steps are never
 * edited (docs/decisions.md 86).
 */
const STEPS: readonly (string | ((db: Database) => void))[] = [
  initialSchema,
  connectorStateByKey,
  failedDeliveries,
  journalTips,
  clientsAndSpends,
  leaseOwners,
  waivedFeeIds,
  names,
  fetchedInvoices,
  compactRows,
  webhookEndpoints,
  givenWay,
  keysOfAnyCaller,
  advances,
  signedRows,
  externalIds,
  approvals,
  origins,
  completions,
  searchWords,
  own,
  wordBundles,
  unusedIndexes,
  wordSets,
  bundledMakers,
];

/** The version of the schema that this program reads and writes. */
export const SCHEMA_VERSION = STEPS.length;

/**
 * Brings a database from one version (0: an empty one) to another and stores the version in it. The caller opens the
 * transaction.
 */
export function migrate(db: Database, from: number, to = SCHEMA_VERSION): void {
  if (from === 0 && to === SCHEMA_VERSION) db.run(SCHEMA);
  else followSteps(db, from, to);
  db.run(`PRAGMA user_version = ${to}`);
}

/** The steps from one version to another; for {@link migrate}, and for the test that they lead to {@link SCHEMA}. */
export function followSteps(db: Database, from: number, to = SCHEMA_VERSION): void {
  for (const step of STEPS.slice(from, to)) {
    if (typeof step === 'string') db.run(step);
    else step(db);
  }
}
