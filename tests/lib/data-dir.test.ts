import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ownDataDir, readOwner } from '../../src/lib/files/data-dir.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The time limit of tests that start processes, on a busy machine. */
const SLOW_MS = 60_000;
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const hasNamespaces = Bun.spawnSync([...NAMESPACE, 'true']).success;
if (!hasNamespaces) {
  console.warn(
    'SKIPPED: no PID namespace can be made here, so locks over containers are NOT checked.',
  );
}
const isRoot = process.geteuid?.() === 0;
if (!isRoot) {
  console.warn(
    'SKIPPED: only root can mount and change users, so some unusable directories are NOT checked.',
  );
}

let folder = '';
let dir = '';
const children: Bun.Subprocess[] = [];
beforeEach(() => {
  folder = temporaryFolder('dir');
  chmodSync(folder, 0o755);
  dir = join(folder, 'data');
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
  removeFolder(folder);
});

/** Starts a process that owns the directory. Returns it and what it prints first. */
async function start(prefix: readonly string[] = [], url?: string) {
  const script = join(import.meta.dir, 'owner-process.ts');
  const child = Bun.spawn(
    [...prefix, process.execPath, script, dir, ...(url === undefined ? [] : [url])],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  children.push(child);
  const { value } = await child.stdout.getReader().read();
  return { child, said: new TextDecoder().decode(value).trim() };
}

async function kill(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGKILL');
  await child.exited;
}

function refusal(): string {
  try {
    ownDataDir(dir).release();
  } catch (error) {
    expect((error as Error).name).toBe('FileUnusable');
    return (error as Error).message;
  }
  throw new Error('the directory was taken');
}

describe('one process owns a data directory', () => {
  test(
    'a second one is refused with the directory, the process id and the start of the first',
    async () => {
      const { child, said } = await start();
      expect(said).toBe('owned');
      const startedAt = readOwner(dir)?.startedAt ?? '';
      expect(startedAt).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);
      const sentence = `${dir} is in use by the wallet-sidecar with process id ${child.pid}, started at ${startedAt}: stop that one, or use another --data-dir.`;
      expect(refusal()).toBe(sentence);
      expect((await start()).said).toBe(sentence);
    },
    SLOW_MS,
  );

  test.skipIf(!hasNamespaces)(
    'a second one in another PID namespace is refused, in both directions',
    async () => {
      const first = await start();
      expect(first.said).toBe('owned');
      expect((await start(NAMESPACE)).said).toMatch(/ is in use by the wallet-sidecar /);
      await kill(first.child);
      const second = await start(NAMESPACE);
      expect(second.said).toBe('owned');
      expect((await start()).said).toMatch(/ is in use by the wallet-sidecar /);
      expect((await start(NAMESPACE)).said).toMatch(/ is in use by the wallet-sidecar /);
    },
    SLOW_MS,
  );

  test(
    'a killed one leaves nothing that keeps the next from starting',
    async () => {
      for (let round = 0; round < 3; round++) {
        const { child, said } = await start([], 'http://127.0.0.1:1');
        expect(said).toBe('owned');
        await kill(child);
        expect(existsSync(join(dir, 'lock'))).toBe(true);
      }
      ownDataDir(dir).release();
    },
    SLOW_MS,
  );

  test(
    'of several started at the same moment exactly one owns it',
    async () => {
      for (let round = 0; round < 5; round++) {
        const started = await Promise.all(Array.from({ length: 4 }, () => start()));
        const owners = started.filter(({ said }) => said === 'owned');
        expect(started.map(({ said }) => said).filter((said) => said !== 'owned')).toEqual(
          Array.from({ length: 3 }, () => expect.stringContaining(`${dir} is in use by `)),
        );
        expect(owners).toHaveLength(1);
        for (const { child } of started) await kill(child);
      }
    },
    SLOW_MS,
  );

  test('one that only tries the lock keeps no other from starting (docs/decisions.md 191)', async () => {
    ownDataDir(dir).release();
    const tries = `const db = new (require('bun:sqlite').Database)(process.argv[1]);
      db.run('BEGIN IMMEDIATE'); console.log('tries'); Bun.sleepSync(30); db.close();`;
    const command = [process.execPath, '-e', tries, join(dir, 'lock.sqlite')];
    const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'] });
    await child.stdout.getReader().read();
    for (;;) {
      const isOver = child.exitCode !== null;
      const startedAtMs = performance.now();
      try {
        ownDataDir(dir).release();
        break;
      } catch (error) {
        // Where the machine holds up the one that tries, it has the lock for longer than that is waited for.
        if (isOver || performance.now() - startedAtMs < 250) throw error;
        await Bun.sleep(0);
      }
    }
    expect(await child.exited).toBe(0);
  });

  test('two that try the lock at the same time do not take each other for its owner', async () => {
    ownDataDir(dir).release();
    const source = join(import.meta.dir, '..', '..', 'src', 'lib', 'files', 'kernel-lock.ts');
    // Where the machine holds up the other one while that has the lock, it is not free for longer than a try waits.
    const tries = `const { isKernelLockFree } = require(process.argv[1]);
      let [free, atOnce] = [0, 0];
      while (free < 500) {
        const startedAtMs = performance.now();
        if (isKernelLockFree(process.argv[2])) free++;
        else if (performance.now() - startedAtMs < 5) atOnce++;
      }
      console.log(atOnce);`;
    const command = [process.execPath, '-e', tries, source, join(dir, 'lock.sqlite')];
    const both = [0, 1].map(async () => {
      const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      return Number(await new Response(child.stdout).text());
    });
    expect(await Promise.all(both)).toEqual([0, 0]);
  });

  test('a lock file of an earlier version is overwritten, whichever process it names', () => {
    mkdirSync(dir);
    const stat = readFileSync('/proc/1/stat', 'utf8');
    const startedAt = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    for (const old of ['', '{"pid":', JSON.stringify({ pid: 1, startedAt })]) {
      writeFileSync(join(dir, 'lock'), old);
      const owned = ownDataDir(dir);
      expect(readOwner(dir)?.pid).toBe(process.pid);
      owned.release();
    }
  });

  test('the same process cannot own it twice, and can again after the release', () => {
    const owned = ownDataDir(dir);
    expect(refusal()).toContain(`process id ${process.pid},`);
    expect(refusal()).toContain(`process id ${process.pid},`);
    owned.release();
    expect(existsSync(join(dir, 'lock'))).toBe(false);
    ownDataDir(dir).release();
  });

  test('where it can be reached is noted, and only its owner can read the directory', () => {
    const owned = ownDataDir(dir);
    expect(readOwner(dir)).toMatchObject({ pid: process.pid, url: null });
    owned.noteUrl('http://127.0.0.1:5393');
    expect(readOwner(dir)).toMatchObject({ pid: process.pid, url: 'http://127.0.0.1:5393' });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const file of ['lock', 'lock.sqlite']) {
      expect([file, statSync(join(dir, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    owned.release();
  });
});

describe('a data directory that cannot be used is refused with one sentence', () => {
  test('a file, or a path below a file', () => {
    writeFileSync(dir, '');
    expect(refusal()).toMatch(/^\S+ is a file, or lies below one, .*another --data-dir\.$/);
    dir = join(dir, 'below');
    expect(refusal()).toMatch(/^\S+ is a file, or lies below one, .*another --data-dir\.$/);
  });

  test('a lock that is a folder', () => {
    mkdirSync(join(dir, 'lock.sqlite'), { recursive: true });
    expect(refusal()).toBe(
      `${dir} cannot be used (SQLITE_CANTOPEN): check it, or use another --data-dir.`,
    );
  });

  test.skipIf(!isRoot)('one of another user, and one that cannot be made', () => {
    mkdirSync(dir);
    chownSync(dir, 65_534, 65_534);
    ownDataDir(dir).release();
    process.seteuid?.(1000);
    try {
      expect(refusal()).toBe(
        `${dir} belongs to another user: start as that user, change its owner with chown, or use another --data-dir.`,
      );
      dir = join(folder, 'new');
      expect(refusal()).toMatch(/^\S+ cannot be written by this user: .*another --data-dir\.$/);
    } finally {
      process.seteuid?.(0);
    }
  });

  test.skipIf(!isRoot)('a read-only file system and a full disk', () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    const mount = (...args: string[]) => Bun.spawnSync(['mount', ...args, disk]).success;
    if (!mount('-t', 'tmpfs', '-o', 'size=64k', 'tmpfs')) {
      console.warn(
        'SKIPPED: nothing can be mounted here, so full and read-only disks are NOT checked.',
      );
      return;
    }
    try {
      dir = join(disk, 'data');
      ownDataDir(dir).release();
      expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(1 << 20))).toThrow('ENOSPC');
      expect(refusal()).toBe(
        `${dir} is on a disk that is full: free some space, or use another --data-dir.`,
      );
      expect(mount('-o', 'remount,ro')).toBe(true);
      expect(refusal()).toBe(
        `${dir} is on a read-only file system: make it writable, or use another --data-dir.`,
      );
    } finally {
      Bun.spawnSync(['umount', '-l', disk]);
    }
  });
});
