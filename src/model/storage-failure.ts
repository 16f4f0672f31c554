import { ApiError } from './errors.ts';

/** Whether SQLite could not write: the disk is full, failing or read-only. */
export function isStorageFailure(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code);
}

/** Error 8 in place of what SQLite throws when it cannot write; anything else stays as it is. */
export function asStorageError(error: unknown): unknown {
  if (!isStorageFailure(error)) return error;
  return new ApiError(
    'overCapacity',
    'The disk of the data directory is full or failing: free space, then try again.',
    { cause: error },
  );
}
