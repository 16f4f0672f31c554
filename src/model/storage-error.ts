import { type PostgresFailure, postgresFailure } from '../lib/databases/postgres-failure.ts';
import { sqliteFailure } from '../lib/databases/sqlite-failure.ts';
import { ApiError } from './errors.ts';

const SENTENCES = {
  locked:
    'Another program holds the database in the data directory locked: end that program, or try again later.',
  failing: 'The disk of the data directory is full or failing: free space, then try again.',
};

const POSTGRES_SENTENCES: Readonly<Record<PostgresFailure, string>> = {
  away: 'The database cannot be reached: check that PostgreSQL runs, then try again.',
  failing:
    'The database cannot write: check the disk of PostgreSQL and its limit of connections, then try again.',
  conflict: 'Another transaction of the database is in the way: try again.',
};

/** Returns error 8 for an error of a database that cannot read or write, and every other error unchanged. */
export function asStorageError(error: unknown): unknown {
  const sentence = sentenceOf(error);
  return sentence === null ? error : new ApiError('overCapacity', sentence, { cause: error });
}

function sentenceOf(error: unknown): string | null {
  const local = sqliteFailure(error);
  if (local !== null) return SENTENCES[local];
  const remote = postgresFailure(error);
  return remote === null ? null : POSTGRES_SENTENCES[remote];
}
