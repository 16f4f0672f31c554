import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** Creates a file that only its owner can read; fails where anything has that name, a symbolic link included. */
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

/** Replaces a file in one step, so that a reader sees the old text or the new one; not secured against a power cut. */
export function replacePrivateFile(path: string, text: string): void {
  const next = `${path}.new`;
  rmSync(next, { force: true });
  createPrivateFile(next, text);
  renameSync(next, path);
}
