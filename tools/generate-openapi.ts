import { join } from 'node:path';
import packageJson from '../package.json';
import { openApiDocument } from '../src/http/openapi/document.ts';
import { ROUTES } from '../src/http/routes/index.ts';

/** Where the API's description is kept, from the root of the repository: a change of it is read in its difference. */
export const OPENAPI_FILE = 'docs/openapi.json';

/** Returns the text of {@link OPENAPI_FILE}: what a sidecar at the default address serves. */
export function openApiText(): string {
  const { version } = packageJson;
  const document = openApiDocument(ROUTES, { version, serverUrl: 'http://127.0.0.1:5393' });
  return `${JSON.stringify(document, null, 2)}\n`;
}

if (import.meta.main) await Bun.write(join(import.meta.dir, '..', OPENAPI_FILE), openApiText());
