import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { writePythonPackages } from '../../packaging/python-packages.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { isMissing, ROOT } from './folder.ts';
import { run } from './run.ts';

setDefaultTimeout(SLOW_TEST_MS);

const PYTHON = process.env.PYTHON ?? 'python3';
const { version } = packageJson;
const folder = temporaryFolder('python');
const wheel = join(folder, `wallet_sidecar-${version}-py3-none-any.whl`);
beforeAll(() => writePythonPackages(folder, ROOT));
afterAll(() => removeFolder(folder));

/** Runs a program of Python that sees the packages of one folder alone. */
const python = (program: string, path: string) =>
  run([PYTHON, '-c', program], folder, { ...process.env, PYTHONPATH: path });

describe.skipIf(isMissing(PYTHON))('the Python client', () => {
  test('is installed from its wheel by pip, without the network', async () => {
    const into = join(folder, 'installed');
    const flags = ['--no-index', '--no-deps', '--disable-pip-version-check', '--quiet'];
    const command = [PYTHON, '-m', 'pip', 'install', ...flags, '--target', into, wheel];
    expect((await run(command)).exitCode).toBe(0);
    const program = [
      'import importlib.metadata as m, wallet_sidecar',
      'd = m.distribution("wallet-sidecar")',
      'print(d.version, d.metadata["Requires-Python"], d.metadata["License"], d.requires)',
      'print("wallet-sidecar" in d.metadata.get_payload())',
      'print(all(f.locate().is_file() for f in d.files))',
      'print(wallet_sidecar.__file__)',
    ].join('\n');
    const { output } = await python(program, into);
    const file = join(into, 'wallet_sidecar', '__init__.py');
    expect(output).toBe(`${version} >=3.10 MIT None\nTrue\nTrue\n${file}\n`);
  });

  test('has in its wheel a list with the checksum and size of every file', async () => {
    const program = [
      'import base64, csv, hashlib, sys, zipfile',
      `z = zipfile.ZipFile(${JSON.stringify(wheel)})`,
      `record = "wallet_sidecar-${version}.dist-info/RECORD"`,
      'rows = list(csv.reader(z.read(record).decode().splitlines()))',
      'assert sorted(r[0] for r in rows) == sorted(z.namelist())',
      'for path, sum, size in rows:',
      '    if path == record: continue',
      '    data = z.read(path)',
      '    own = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")',
      '    assert (sum, size) == ("sha256=" + own, str(len(data))), path',
      'print(len(rows) > 10 and any(r[0].endswith("py.typed") for r in rows))',
    ].join('\n');
    expect((await python(program, folder)).output).toBe('True\n');
  });

  test.skipIf(isMissing('tar'))('can be used from its source archive', async () => {
    const archive = join(folder, `wallet_sidecar-${version}.tar.gz`);
    expect(await run(['tar', '-xf', archive], folder)).toEqual({ exitCode: 0, output: '' });
    const source = join(folder, `wallet_sidecar-${version}`);
    const built = `from wallet_sidecar.generated.version import VERSION; print(VERSION)`;
    expect((await python(built, join(source, 'src'))).output).toBe(`${version}\n`);
    const project = Bun.TOML.parse(await Bun.file(join(source, 'pyproject.toml')).text());
    expect(project).toMatchObject({ project: { name: 'wallet-sidecar' } });
    expect(await Bun.file(join(source, 'PKG-INFO')).text()).toContain(`\nVersion: ${version}\n`);
  });
});
