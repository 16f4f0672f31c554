import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { signingKeyFrom } from '../../packaging/minisign.ts';
import { removeFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT, releaseFolder } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const text = (name: string) => readFileSync(join(ROOT, 'packaging', name), 'utf8');

/** The checks that both install scripts make, by what they say where one fails. */
const REFUSALS = [
  'is not https: download the release over https.',
  'cannot be read: name the folder or URL of a release with ',
  'The signature cannot be checked, because neither minisign nor OpenSSL 3 is installed.',
  'The signature of SHA256SUMS does not fit: do not use this release, download it again.',
  'does not match SHA256SUMS: do not use it, download it again.',
  'cannot be unpacked: download it again.',
  'does not start on this machine: nothing was installed.',
  'is installed: nothing was changed. If you want the older one, restore its backup too, and add ',
];

test('install.ps1 makes the checks of install.sh, with the same sentences and in the same order', () => {
  const shell = text('install.sh');
  const windows = text('install.ps1');
  for (const sentence of REFUSALS) {
    expect([sentence, shell.includes(sentence)]).toEqual([sentence, true]);
    expect([sentence, windows.includes(sentence)]).toEqual([sentence, true]);
  }
  const body = windows.slice(windows.indexOf("$sums = Get-ReleaseFile 'SHA256SUMS'"));
  const steps = ['Assert-Signature', 'does not match', 'Expand-Archive', 'does not start'];
  const order = [...steps, 'Test-Before', 'Move-Item'].map((step) => body.indexOf(step));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
});

describe.skipIf(isMissing('pwsh') || isMissing('openssl'))('install.ps1, run by PowerShell', () => {
  let release = '';
  beforeAll(async () => {
    release = await releaseFolder({ key: signingKeyFrom(new Uint8Array(40).fill(9)) });
  });
  afterAll(() => removeFolder(release));

  test('installs nothing whose archive or list is another one', async () => {
    const prefix = join(release, 'prefix');
    const script = join(release, 'install.ps1');
    const install = () => run(['pwsh', '-NoProfile', '-File', script, '-Prefix', prefix]);
    appendFileSync(join(release, 'wallet-sidecar-windows-x64.zip'), 'x');
    expect(await install()).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/^signed: wallet-sidecar [\s\S]*does not match SHA256SUMS/m),
    });
    appendFileSync(join(release, 'SHA256SUMS'), 'x');
    expect(await install()).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('The signature of SHA256SUMS does not fit'),
    });
    expect(existsSync(prefix)).toBe(false);
  });
});
