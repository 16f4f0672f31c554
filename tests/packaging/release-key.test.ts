import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  publicKeyFile,
  readSecretKey,
  secretKeyText,
  signingKeyFrom,
} from '../../packaging/minisign.ts';
import { PUBLIC_KEY, releaseKey, SECRET_KEY } from '../../packaging/release-key.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('key');
const file = join(folder, PUBLIC_KEY);
beforeAll(() => {
  mkdirSync(join(folder, 'packaging'));
});
afterAll(() => removeFolder(folder));

const key = signingKeyFrom(new Uint8Array(40).fill(5));
const other = signingKeyFrom(new Uint8Array(40).fill(6));

test('a release is signed with the secret key of the public key in the repository, or not made', async () => {
  const refusal = async (env: Readonly<Record<string, string>>) => {
    try {
      await releaseKey(folder, env);
      return 'none';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const secret = { [SECRET_KEY]: secretKeyText(key) };
  expect(await refusal(secret)).toMatch(/is missing: make it with bun run tools\/make-release-key/);
  writeFileSync(file, publicKeyFile(key.public));
  expect(await refusal({})).toBe(`${SECRET_KEY} is not set: a release needs the secret key.`);
  const wrong = { [SECRET_KEY]: secretKeyText(other) };
  expect(await refusal(wrong)).toBe(`${SECRET_KEY} is not the secret key of ${PUBLIC_KEY}.`);
  expect((await releaseKey(folder, secret)).secret).toEqual(key.secret);
});

test('the tool makes a pair once, and stores the secret nowhere', async () => {
  const clone = join(folder, 'clone');
  mkdirSync(clone);
  for (const name of ['packaging', 'tools'])
    cpSync(join(ROOT, name), join(clone, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const made = join(clone, PUBLIC_KEY);
  const make = () =>
    run(['sh', '-c', `'${process.execPath}' tools/make-release-key.ts 2>said`], clone);
  if (existsSync(made)) removeFolder(made);
  const { exitCode, output } = await make();
  expect(exitCode).toBe(0);
  expect(publicKeyFile(readSecretKey(output).public)).toBe(readFileSync(made, 'utf8'));
  expect(readFileSync(join(clone, 'said'), 'utf8')).not.toContain(output.trim());
  expect(await make()).toEqual({ exitCode: 1, output: '' });
  expect(readFileSync(join(clone, 'said'), 'utf8')).toContain(`${PUBLIC_KEY} is there already`);
});

test.skipIf(isMissing('git'))(
  'the build refuses to sign outside a clone, in one sentence',
  async () => {
    const { exitCode, output } = await run(
      [process.execPath, 'run', join(ROOT, 'build.ts'), '--sign'],
      folder,
    );
    expect(exitCode).toBe(1);
    expect(output).toBe('The commit is unknown: a release is made from a clone without changes.\n');
  },
);
