import { sqliteFailure } from '../lib/sqlite-failure.ts';
import { ApiError } from './errors.ts';

const SENTENCES = {
  locked:
    'Another program holds the database in the data directory locked: end that program, or try again later.',
  failing: 'The disk of the data directory is full or failing: free space, then try again.',
};

/** Error 8 in place of what a database throws when it cannot read or write; anything else stays as it is. */
export function asStorageError(error: unknown): unknown {
  const failure = sqliteFailure(error);
  return failure === null
    ? error
    : new ApiError('overCapacity', SENTENCES[failure], { cause: error });
}
