import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { FIGURES, fakeSidecar, SILENT, statusOf } from './fake-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const HAPROXY = Bun.which('haproxy', { PATH: `${process.env.PATH}:/usr/sbin` });
if (HAPROXY === null)
  console.warn('SKIPPED: HAProxy was not found, so docs/fleet/haproxy.cfg is NOT checked.');
const testHaproxy = test.skipIf(HAPROXY === null);

type FakeSidecar = Awaited<ReturnType<typeof fakeSidecar>>;

/** Starts HAProxy with the file of the docs. Resolves when it has asked both sidecars and passes requests on. */
async function startHaproxy(a: FakeSidecar, b: FakeSidecar) {
  const folder = temporaryFolder('haproxy');
  const port = freePort();
  const file = join(folder, 'haproxy.cfg');
  const text = readFileSync(join(ROOT, 'docs/fleet/haproxy.cfg'), 'utf8')
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    .replaceAll('sidecar-a:5393', `127.0.0.1:${a.port}`)
    .replaceAll('sidecar-b:5393', `127.0.0.1:${b.port}`);
  writeFileSync(file, text);
  const child = Bun.spawn([HAPROXY ?? 'haproxy', '-db', '-f', file], {
    stdout: 'ignore',
    stderr: 'ignore',
  });
  // A sidecar counts as there until it was asked: what was said to the second question was heard.
  await until(() => a.asked.length > 3 && b.asked.length > 3, 'both are asked');
  return {
    port,
    async stop() {
      child.kill();
      await child.exited;
      removeFolder(folder);
    },
  };
}

let a: FakeSidecar;
let b: FakeSidecar;
let haproxy: Awaited<ReturnType<typeof startHaproxy>> | null = null;
let port = 0;
beforeAll(async () => {
  a = await fakeSidecar(503);
  b = await fakeSidecar(200);
  if (HAPROXY === null) return;
  haproxy = await startHaproxy(a, b);
  port = haproxy.port;
});
afterAll(async () => {
  await haproxy?.stop();
  a.stop();
  b.stop();
});

testHaproxy('the one that leads is called, whatever Host its callers name', async () => {
  const before = [a.come.length, b.come.length];
  for (const host of ['stranger.example', 'pay.example']) {
    expect(await statusOf(port, '/v2/health', host)).toBe(200);
    expect(b.come.at(-1)?.host).toBe(host);
  }
  expect([a.come.length, b.come.length]).toEqual([before[0] ?? 0, (before[1] ?? 0) + 2]);
  expect(new Set([...a.asked, ...b.asked].map(({ host }) => host))).toEqual(
    new Set(['localhost:5393']),
  );
});

testHaproxy('figures are refused, however their path is written', async () => {
  const before = [...a.come, ...b.come].length;
  // What it passes on is no path of figures at a sidecar.
  for (const target of FIGURES) await statusOf(port, target);
  const passed = [...a.come, ...b.come].slice(before).map(({ path }) => path);
  expect(passed).not.toContain('/metrics');
  for (const target of ['/.well-known/lnurlp/metrics', '/v2/a.b/..c/metrics?a=/../']) {
    expect(await statusOf(port, target)).toBe(200);
  }
});

testHaproxy('a head as long as a sidecar takes reaches it', async () => {
  expect(await statusOf(port, `/v2/health?a=${'a'.repeat(64_000)}`)).toBe(200);
});

testHaproxy(
  'while none leads, requests wait at one that is there, and none at one that is silent',
  async () => {
    const silent = await fakeSidecar(SILENT, () => undefined);
    const follows = await fakeSidecar(503);
    const waiting = await startHaproxy(silent, follows);
    try {
      for (let count = 0; count < 20; count++) void statusOf(waiting.port, '/v2/health');
      await until(() => silent.come.length + follows.come.length === 20, 'all have come');
      expect(silent.come.length).toBe(0);
    } finally {
      await waiting.stop();
      silent.stop();
      follows.stop();
    }
  },
);
