import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const PUBLIC = 'https://pay.example/wallet';
const folder = temporaryFolder('public');
const dataDir = join(folder, 'data');
const port = freePort();
let sidecar: DevSidecar;
beforeAll(async () => {
  const env = { SERVICE_SIDECAR_URL: PUBLIC, SERVICE_REQUIRE_AUTH: 'true' };
  sidecar = await startDevSidecar({ dataDir, port, env });
});
afterAll(async () => {
  await sidecar.stop();
  removeFolder(folder);
});

const credentials = () => readFileSync(join(dataDir, 'cookie'), 'utf8');
const read = (path: string, host: string) =>
  sidecar.call('GET', path, { headers: { host } }) as Promise<{ callback: string }>;

test('LNURL callbacks have --sidecar-url as their base, whatever Host names and wherever it listens', async () => {
  const body = { tag: 'payRequest', min_amount: '1', max_amount: '9' };
  const service = (tag: string) =>
    sidecar.call('POST', '/sandbox/lnurl', {
      body: { ...body, tag },
      credentials: credentials(),
    }) as Promise<{ url: string }>;
  const urls = [(await service('payRequest')).url, (await service('withdrawRequest')).url];
  await sidecar.call('PUT', '/v2/node/human_bitcoin_address', {
    body: { username: 'satoshi' },
    credentials: credentials(),
  });
  const paths = urls.map((url) => {
    expect(url).toStartWith(`${PUBLIC}/sandbox/lnurl/`);
    return url.slice(PUBLIC.length);
  });
  for (const path of [...paths, '/.well-known/lnurlp/satoshi']) {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'pay.example']) {
      const { callback } = await read(path, host);
      expect(callback).toBe(`${PUBLIC}${path}/callback`);
    }
  }
});
