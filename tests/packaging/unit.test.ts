import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

/**
 * The largest exposure, of 10, that systemd's own review may find. Most of it is the network. Versions of systemd
 * differ slightly.
 */
const MOST_EXPOSURE = 1.3;

const folder = temporaryFolder('unit');
afterAll(() => removeFolder(folder));

/** The unit as installed, but with a program that exists here. */
const file = join(folder, 'wallet-sidecar.service');
const unit = readFileSync(join(ROOT, 'packaging', 'wallet-sidecar.service'), 'utf8');
writeFileSync(
  file,
  unit.replace('/usr/local/bin/wallet-sidecar', join(ROOT, 'dist', 'wallet-sidecar')),
);
const withoutSystemd = isMissing('systemd-analyze');

test.skipIf(withoutSystemd)('systemd finds nothing wrong with the unit', async () => {
  expect(await run(['systemd-analyze', 'verify', '--man=no', file])).toEqual({
    exitCode: 0,
    output: '',
  });
});

test.skipIf(withoutSystemd)('the exposure that systemd finds stays low', async () => {
  const { output } = await run([
    'systemd-analyze',
    'security',
    '--offline=true',
    '--no-pager',
    file,
  ]);
  const found = /Overall exposure level for \S+: (\d+\.\d+)/.exec(output)?.[1];
  console.log(`systemd-analyze security: exposure ${found}, at most ${MOST_EXPOSURE}`);
  expect(found).toMatch(/^\d/);
  expect(Number(found)).toBeLessThanOrEqual(MOST_EXPOSURE);
});

test('no secret stands on the command line, in the unit or in a dump of the memory', () => {
  const command = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  expect(command).toContain('{CREDENTIALS_DIRECTORY}/client-credentials');
  expect(command).not.toMatch(/--(?:root-seed|client-credentials|webhook-secret)[ =]/);
  expect(unit).toContain('LoadCredential=client-credentials:');
  expect(unit).toContain('LimitCORE=0');
  expect(unit.match(/^Environment=.*$/gm)).toEqual(['Environment=SERVICE_REQUIRE_AUTH=true']);
  expect(unit).not.toMatch(/^SetCredential=/m);
});

test('the engine may compile, and nothing but the state directories can be written', () => {
  expect(unit).not.toMatch(/^MemoryDenyWriteExecute=/m);
  expect(unit).toMatch(/^ProtectSystem=strict$/m);
  expect(unit).toMatch(/^StateDirectory=wallet-sidecar wallet-sidecar-marker$/m);
  expect(unit).not.toMatch(/^(?:ReadWritePaths|BindPaths|CacheDirectory|LogsDirectory)=/m);
});

test('every caller needs credentials, whose check the environment file may turn off', () => {
  const required = unit.indexOf('\nEnvironment=SERVICE_REQUIRE_AUTH=true\n');
  expect(required).toBeGreaterThan(0);
  // In systemd a file wins over lines of the unit. The line comes first, so that the unit reads in the same order.
  expect(unit.indexOf('\nEnvironmentFile=')).toBeGreaterThan(required);
});

test('data and marker are in state directories of their own, so that a restored backup has no marker', () => {
  const command = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
  // With two directories ${STATE_DIRECTORY} is a list, and a list is not a path.
  expect(command).not.toContain('STATE_DIRECTORY');
  expect(command).toContain(' --data-dir %S/wallet-sidecar ');
  expect(command).toContain(' --marker-path %S/wallet-sidecar-marker/marker ');
});
