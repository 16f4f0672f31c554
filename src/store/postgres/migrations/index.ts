import type { SQL } from 'bun';
import { initialSchema } from './0001-initial.ts';
import { peers } from './0002-peers.ts';
import { watchKey } from './0003-watch-key.ts';
import { givenWay } from './0004-given-way.ts';
import { keysOfAnyCaller } from './0005-keys-of-any-caller.ts';
import { advances } from './0006-advances.ts';
import { signedRows } from './0007-signed-rows.ts';
import { externalIds } from './0008-external-ids.ts';
import { approvals } from './0009-approvals.ts';
import { origins } from './0010-origins.ts';
import { completions } from './0011-completions.ts';
import { searchWords } from './0012-search-words.ts';
import { own } from './0013-own.ts';
import { wordsByPeriod } from './0014-words-by-period.ts';
import { filtersAsWords } from './0015-filters-as-words.ts';
import { wordSets } from './0016-word-sets.ts';
import { bundledMakers } from './0017-makers.ts';

/**
 * Every step of the schema, in order. The position of a step, from 1, is the version that it leads to. Steps are never
 * edited (docs/decisions.md 86).
 */
export const STEPS: readonly (string | ((tx: SQL) => Promise<void>))[] = [
  initialSchema,
  peers,
  watchKey,
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
  wordsByPeriod,
  filtersAsWords,
  wordSets,
  bundledMakers,
];

/** The version of the schema that this program reads and writes. */
export const SCHEMA_VERSION = STEPS.length;
