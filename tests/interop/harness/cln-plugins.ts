import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A payment to an invoice whose label begins with this is held until the RPC method `decide` says what becomes of it. */
export const HELD_LABEL = 'hold-';

/** Writes the plugin of Core Lightning that holds payments to `folder` and returns its path. */
export function holdingPlugin(folder: string): Promise<string> {
  return plugin(folder, 'holding-plugin', HELD_LABEL);
}

/** Writes the plugin of Core Lightning that holds parts of payments to `folder` and returns its path. */
export function partsPlugin(folder: string): Promise<string> {
  return plugin(folder, 'parts-plugin', '');
}

/** Writes the plugin of Core Lightning that converts currencies to `folder` and returns its path. */
export function currencyPlugin(folder: string): Promise<string> {
  return plugin(folder, 'currency-plugin', '');
}

async function plugin(folder: string, name: string, argument: string): Promise<string> {
  const path = join(folder, name);
  const program = join(import.meta.dir, `${name}-process.ts`);
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${program}' '${argument}'\n`);
  await chmod(path, 0o700);
  return path;
}
