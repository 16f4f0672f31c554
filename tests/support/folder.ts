import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder, whose name tells what it is for; {@link removeFolder} removes it. */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `wallet-sidecar-${name}-`));
}

/** Removes a folder with all it holds; no effect where there is none. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
