import { readOr } from '../codecs/codec-error.ts';
import { refused, rejected } from './errors.ts';

/** Returns what `read` decodes. Throws error 7 for the field `path`, with the codec's reason, for invalid input. */
export function readOrReject<T>(path: string, read: () => T): T {
  return readOr(read, (error) => {
    throw rejected(path, error.message);
  });
}

/** Returns what `read` decodes. Throws error 106 with the codec's reason for invalid input. */
export function readOrRefuse<T>(read: () => T): T {
  return readOr(read, (error) => {
    throw refused(error.message, error);
  });
}
