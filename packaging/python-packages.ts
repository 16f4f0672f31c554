import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Glob } from 'bun';
import type { ArchivedFile } from './archived-file.ts';
import { tarGz } from './tar.ts';
import { zipped } from './zip.ts';

/** The client for Python, from the root of the repository. */
const CLIENT = 'clients/python';

/** What the packages take from `pyproject.toml`. */
interface Project {
  readonly name: string;
  readonly description: string;
  readonly 'requires-python': string;
  readonly license: { readonly text: string };
  readonly keywords: readonly string[];
  readonly classifiers: readonly string[];
  readonly urls: Readonly<Record<string, string>>;
}

/**
 * Writes the wheel and the source archive of the Python client into a folder, with the version that stands in its
 * generated files. They are written here and not by Python's own tools, which put times, users and their own version
 * into them: the same sources must make the same bytes.
 */
export async function writePythonPackages(folder: string, root: string): Promise<void> {
  const client = join(root, CLIENT);
  const read = async (path: string): Promise<ArchivedFile> => ({
    path,
    bytes: await readFile(join(client, path)),
    isExecutable: false,
  });
  const paths = await Array.fromAsync(new Glob('src/**/*.{py,typed}').scan({ cwd: client }));
  const sources = await Promise.all(paths.map(read));
  const papers = await Promise.all(['LICENSE', 'README.md', 'pyproject.toml'].map(read));
  const version = versionIn(sources);
  const { project } = Bun.TOML.parse(textOf(papers, 'pyproject.toml')) as { project: Project };
  const information = metadata(project, version, textOf(papers, 'README.md'));
  const name = `${project.name.replaceAll('-', '_')}-${version}`;

  const placed = [...sources, ...papers, file('PKG-INFO', information)].map((one) => ({
    ...one,
    path: `${name}/${one.path}`,
  }));
  await writeFile(join(folder, `${name}.tar.gz`), tarGz(placed));

  const about = `${name}.dist-info`;
  const installed = [
    ...sources.map((one) => ({ ...one, path: one.path.replace(/^src\//, '') })),
    file(`${about}/LICENSE`, textOf(papers, 'LICENSE')),
    file(`${about}/METADATA`, information),
    file(
      `${about}/WHEEL`,
      'Wheel-Version: 1.0\nGenerator: wallet-sidecar\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    ),
  ];
  const record = `${about}/RECORD`;
  const lines = [...installed.map(recorded), `${record},,`];
  const wheel = zipped([...installed, file(record, `${lines.join('\n')}\n`)]);
  await writeFile(join(folder, `${name}-py3-none-any.whl`), wheel);
}

function versionIn(sources: readonly ArchivedFile[]): string {
  const text = textOf(sources, 'src/wallet_sidecar/generated/version.py');
  const version = /^VERSION = "([^"]+)"$/m.exec(text)?.[1];
  if (version === undefined) throw new Error('version.py of the Python client has no version.');
  return version;
}

/** Returns the package's description in the form of https://packaging.python.org/specifications/core-metadata. */
function metadata(project: Project, version: string, readme: string): string {
  return [
    'Metadata-Version: 2.1',
    `Name: ${project.name}`,
    `Version: ${version}`,
    `Summary: ${project.description}`,
    `License: ${project.license.text}`,
    `Keywords: ${project.keywords.join(',')}`,
    ...Object.entries(project.urls).map(([label, url]) => `Project-URL: ${label}, ${url}`),
    ...project.classifiers.map((classifier) => `Classifier: ${classifier}`),
    `Requires-Python: ${project['requires-python']}`,
    'Description-Content-Type: text/markdown',
    'License-File: LICENSE',
    '',
    readme,
  ].join('\n');
}

/** Returns the line of a file in the wheel's list: its path, checksum and size. */
function recorded({ path, bytes }: ArchivedFile): string {
  const sum = new Bun.CryptoHasher('sha256').update(bytes).digest('base64url');
  return `${path},sha256=${sum},${bytes.length}`;
}

function file(path: string, text: string): ArchivedFile {
  return { path, bytes: Buffer.from(text), isExecutable: false };
}

function textOf(files: readonly ArchivedFile[], path: string): string {
  const found = files.find((one) => one.path === path);
  if (found === undefined) throw new Error(`${path} is missing in ${CLIENT}: run npm install.`);
  return Buffer.from(found.bytes).toString('utf8');
}
