import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { StoreUnusable } from '../../src/store/unusable.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('open');
const disk = join(folder, 'disk');
mkdirSync(disk);
const mounted = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).success;
if (!mounted) console.warn('SKIPPED: a small tmpfs cannot be mounted here.');
afterAll(() => {
  if (mounted) Bun.spawnSync(['umount', '-l', disk]);
  removeFolder(folder);
});

/** The message of the StoreUnusable that opening the path throws. */
function refusal(path: string): string {
  try {
    openDatabase(path).close();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnusable);
    return (error as Error).message;
  }
  throw new Error('it was opened');
}

test('a directory that is missing is named', () => {
  const missing = join(folder, 'none');
  const message = refusal(join(missing, 'a.sqlite'));
  expect(message).toContain(`${missing} is not a directory: create that directory`);
});

test('a path that is a directory is an error that says what to do', () => {
  expect(refusal(folder)).toMatch(/cannot be opened.*another --data-dir/);
});

test.skipIf(!mounted)(
  'a full disk is named, and nothing stays in the way when it has space',
  () => {
    const filler = join(disk, 'filler');
    Bun.spawnSync(['sh', '-c', `head -c 65536 /dev/zero > '${filler}' 2>/dev/null`]);
    const path = join(disk, 'full.sqlite');
    expect(refusal(path)).toMatch(
      /full\.sqlite cannot be written, since the disk is full: free space/,
    );
    expect(Bun.spawnSync(['mount', '-o', 'remount,size=8m', disk]).success).toBe(true);
    openDatabase(path).close();
  },
);

test.skipIf(!mounted)('a read-only disk is named', () => {
  const path = join(disk, 'read-only.sqlite');
  Bun.spawnSync(['mount', '-o', 'remount,size=8m', disk]);
  openDatabase(path).close();
  expect(Bun.spawnSync(['mount', '-o', 'remount,ro', disk]).success).toBe(true);
  expect(refusal(path)).toMatch(/read-only: make it writable/);
  expect(refusal(join(disk, 'new.sqlite'))).toMatch(/read-only: make it writable/);
  Bun.spawnSync(['mount', '-o', 'remount,rw', disk]);
});

test('a file of another user is an error that says what to do', async () => {
  const own = join(folder, 'own');
  mkdirSync(own);
  const path = join(own, 'a.sqlite');
  openDatabase(path).close();
  chmodSync(path, 0);
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) {
    expect(refusal(path)).toMatch(/by this user.*chown/);
    return;
  }
  // Root may read every file, so the test runs as another user. The program is bundled into one file, and with the
  // runtime put where that user may read it, which is not so for a checkout in root's own folder.
  chmodSync(folder, 0o755);
  chmodSync(own, 0o755);
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, '../../src/store/sqlite/open.ts')],
    target: 'bun',
  });
  const code = await built.outputs[0]?.text();
  const script = join(folder, 'open.mjs');
  writeFileSync(
    script,
    `${code}\ntry { openDatabase(process.argv[2]); } catch (error) { console.log(error.message); }\n`,
  );
  chmodSync(script, 0o644);
  const runtime = join(folder, 'bun');
  copyFileSync(process.execPath, runtime);
  chmodSync(runtime, 0o755);
  const run = (at: string) => {
    const tried = Bun.spawnSync(
      ['setpriv', '--reuid=65534', '--clear-groups', runtime, script, at],
      { cwd: folder, env: { HOME: folder } },
    );
    return tried.stdout.toString() + tried.stderr.toString();
  };
  expect(run(path)).toMatch(
    /a\.sqlite cannot be opened for reading and writing by this user.*chown/,
  );
  expect(run(join(own, 'new.sqlite'))).toMatch(/new\.sqlite cannot be opened.*by this user.*chown/);
});

test('a file that another program keeps locked is an error that says what to do', async () => {
  const path = join(folder, 'locked.sqlite');
  const other = new Database(path, { create: true });
  other.run('BEGIN EXCLUSIVE');
  expect(refusal(path)).toMatch(/locked by another program: end that program/);
  other.run('ROLLBACK');
  other.close();
}, 60_000);
