import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_FOLDER, clientSources } from './generate-client.ts';
import { PYTHON_FOLDER, pythonClientSources } from './generate-python-client.ts';

const ROOT = join(import.meta.dir, '..');

/**
 * Writes the generated files of both clients, which git does not keep. A file that is as it should be stays untouched,
 * so that what is built of it is not built anew.
 */
export async function writeClients(): Promise<void> {
  await writeChanged(CLIENT_FOLDER, await clientSources());
  await writeChanged(PYTHON_FOLDER, pythonClientSources());
}

async function writeChanged(
  folder: string,
  sources: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(join(ROOT, folder), { recursive: true });
  for (const [name, text] of Object.entries(sources)) {
    const file = Bun.file(join(ROOT, folder, name));
    const written = (await file.exists()) ? await file.text() : null;
    if (written !== text) await file.write(text);
  }
}

if (import.meta.main) await writeClients();
