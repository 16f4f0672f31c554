import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { throwing } from '../support/rejection.ts';
import type { CallFailed } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { stopTails, twoWallets } from './checks.ts';
import { expectOneTruth } from './truth.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('disk');
const disk = join(folder, 'disk');
mkdirSync(disk);
const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', disk]).success;
if (!mounted)
  console.warn('SKIPPED: a small tmpfs cannot be mounted here, so a full disk is not tried.');
afterAll(() => {
  if (mounted) Bun.spawnSync(['umount', '-l', disk]);
  removeFolder(folder);
});

test.skipIf(!mounted)(
  'a full disk gives clear errors, corrupts nothing, and all works again when space returns',
  async () => {
    const port = freePort();
    let sidecar = await startDevSidecar({ dataDir: join(disk, 'data'), port });
    const invoice = () =>
      sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '1' } });
    await invoice();
    const wallets = twoWallets({
      dataDir: join(disk, 'data'),
      baseUrl: sidecar.baseUrl,
      second: await secondWallet(sidecar),
    });
    const filler = join(disk, 'filler');
    fill(filler);
    const failures: CallFailed[] = [];
    for (let round = 0; round < 200 && failures.length < 5; round++) {
      await invoice().catch((error) => failures.push(error));
    }
    expect(failures.length).toBeGreaterThan(0);
    for (const { status, body } of failures) {
      expect(status).toBe(503);
      expect(body).toMatchObject({ code: 8 });
      expect(body.msg).toMatch(/disk/);
    }
    const health = async () =>
      ((await sidecar.call('GET', '/v2/health')) as { status: string }).status;
    expect(await health()).toContain('is full or nearly full');
    rmSync(filler);
    expect(await health()).toBe('ok');
    await invoice();
    await sidecar.kill();
    sidecar = await startDevSidecar({ dataDir: join(disk, 'data'), port });
    await invoice();
    for (const wallet of wallets) await expectOneTruth(wallet);
    await stopTails(wallets);
    expect(await sidecar.stop()).toBe(0);
  },
  60_000,
);

test.skipIf(!mounted)(
  'a full disk does not end the process by its timers, which go on when space returns',
  async () => {
    const port = freePort();
    const env = { SERVICE_SANDBOX_BLOCK_SECS: '1' };
    const dataDir = join(disk, 'timers');
    const sidecar = await startDevSidecar({ dataDir, port, env });
    const made = (path: string, body: object) =>
      sidecar.call('POST', path, { body }) as Promise<{ index: string }>;
    const invoice = await made('/v2/node/create_invoice', { amount: '1', expiration_secs: 3 });
    const receipt = await made('/sandbox/fund', { amount: '50000', rail: 'onchain' });
    const filler = join(disk, 'filler');
    fill(filler);
    const warnings = [/WARN .*The sandbox .* tried again/g, /WARN .*The disk of .* is full/g];
    const told = () => warnings.map((warning) => sidecar.log().match(warning)?.length ?? 0);
    await until(() => told().every((count) => count > 0), 'the log says both');
    rmSync(filler);
    const endsAs = (status: string, { index }: { index: string }) =>
      until(async () => {
        const path = `/v2/node/payment?index=${index}`;
        return ((await sidecar.call('GET', path)) as { status: string }).status === status;
      }, `a payment is ${status}`);
    await endsAs('failed', invoice);
    await endsAs('completed', receipt);
    expect(told()).toEqual([1, 1]);
    expect(await sidecar.stop()).toBe(0);
  },
  60_000,
);

test('a second process on the same data directory says who has it', async () => {
  const dataDir = join(folder, 'data');
  const sidecar = await startDevSidecar({ dataDir, port: freePort() });
  const second = startDevSidecar({ dataDir, port: freePort() });
  expect(await throwing(second)).toThrow(`process id ${sidecar.pid}`);
  await sidecar.kill();
  const third = await startDevSidecar({ dataDir, port: freePort() });
  expect(await third.stop()).toBe(0);
});

test('the program does not start with a corrupted database, says so in a sentence, and leaves the file alone', async () => {
  const dataDir = join(folder, 'corrupted');
  const sidecar = await startDevSidecar({ dataDir, port: freePort() });
  await sidecar.stop();
  const path = join(dataDir, 'sidecar.sqlite');
  rmSync(`${path}-wal`, { force: true });
  writeFileSync(path, 'garbage'.repeat(1000));
  const started = startDevSidecar({ dataDir, port: freePort() });
  expect(await throwing(started)).toThrow(/corrupted.*restore it from a backup/s);
  expect(await Bun.file(path).text()).toStartWith('garbage');
});

async function secondWallet(sidecar: DevSidecar): Promise<string> {
  const made = (await sidecar.call('POST', '/sandbox/wallets', { body: {} })) as {
    client_credentials: string;
  };
  return made.client_credentials;
}

function fill(path: string): void {
  for (let size = 32 * 1024 * 1024; size >= 1024; size /= 2) {
    Bun.spawnSync(['sh', '-c', `head -c ${size} /dev/zero >> '${path}' 2>/dev/null`]);
    Bun.spawnSync(['sh', '-c', `head -c ${size} /dev/zero >> '${path}' 2>/dev/null`]);
  }
}
