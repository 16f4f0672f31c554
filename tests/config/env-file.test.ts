import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/sources.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const OTHER_USER = 65_534;
const isRoot = process.geteuid?.() === 0;
if (!isRoot) {
  console.warn('SKIPPED: only root can give files to others, so the owner of .env is NOT checked.');
}

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder('env');
  path = join(folder, '.env');
  write('SERVICE_LOG_LEVEL=debug\n');
});
afterEach(() => removeFolder(folder));

function write(text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o600);
}

const load = (env: Record<string, string> = {}, cwd = folder) =>
  loadConfig({ flags: {}, env, cwd });

function refusal(): string {
  try {
    load();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the configuration was taken');
}

describe('a .env is read only when no other user could have written it', () => {
  test("one of this user's own is read, and named", () => {
    expect(load()).toMatchObject({
      logLevel: 'debug',
      notes: [`Settings are read from ${path}.`],
      warnings: [],
    });
  });

  for (const mode of [0o620, 0o602, 0o666]) {
    test(`one with mode ${mode.toString(8)} is refused by name, with chmod`, () => {
      chmodSync(path, mode);
      expect(refusal()).toMatch(/can be written by other users.*: run chmod 600 on it\.$/);
      expect(refusal()).toStartWith(path);
    });
  }

  test.skipIf(!isRoot)('one of another user is refused by name, with chown', () => {
    chownSync(path, OTHER_USER, 0);
    expect(refusal()).toBe(
      `${path} belongs to another user, who could set anything in it: run chown 0 on it if it is yours, or remove it.`,
    );
  });

  test.skipIf(!isRoot)("a link of another user to this user's own file is refused", () => {
    const own = join(folder, 'own');
    writeFileSync(own, 'SERVICE_LOG_LEVEL=debug\n', { mode: 0o600 });
    rmSync(path);
    symlinkSync(own, path);
    expect(load().logLevel).toBe('debug');
    lchownSync(path, OTHER_USER, 0);
    expect(refusal()).toMatch(/belongs to another user/);
  });

  test.skipIf(!isRoot)('one of root is read by every user, and one of a third user is not', () => {
    chmodSync(folder, 0o755);
    chmodSync(path, 0o644);
    process.seteuid?.(1000);
    try {
      expect(load().logLevel).toBe('debug');
      process.seteuid?.(0);
      chownSync(path, OTHER_USER, 0);
      process.seteuid?.(1000);
      expect(refusal()).toMatch(/belongs to another user.*run chown 1000 /);
    } finally {
      process.seteuid?.(0);
    }
  });

  test('one that others can read draws the warning of a seed file where it holds a secret', () => {
    chmodSync(path, 0o644);
    expect(load().warnings).toEqual([]);
    write(`SERVICE_WEBHOOK_SECRET=${Buffer.alloc(32, 3).toString('base64')}\n`);
    expect(load().warnings).toEqual([]);
    chmodSync(path, 0o644);
    expect(load().warnings).toEqual([
      `${path} can be read by other users of this machine: run chmod 600 on it.`,
    ]);
  });

  test.skipIf(!isRoot)('one that cannot be read is refused by name', () => {
    chmodSync(folder, 0o755);
    process.seteuid?.(1000);
    try {
      expect(refusal()).toStartWith(`${path} cannot be read`);
    } finally {
      process.seteuid?.(0);
    }
  });

  test('a folder of that name is passed over, and without a file there is nothing to name', () => {
    const inner = join(folder, 'inner');
    mkdirSync(join(inner, '.env'), { recursive: true });
    expect(load({}, inner).logLevel).toBe('debug');
    rmSync(path);
    expect(load({}, inner).notes).toEqual([]);
  });

  test('what is neither a file nor a folder is refused without being opened', () => {
    rmSync(path);
    expect(Bun.spawnSync(['mkfifo', path]).success).toBe(true);
    expect(refusal()).toBe(`${path} is not a file: give a file, or remove it.`);
  });
});

describe('a SERVICE_ name that does not exist draws a warning', () => {
  test('with its source and what may be meant, never with its value', () => {
    write('SERVICE_MAXFEE=secret-1\nSERVICE_ZEBRA_CROSSING=secret-2\nOTHER=1\n');
    const { warnings } = load({ SERVICE_ALLOW_HOST: 'secret-3', SERVICES: '1', PATH: '/bin' });
    expect(warnings).toEqual([
      'Settings that do not exist have no effect: SERVICE_ALLOW_HOST (did you mean SERVICE_ALLOW_HOSTS?) (environment).',
      `Settings that do not exist have no effect: SERVICE_MAXFEE (did you mean SERVICE_MAX_FEE?), SERVICE_ZEBRA_CROSSING (${path}).`,
    ]);
  });

  test('and one that exists draws none', () => {
    expect(load({ SERVICE_LOG_LEVEL: 'warn' }).warnings).toEqual([]);
  });

  test('a name cannot bring control characters or floods into the log', () => {
    const [warning = ''] = load({ [`SERVICE_\u001b[2J${'x'.repeat(5000)}`]: '1' }).warnings;
    expect(warning).toContain('SERVICE_??2J');
    expect(warning.length).toBeLessThan(200);
  });
});
