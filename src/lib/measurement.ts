import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { once } from './once.ts';

/** How much of a file is read at a time. One buffer serves all of it, since a program is a hundred times as large. */
const PIECE_BYTES = 256 * 1024;

/** Returns a function that resolves to the hex SHA-256 of a file, which is read once, in pieces. */
export function fileMeasurement(path: string): () => Promise<string> {
  return once(() => hashFile(path));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const piece = new Uint8Array(PIECE_BYTES);
  const file = await open(path);
  try {
    while (true) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
