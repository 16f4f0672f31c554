import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  publicKeyFile,
  readPublicKey,
  readSecretKey,
  secretKeyText,
  signed,
  signingKeyFrom,
  verified,
} from '../../packaging/minisign.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A key and a signature made by minisign (aead.dev/minisign 0.3.0) with `-G -W` and `-S`. The key is used for this alone. */
const THEIRS = {
  publicKey:
    'untrusted comment: minisign public key: 9E8C307216FFF49E\nRWSe9P8WcjCMnkM2r98GO4BJMDk4novLmM85/6cl4CWpbEu8ZripgDOi',
  secretKey:
    'RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAnvT/FnIwjJ6Zy+Q55FQcMAAvkKlDwf/Cy9poMGDKQkafNM3a8T4oaEM2r98GO4BJMDk4novLmM85/6cl4CWpbEu8ZripgDOiAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  file: 'hello release\n',
  signature: `untrusted comment: signature from minisign secret key
RUSe9P8WcjCMnhTluZYswCJc8/TvTqmhTn2Uv9pfi8WHja1WVexr57JZo2vzXUQgEhCv9tZe+Mgy5icy4iZm5LQ5nssdShDRZAo=
trusted comment: wallet-sidecar 0.2.0
IDOnzdPXU0yZbtyMTJ1TkUonlbO6cauVtK6JLs5ax3huKqBUR4yNWoXbdB8A00lfmR3dQWLTCdTy5xJBlJgrDA==`,
};
const file = Buffer.from(THEIRS.file);
const own = signingKeyFrom(Uint8Array.from({ length: 40 }, (_, i) => i));

describe('signatures of minisign', () => {
  const key = readPublicKey(THEIRS.publicKey);

  test('are verified', () => {
    expect(verified(file, THEIRS.signature, key)).toBe('wallet-sidecar 0.2.0');
  });

  test('do not hold for another file, comment, key or form', () => {
    const forged = (from: string | RegExp, to: string) =>
      verified(file, THEIRS.signature.replace(from, to), key);
    expect(verified(Buffer.from('hello'), THEIRS.signature, key)).toBeNull();
    expect(forged('0.2.0', '0.2.1')).toBeNull();
    expect(forged('RUSe9P8W', 'RWSe9P8W')).toBeNull();
    expect(forged('RUSe9P8Wc', 'RUSe9P8Wd')).toBeNull();
    expect(forged(/IDO.*/, '')).toBeNull();
    expect(verified(file, '', key)).toBeNull();
    expect(verified(file, THEIRS.signature, own.public)).toBeNull();
  });
});

describe('keys', () => {
  test('are read in the form of minisign, and written so', () => {
    const theirs = readSecretKey(THEIRS.secretKey);
    expect(publicKeyFile(theirs.public)).toBe(`${THEIRS.publicKey.replace('key: ', 'key ')}\n`);
    expect(secretKeyText(readSecretKey(secretKeyText(own)))).toBe(secretKeyText(own));
    expect(verified(file, signed(file, 'a comment', theirs), theirs.public)).toBe('a comment');
  });

  test('that are none, or whose halves do not fit, are not taken, and not shown', () => {
    const bytes = Buffer.from(secretKeyText(own), 'base64');
    bytes[120] = (bytes[120] ?? 0) ^ 1;
    const torn = bytes.toString('base64');
    for (const line of ['', 'x', secretKeyText(own).slice(4), torn]) {
      let message = '';
      try {
        readSecretKey(line);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(message).toMatch(/^(?:This is not a minisign secret key|The two halves)/);
      if (line.length > 1) expect(message).not.toContain(line);
    }
    expect(() => readPublicKey('untrusted comment: x\nAAAA')).toThrow('not the file');
  });
});

test.skipIf(isMissing('minisign'))('our signatures are verified by minisign', async () => {
  const folder = temporaryFolder('minisign');
  const path = join(folder, 'file');
  writeFileSync(path, file);
  writeFileSync(`${path}.minisig`, signed(file, 'of ours', own));
  writeFileSync(join(folder, 'key.pub'), publicKeyFile(own.public));
  const outcome = await run(['minisign', '-V', '-p', join(folder, 'key.pub'), '-m', path]);
  expect(outcome).toMatchObject({ exitCode: 0, output: expect.stringContaining('of ours') });
  removeFolder(folder);
});
