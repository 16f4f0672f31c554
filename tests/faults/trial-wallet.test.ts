import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, startProcess, until } from './process.ts';
import { freePort } from './sidecar.ts';

const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-trial-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('dev is healthy once its wallet is signed up and funded on both rails, and says so until then', async () => {
  for (let run = 0; run < 3; run++) {
    const port = freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const sidecar = startProcess([
      'dev',
      '--data-dir',
      join(folder, `${run}`),
      '--listen-addr',
      `127.0.0.1:${port}`,
    ]);
    const seen = new Set<unknown>();
    await until(async () => {
      const answer = await call(`${baseUrl}/v2/health`).catch(() => null);
      if (answer) seen.add(answer.json.status);
      return seen.has('ok');
    });
    const { json } = await call(`${baseUrl}/v2/node/node_info`);
    expect(json).toMatchObject({ lightning_balance: '1000000', onchain_balance: '1000000' });
    seen.delete('ok');
    for (const status of seen) expect(status).toMatch(/being signed up and funded/);
    expect((await sidecar.terminate()).code).toBe(0);
  }
});
