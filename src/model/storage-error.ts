import { sqliteFailure } from '../lib/sqlite-failure.ts';
import { ApiError } from './errors.ts';

const SENTENCES = {
  locked:
    'Another program holds the database in the data directory locked: end that program, or try again later.',
  failing: 'The disk of the data directory is full or failing: free space, then try again.',
};

/** Returns error 8 for an error of a database that cannot read or write, and every other error unchanged. */
export function asStorageError(error: unknown): unknown {
  const failure = sqliteFailure(error);
  return failure === null
    ? error
    : new ApiError('overCapacity', SENTENCES[failure], { cause: error });
}
