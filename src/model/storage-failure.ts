import { codeOf } from '../lib/error-code.ts';
import { ApiError } from './errors.ts';

/** Whether SQLite could not read or write: the disk is full, failing or read-only, or another program has the lock. */
export function isStorageFailure(error: unknown): boolean {
  return /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(codeOf(error)) || isLocked(error);
}

/** Whether another program held the database locked. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(codeOf(error));
}

/** Error 8 in place of what SQLite throws when it cannot read or write; anything else stays as it is. */
export function asStorageError(error: unknown): unknown {
  if (!isStorageFailure(error)) return error;
  const message = isLocked(error)
    ? 'Another program holds the database in the data directory locked: end that program, or try again later.'
    : 'The disk of the data directory is full or failing: free space, then try again.';
  return new ApiError('overCapacity', message, { cause: error });
}
