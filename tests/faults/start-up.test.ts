import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runBinary, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('start');
chmodSync(folder, 0o755);
const mounted: string[] = [];
afterAll(() => {
  for (const path of mounted) Bun.spawnSync(['umount', '-l', path]);
  removeFolder(folder);
});
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('SKIPPED: disks are mounted and users changed by root only.');
const TEST_LIMIT_MS = 60_000;
const NOBODY = ['setpriv', '--reuid', '65534', '--clear-groups'];

const start = (dataDir: string, address = '127.0.0.1:0', ...more: string[]) =>
  runBinary(['dev', '--data-dir', dataDir, '--listen-addr', address, ...more]);

/** Mounts a small disk, with the size in `options`, and returns its path. */
function smallDisk(name: string, options: string): string {
  const path = join(folder, name);
  mkdirSync(path);
  const { success } = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  if (!success) throw new Error(`${path} could not be mounted`);
  mounted.push(path);
  return path;
}

describe('a port that is taken', () => {
  test(
    'is told with the flag, and nothing is left behind',
    async () => {
      const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
      const dataDir = join(folder, 'taken');
      const { exitCode, output } = await start(dataDir, `127.0.0.1:${other.port}`);
      expect(output).toContain(
        `127.0.0.1:${other.port} is in use by another program: stop that one, or name another address with --listen-addr.`,
      );
      expect(exitCode).toBe(1);
      expect(existsSync(dataDir)).toBe(false);
      expect(existsSync(`${dataDir}.marker`)).toBe(false);
      await other.stop(true);
    },
    TEST_LIMIT_MS,
  );

  test(
    'by the wallet-sidecar of the same data directory is told with its process id, and that one goes on',
    async () => {
      const dataDir = join(folder, 'twice');
      const first = startBinary(['dev', '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0']);
      const baseUrl = await first.ready();
      const before = readdirSync(dataDir).toSorted();
      const { exitCode, output } = await start(dataDir, new URL(baseUrl).host);
      expect(output).toContain(`is in use, by the wallet-sidecar with process id ${first.pid}`);
      // Another address alone would not do, because the directory has one owner.
      expect(output).toContain(
        'use or stop that one, or start another with --listen-addr and --data-dir.',
      );
      expect(exitCode).toBe(1);
      expect(readdirSync(dataDir).toSorted()).toEqual(before);
      expect((await fetch(`${baseUrl}/v2/health`)).status).toBe(200);
      expect(await first.stop()).toBe(0);
    },
    TEST_LIMIT_MS,
  );
});

test(
  'an address that the machine does not have is told with the flag, and nothing is left behind',
  async () => {
    const dataDir = join(folder, 'address');
    const { exitCode, output } = await start(dataDir, '192.0.2.1:5393', '--require-auth');
    expect(output).toContain('192.0.2.1:5393 is not an address of this machine');
    expect(output).toContain('--listen-addr');
    expect(exitCode).toBe(1);
    expect(existsSync(dataDir)).toBe(false);
  },
  TEST_LIMIT_MS,
);

test(
  'a marker that cannot be read is named, before a database is made',
  async () => {
    const dataDir = join(folder, 'marked');
    writeFileSync(`${dataDir}.marker`, 'garbage');
    const { exitCode, output } = await start(dataDir);
    expect(output).toContain(
      `${dataDir}.marker does not hold a marker: put back its last good version`,
    );
    expect(exitCode).toBe(1);
    expect(readdirSync(dataDir).filter((file) => /sidecar|sandbox|cookie/.test(file))).toEqual([]);
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
  },
  TEST_LIMIT_MS,
);

test(
  'a setting that cannot be read ends with code 2',
  async () => {
    const { exitCode, output } = await start(join(folder, 'wrong'), 'nonsense');
    expect(output).toContain('--listen-addr');
    expect(exitCode).toBe(2);
    expect(existsSync(join(folder, 'wrong'))).toBe(false);
  },
  TEST_LIMIT_MS,
);

describe.skipIf(!isRoot)('of the data directory', () => {
  test(
    'a full disk is told with the path, whenever it is met, and the next start with space is good',
    async () => {
      for (const sizeKiB of [24, 120, 300, 420]) {
        const disk = smallDisk(`full-${sizeKiB}`, `size=${sizeKiB}k`);
        const { exitCode, output } = await start(join(disk, 'data'));
        expect(output).toMatch(
          /\/data\S* (is on a disk that is full|cannot be written, since the disk is full).*free/,
        );
        expect(exitCode).toBe(1);
        Bun.spawnSync(['mount', '-o', 'remount,size=32m', disk]);
        const again = startBinary([
          ...['dev', '--data-dir', join(disk, 'data'), '--listen-addr', '127.0.0.1:0'],
        ]);
        await again.ready();
        expect(await again.stop()).toBe(0);
      }
    },
    2 * TEST_LIMIT_MS,
  );

  test(
    'a read-only disk is told with the path',
    async () => {
      const disk = smallDisk('read-only', 'ro,size=1m');
      const { exitCode, output } = await start(join(disk, 'data'));
      expect(output).toContain(`${join(disk, 'data')} is on a read-only file system`);
      expect(exitCode).toBe(1);
    },
    TEST_LIMIT_MS,
  );

  test(
    "another user's directory is told with the path",
    async () => {
      const dataDir = join(folder, 'others');
      mkdirSync(dataDir, { mode: 0o700 });
      const args = ['dev', '--data-dir', dataDir, '--listen-addr', '127.0.0.1:0'];
      const { exitCode, output } = await runBinary(args, { before: NOBODY });
      expect(output).toContain(`${dataDir} belongs to another user: start as that user`);
      expect(exitCode).toBe(1);
    },
    TEST_LIMIT_MS,
  );
});
