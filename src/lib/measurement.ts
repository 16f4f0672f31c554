import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/**
 * Returns a function that resolves to the hex SHA-256 of a file. The file is read once, in pieces, so that a large one
 * neither blocks the process nor fills its memory.
 */
export function fileMeasurement(path: string): () => Promise<string> {
  let measured: Promise<string> | undefined;
  return () => {
    measured ??= hashFile(path);
    return measured;
  };
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk);
  return hash.digest('hex');
}
