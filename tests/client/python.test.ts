import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { Glob } from 'bun';
import packageJson from '../../package.json';
import { ROUTES } from '../../src/http/routes/index.ts';
import { PYTHON_FOLDER, pythonClientSources } from '../../tools/generate-python-client.ts';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ROOT = join(import.meta.dir, '..', '..');
const PACKAGE = join(ROOT, 'clients', 'python');
const PYTHON = process.env.PYTHON ?? 'python3';
const MYPY = process.env.MYPY ?? 'mypy';
const MODULES = [...new Glob('test_*.py').scanSync(join(PACKAGE, 'tests'))].toSorted();
const cache = temporaryFolder('python');

const hasPython = canRun(PYTHON, '-c', 'import sys; sys.exit(sys.version_info < (3, 10))');
const hasMypy = canRun(MYPY, '--version');
if (!hasPython) console.warn(`SKIPPED: the Python client, since ${PYTHON} is not Python 3.10.`);
if (!hasMypy) console.warn(`SKIPPED: the types of the Python client, since ${MYPY} is missing.`);

afterAll(() => removeFolder(cache));

test('the generated files of the Python client are those of the routes: `npm run generate` after a change', async () => {
  const sources = pythonClientSources();
  for (const [name, text] of Object.entries(sources)) {
    const written = await Bun.file(join(ROOT, PYTHON_FOLDER, name)).text();
    expect(`${name}\n${written}`).toBe(`${name}\n${text}`);
  }
  const there = [...new Glob('*.py').scanSync(join(ROOT, PYTHON_FOLDER))];
  expect(there.toSorted()).toEqual(Object.keys(sources).toSorted());
});

test('the Python client has one method for each endpoint, and the version of the program', () => {
  const sources = pythonClientSources();
  const endpoints = ROUTES.filter(({ otherMediaType }) => otherMediaType === undefined).map(
    ({ method, path }) => `${method} ${path}`,
  );
  for (const [file, call] of [
    ['client.py', ' self._transport'],
    ['async_client.py', 'await self._transport'],
  ] as const) {
    const called = [
      ...(sources[file] ?? '').matchAll(new RegExp(`${call}\\.(\\w+)\\(\\n +"([^"]+)"`, 'g')),
    ].map(([, method, path]) => `${method} ${path}`);
    expect([...called, 'get /v2/node/events'].toSorted()).toEqual(endpoints.toSorted());
  }
  expect(sources['version.py']).toContain(`VERSION = "${packageJson.version}"`);
});

describe.skipIf(!hasPython)('the Python client', () => {
  let world: ConformanceWorld;
  beforeAll(async () => {
    world = await openConformanceWorld();
  });
  afterAll(() => world.close());

  for (const module of MODULES) {
    test(`passes tests/${module}`, async () => {
      // A connection that is left open is a warning, and here an error.
      const flags = ['-B', '-X', 'dev', '-W', 'error'];
      const { exitCode, output } = await run([PYTHON, ...flags, '-m', 'unittest', module], {
        SIDECAR_URL: world.baseUrl,
        SIDECAR_CREDENTIALS: world.bob,
      });
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      expect(output).toMatch(/^Ran [1-9]\d* tests? in [\d.]+s\n\nOK$/m);
    });
  }

  test('needs nothing but the standard library', async () => {
    const script =
      'import sys, wallet_sidecar; print([n for n in {m.split(".")[0] for m in sys.modules} - sys.stdlib_module_names if n not in ("wallet_sidecar", "__main__")])';
    expect((await run([PYTHON, '-S', '-c', script])).output).toBe('[]\n');
  });
});

test.skipIf(!hasMypy)('the Python client, its tests and the bot pass mypy --strict', async () => {
  const files = ['src', 'tests', '../../examples/python/bot.py'];
  const flags = ['--strict', '--cache-dir', cache];
  const checked = await run([MYPY, ...flags, ...files], {}, PACKAGE);
  expect(checked.output).toContain('Success: no issues found');
});

async function run(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = join(PACKAGE, 'tests'),
) {
  const child = Bun.spawn([...command], {
    cwd,
    env: {
      ...process.env,
      PYTHONPATH: join(PACKAGE, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      ...env,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, output: output + errors };
}

function canRun(...command: string[]): boolean {
  return (
    Bun.which(command[0] ?? '') !== null && Bun.spawnSync(command, { stderr: 'ignore' }).success
  );
}
