import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { WalletSidecar } from '../../src/client/index.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { clientSources } from '../../tools/generate-client.ts';
import { OPENAPI_FILE, openApiText } from '../../tools/generate-openapi.ts';

test('the generated files of the client are those of the routes: `npm run generate` after a change', async () => {
  const folder = join(import.meta.dir, '..', '..', 'src', 'client', 'generated');
  const sources = await clientSources();
  expect(readdirSync(folder).toSorted()).toEqual(Object.keys(sources).toSorted());
  for (const [name, text] of Object.entries(sources)) {
    expect(`${name}\n${await Bun.file(join(folder, name)).text()}`).toBe(`${name}\n${text}`);
  }
});

test('the description that git keeps is the one that is served: `npm run generate` after a change', async () => {
  const kept = await Bun.file(join(import.meta.dir, '..', '..', OPENAPI_FILE)).text();
  expect(kept).toBe(openApiText());
});

test('there is one method for each endpoint, and it calls that endpoint', async () => {
  const called: string[] = [];
  const client = new WalletSidecar({
    url: 'http://sidecar.test',
    fetch: async (url, { method }) => {
      called.push(`${String(method).toLowerCase()} ${new URL(url).pathname}`);
      return Response.json({});
    },
  });
  const methods = Object.getOwnPropertyNames(WalletSidecar.prototype).filter(
    (name) => name !== 'constructor' && name !== 'events',
  );
  for (const name of methods) {
    const method = Reflect.get(client, name) as (request: object) => Promise<unknown>;
    await method.call(client, {});
  }
  await client.events().next().catch(String);
  expect(called.toSorted()).toEqual(
    ROUTES.filter(({ otherMediaType }) => otherMediaType === undefined)
      .map((one) => `${one.method} ${one.path}`)
      .toSorted(),
  );
});
