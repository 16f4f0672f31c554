import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A payment to an invoice whose label begins with this is held until the RPC method `decide` says what becomes of it. */
export const HELD_LABEL = 'hold-';

/** Writes the plugin of Core Lightning that holds payments to `folder` and returns its path. */
export async function holdingPlugin(folder: string): Promise<string> {
  const path = join(folder, 'holding-plugin');
  const program = join(import.meta.dir, 'holding-plugin-process.ts');
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' '${HELD_LABEL}'\n`);
  await chmod(path, 0o700);
  return path;
}
