import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('npm');
afterAll(() => removeFolder(folder));

for (const script of ['start', 'test', 'build']) {
  test.skipIf(isMissing('npm'))(`npm ${script} before npm install says what to do`, async () => {
    const clone = join(folder, script);
    mkdirSync(clone);
    for (const name of ['package.json', 'tools'])
      cpSync(join(ROOT, name), join(clone, name), { recursive: true });
    const { exitCode, output } = await run(['npm', 'run', '--silent', script], clone);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('The packages are not installed: run "npm install" first.\n');
    expect(output).not.toContain('not found');
  });
}
