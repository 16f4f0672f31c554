import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary } from '../../support/binary.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper, helpersOf, killHelperOf } from '../../support/ldk-network.ts';
import { type LdkSidecar, ldkFlags, openLdkSidecar } from '../../support/ldk-sidecar.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('ldk-disk');
const disk = join(folder, 'disk');
mkdirSync(disk);
const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]).success;
const skipped = !mounted || !hasLdkHelper();
if (skipped) {
  console.warn('SKIPPED: the disk of an LDK node (no small tmpfs here, or no helper was built).');
}
afterAll(() => {
  if (mounted) Bun.spawnSync(['umount', '-l', disk]);
  removeFolder(folder);
});

function fill(path: string): void {
  for (let size = 64 * 1024 * 1024; size >= 512; size /= 2) {
    const more = `head -c ${size} /dev/zero >> '${path}' 2>/dev/null`;
    Bun.spawnSync(['sh', '-c', `${more}; ${more}`]);
  }
}

describe.skipIf(skipped)('the disk of an LDK node', () => {
  const dataDir = join(disk, 'data');
  let wallet: LdkSidecar;

  beforeAll(async () => {
    wallet = await openLdkSidecar({ dataDir });
  });
  afterAll(() => wallet.close());

  const logged = (text: string) => wallet.sidecar.log().split(text).length - 1;

  test('that is full ends the node once, which comes back with the payment when there is room', async () => {
    const { hash, payment } = await wallet.pay(1_000_000n, true);
    await until(() => wallet.outside.isHolding(hash), 'the payment has arrived');
    const filler = join(disk, 'filler');
    fill(filler);
    await wallet.outside.settle(hash);
    await until(() => logged('and is started again') > 0, 'the node has ended');
    await until(
      async () => /The state cannot be written/.test(await wallet.health()),
      'the node waits for room',
    );
    expect(await wallet.health()).toMatch(/disk .* is full/);
    expect(logged('and is started again')).toBe(1);
    rmSync(filler);
    await wallet.usable();
    expect(await wallet.ended(payment.index)).toMatchObject({ status: 'completed' });
    await until(async () => (await wallet.health()) === 'ok', 'health is well again');
  });

  const program = () => {
    const [name = ''] = readdirSync(join(dataDir, 'bin'));
    return join(dataDir, 'bin', name);
  };
  test.each([
    ['damaged', (path: string) => writeFileSync(path, 'garbage')],
    ['gone', (path: string) => rmSync(path)],
    ['not executable', (path: string) => chmodSync(path, 0o600)],
  ])('whose program is %s has it written anew when the node is started again', async (_, harm) => {
    killHelperOf(dataDir);
    const path = program();
    // A program that runs cannot be written to.
    rmSync(path);
    writeFileSync(path, 'garbage', { mode: 0o700 });
    harm(path);
    await wallet.usable();
    expect((await wallet.pay(1_000_000n)).payment).toMatchObject({ status: 'completed' });
  });

  test('whose state is damaged is told of, and the file stays as it is', async () => {
    await wallet.sidecar.stop();
    await until(() => helpersOf(dataDir).length === 0, 'the node has ended');
    const state = join(dataDir, 'ldk', 'regtest');
    const copy = join(folder, 'copy');
    cpSync(state, copy, { recursive: true });
    const path = join(state, 'state.sqlite');
    rmSync(`${path}-wal`, { force: true });
    writeFileSync(path, 'garbage'.repeat(1000));
    await wallet.sidecar.start();
    await until(
      async () => /state\.sqlite is damaged/.test(await wallet.health()),
      'health says so',
    );
    const answer = await wallet.sidecar.call('POST', '/v2/node/create_invoice', { body: {} });
    expect(answer.body.msg).toContain('is damaged');
    await wallet.sidecar.stop();
    expect(await Bun.file(path).text()).toBe('garbage'.repeat(1000));
    await until(() => helpersOf(dataDir).length === 0, 'the node has ended');
    cpSync(copy, state, { recursive: true });
    await wallet.sidecar.start();
    await wallet.usable();
  });

  test('that allows no programs ends the start, with the path', async () => {
    const other = join(folder, 'noexec');
    mkdirSync(other);
    Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=96m,noexec', 'tmpfs', other]);
    try {
      const dataDir = join(other, 'data');
      const flags = [...ldkFlags(folder, wallet.chain.url), '--data-dir', dataDir];
      const { exitCode, stderr } = await runBinary(['serve', ...flags]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(join(dataDir, 'bin'));
      expect(stderr).toContain('noexec');
    } finally {
      Bun.spawnSync(['umount', '-l', other]);
    }
  });
});
