import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('dev');
afterAll(() => removeFolder(folder));

/** Starts `dev --json`, and stops it after the test; resolves once it wrote to the standard output. */
async function devJson(dataDir: string, ...flags: string[]) {
  const address = ['--listen-addr', '127.0.0.1:0'];
  const sidecar = startBinary(['dev', '--json', '--data-dir', dataDir, ...address, ...flags]);
  await until(() => sidecar.stdout() !== '' || !sidecar.running(), 'dev printed its line');
  return { sidecar, printed: JSON.parse(sidecar.stdout()) };
}

test('dev --json prints one line with what a script calls with, once the wallet is funded', async () => {
  const dataDir = join(folder, 'data');
  const { sidecar, printed } = await devJson(dataDir, '--require-auth');
  const { url, credentials } = printed;
  expect(printed).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    credentials: expect.stringMatching(/^\S{40,}$/),
    reference: `${url}/docs`,
    data_dir: dataDir,
  });
  const health = await (await fetch(`${url}/v2/health`)).json();
  expect(health).toMatchObject({ status: 'ok' });
  const headers = { authorization: `Bearer ${credentials}` };
  const info = await fetch(`${url}/v2/node/node_info`, { headers });
  expect(await info.json()).toMatchObject({ lightning_balance: expect.stringMatching(/^[1-9]/) });
  expect((await fetch(`${url}/v2/node/node_info`)).status).toBe(401);
  expect(sidecar.stderr()).toContain('is ready');
  expect(await sidecar.stop()).toBe(0);
  expect(sidecar.stdout().trim().split('\n')).toHaveLength(1);
});

test('dev --json in memory has no credentials, and needs none', async () => {
  const { sidecar, printed } = await devJson(':memory:');
  expect(printed).toMatchObject({ credentials: null, data_dir: ':memory:' });
  expect((await fetch(`${printed.url}/v2/node/node_info`)).status).toBe(200);
  expect(await sidecar.stop()).toBe(0);
});

test('dev names the reference beside the lines to paste', async () => {
  const sidecar = startBinary(['dev', '--data-dir', ':memory:', '--listen-addr', '127.0.0.1:0']);
  const url = await sidecar.ready();
  await until(
    () => sidecar.stdout().includes(`The reference is at ${url}/docs\n`),
    'it is printed',
  );
  expect(await sidecar.stop()).toBe(0);
});

test('dev names the console, and the command that signs in to it', async () => {
  const sidecar = startBinary(['dev', '--data-dir', ':memory:', '--listen-addr', '127.0.0.1:0']);
  const url = await sidecar.ready();
  const line = `open ${url}/console: "wallet-sidecar console" prints a link`;
  await until(() => sidecar.stdout().includes(line), 'it is printed');
  expect(await sidecar.stop()).toBe(0);
});
