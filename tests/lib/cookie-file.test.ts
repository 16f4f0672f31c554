import { afterEach, beforeEach, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import * as fs from 'node:fs';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readCookie, writeCookie } from '../../src/lib/files/cookie-file.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder('cookie');
  path = join(folder, 'cookie');
});
afterEach(() => removeFolder(folder));

const TOKEN = 'ab'.repeat(32);
const random = (bytes: number) => new Uint8Array(bytes).fill(0xab);

test('the cookie is 64 hex characters that only the owner can read', () => {
  expect(writeCookie(folder, random).token).toBe(TOKEN);
  expect(readFileSync(path, 'utf8')).toBe(TOKEN);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readCookie(folder)).toBe(TOKEN);
});

test('others can never read it, not even while it is written, whatever the umask', () => {
  const before = process.umask(0);
  const modes: number[] = [];
  const open = fs.openSync;
  const spy = spyOn(fs, 'openSync').mockImplementation((...args) => {
    const file = open(...args);
    modes.push(fs.fstatSync(file).mode & 0o777);
    return file;
  });
  try {
    writeCookie(folder, random);
    expect(modes).toEqual([0o600]);
  } finally {
    spy.mockRestore();
    process.umask(before);
  }
});

test('an older cookie is replaced, even one that others can read', () => {
  writeFileSync(path, 'old', { mode: 0o644 });
  chmodSync(path, 0o666);
  writeCookie(folder, random);
  expect(readFileSync(path, 'utf8')).toBe(TOKEN);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a link is replaced and neither written nor read through', () => {
  const target = join(folder, 'target');
  writeFileSync(target, '1'.repeat(64));
  symlinkSync(target, path);
  expect(readCookie(folder)).toBeNull();
  writeCookie(folder, random);
  expect(readFileSync(target, 'utf8')).toBe('1'.repeat(64));
  expect(readCookie(folder)).toBe(TOKEN);
});

test('it is removed at the end only while it is still the own one', () => {
  const first = writeCookie(folder, random);
  const second = writeCookie(folder, (bytes) => new Uint8Array(bytes).fill(1));
  first.remove();
  expect(readCookie(folder)).toBe(second.token);
  second.remove();
  expect(readCookie(folder)).toBeNull();
  second.remove();
});

test('what is no token is not read: nothing, half a token, a folder, a pipe', () => {
  expect(readCookie(folder)).toBeNull();
  writeFileSync(path, TOKEN.slice(1));
  expect(readCookie(folder)).toBeNull();
  rmSync(path);
  mkdirSync(path);
  expect(readCookie(folder)).toBeNull();
  expect(() => writeCookie(folder, random)).toThrow(`${path} `);
  rmSync(path, { recursive: true });
  expect(Bun.spawnSync(['mkfifo', path]).success).toBe(true);
  expect(readCookie(folder)).toBeNull();
});
