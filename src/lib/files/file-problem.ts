import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../error-code.ts';

/** A file or directory that cannot be used; the message is one sentence for the person who starts the program. */
export class FileUnusable extends Error {
  override readonly name = 'FileUnusable';
}

/** Returns whether an error of the system or of SQLite is about a file or its disk, such as a full disk. */
export function isFileFailure(error: unknown): boolean {
  return /^(SQLITE_(FULL|IOERR|READONLY|CANTOPEN)|ENOSPC|EDQUOT|EROFS|EIO|EACCES|EPERM)/.test(
    codeOf(error),
  );
}

/**
 * Makes an error that says what is wrong with a path and what to do. `error` is what the failed operation threw;
 * `advice` names another way, such as `use another --data-dir`.
 */
export function fileUnusable(path: string, error: unknown, advice: string): FileUnusable {
  if (error instanceof FileUnusable) return error;
  return new FileUnusable(sentence(path, failureCode(error, path), advice), { cause: error });
}

/** SQLite's own files need at least this much free space. */
const FULL_BELOW_BYTES = 128 * 1024;

/**
 * Returns the code of a failed operation on a path. On a full disk SQLite reports an I/O error when its shared memory
 * file cannot grow; so for an I/O error the free space is read, and a full disk is returned as `SQLITE_FULL`.
 */
export function failureCode(error: unknown, path: string): string {
  const code = codeOf(error);
  return code.startsWith('SQLITE_IOERR') && isFull(dirname(path)) ? 'SQLITE_FULL' : code;
}

function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize < FULL_BELOW_BYTES;
  } catch {
    return false;
  }
}

function sentence(path: string, code: string, advice: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `${path} cannot be written by this user: change its owner with chown, or ${advice}.`;
    case 'EROFS':
    case 'SQLITE_READONLY':
      return `${path} is on a read-only file system: make it writable, or ${advice}.`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path} is a file, or lies below one, where a directory is needed: remove that file, or ${advice}.`;
    case 'ENOENT':
      return `${path} lies in a directory that does not exist: create that, or ${advice}.`;
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return `${path} is on a disk that is full: free some space, or ${advice}.`;
    default:
      return `${path} cannot be used (${code || 'unknown error'}): check it, or ${advice}.`;
  }
}
