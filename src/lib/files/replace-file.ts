import { closeSync, constants, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

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
  const next = nextOf(path);
  rmSync(next, { force: true });
  createPrivateFile(next, text);
  renameSync(next, path);
}

/**
 * Replaces a file: a kill at any instruction leaves the old text or the new one. The new text is durable when this
 * resolves. What an earlier process left half written is replaced.
 */
export async function replaceDurably(path: string, text: string): Promise<void> {
  const next = nextOf(path);
  await rm(next, { force: true });
  const file = await open(next, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
  // On Windows a directory cannot be opened, and need not be: its renames are durable without this.
  if (process.platform === 'win32') return;
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The file that is written before it takes the name of the other. */
export function nextOf(path: string): string {
  return `${path}.new`;
}
