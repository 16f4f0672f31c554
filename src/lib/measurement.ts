import { createHash } from 'node:crypto';
import { close, openSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { once } from './once.ts';

/** How much of a file is read at a time. One buffer serves all of it, since a program is a hundred times as large. */
const PIECE_BYTES = 256 * 1024;

/**
 * Returns a function that resolves to the hex SHA-256 of the file that a path names now, also where another file takes
 * its place later, as an upgrade does with a program that runs. The file is opened now, and read in pieces by the first
 * call. A call rejects with the system's error where the file could not be opened or read.
 */
export function fileMeasurement(path: string): () => Promise<string> {
  const opened = Promise.try(openSync, path, 'r');
  // Why it cannot be opened is told by the calls.
  opened.catch(() => undefined);
  return once(() => opened.then(hashOf));
}

async function hashOf(file: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = new Uint8Array(PIECE_BYTES);
  const readAt = (at: number) => promisify(read)(file, piece, 0, PIECE_BYTES, at);
  for (let at = 0; ; ) {
    const { bytesRead } = await readAt(at);
    if (bytesRead === 0) break;
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
  }
  await promisify(close)(file);
  return hash.digest('hex');
}
