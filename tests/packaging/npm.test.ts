import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Glob } from 'bun';
import { CLIENT_FOLDER } from '../../tools/generate-client.ts';
import { PYTHON_FOLDER } from '../../tools/generate-python-client.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const MADE = [CLIENT_FOLDER, PYTHON_FOLDER];
const folder = temporaryFolder('npm');
afterAll(() => removeFolder(folder));

for (const script of ['start', 'test', 'build', 'check']) {
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

test.skipIf(isMissing('npm'))(
  'npm install makes what git does not keep of the clients',
  async () => {
    const clone = join(folder, 'clone');
    mkdirSync(clone);
    const isKept = (path: string) => !MADE.includes(relative(ROOT, path));
    for (const name of ['src', 'tools', 'package.json', 'biome.json'])
      cpSync(join(ROOT, name), join(clone, name), { recursive: true, filter: isKept });
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
    for (const made of MADE) expect(filesIn(clone, made)).toEqual({});
    expect(await run(['npm', 'run', '--silent', 'prepare'], clone)).toMatchObject({ exitCode: 0 });
    for (const made of MADE) expect(filesIn(clone, made)).toEqual(filesIn(ROOT, made));
  },
);

/** Returns the names and sizes of the sources in a folder. */
function filesIn(root: string, path: string): Readonly<Record<string, number>> {
  const cwd = join(root, path);
  if (!existsSync(cwd)) return {};
  const names = [...new Glob('*.{ts,py}').scanSync(cwd)];
  return Object.fromEntries(names.map((name) => [name, Bun.file(join(cwd, name)).size]));
}
