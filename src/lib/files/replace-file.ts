import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Creates a file that only its owner can read. Throws when anything has that name already, even a symbolic link. */
export function createPrivateFile(path: string, text: string): void {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const file = openSync(path, O_CREAT | O_EXCL | O_WRONLY, 0o600);
  try {
    writeSync(file, text);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Replaces a file atomically: a reader sees the old text or the new one. It is not durable against a power cut. */
export function replacePrivateFile(path: string, text: string): void {
  const next = `${path}.new`;
  rmSync(next, { force: true });
  createPrivateFile(next, text);
  renameSync(next, path);
}
