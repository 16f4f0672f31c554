import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('trial');
afterAll(() => removeFolder(folder));

test('dev is healthy once its wallet is signed up and funded on both rails, and says so until then', async () => {
  for (let run = 0; run < 3; run++) {
    const port = freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const sidecar = startBinary([
      'dev',
      '--data-dir',
      join(folder, `${run}`),
      '--listen-addr',
      `127.0.0.1:${port}`,
    ]);
    const seen = new Set<unknown>();
    await until(async () => {
      const answer = await send(baseUrl, 'GET', '/v2/health').catch(() => null);
      if (answer) seen.add(answer.body.status);
      return seen.has('ok');
    });
    const { body } = await send(baseUrl, 'GET', '/v2/node/node_info');
    expect(body).toMatchObject({ lightning_balance: '1000000', onchain_balance: '1000000' });
    seen.delete('ok');
    for (const status of seen) expect(status).toMatch(/being signed up and funded/);
    expect(await sidecar.stop()).toBe(0);
  }
});
