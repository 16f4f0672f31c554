import { chmod, copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { $, Glob } from 'bun';
import type { ArchivedFile } from './archived-file.ts';
import { writeArchives } from './archives.ts';
import { writeLinuxPackages } from './linux-packages.ts';
import { publicKeyText, type SigningKey, signed } from './minisign.ts';
import { archivesOf, BINARIES } from './platforms.ts';
import { writePythonPackages } from './python-packages.ts';
import { notesOf } from './release-notes.ts';

/** The list of what a release holds, and the signature of that list. */
export const CHECKSUMS = 'SHA256SUMS';
export const SIGNATURE = `${CHECKSUMS}.minisig`;

/** The root of the repository. */
const ROOT = join(import.meta.dir, '..');

/** The completion script of each shell, under the name that the shell expects. */
const COMPLETIONS = {
  bash: 'wallet-sidecar.bash',
  zsh: '_wallet-sidecar',
  fish: 'wallet-sidecar.fish',
  powershell: 'wallet-sidecar.ps1',
} as const;

/** Files of a release that are as they stand in the repository. */
const AS_THEY_ARE = ['compose.yaml', 'monitoring/alerts.yaml', 'monitoring/grafana-dashboard.json'];

/** Files of a release with blanks, which version, public key and checksums are filled into. */
const TEMPLATES = ['install.sh', 'install.ps1', 'wallet-sidecar.rb', 'Containerfile'];

/** What the change log says of the version: the text of the release where it is published. */
export const NOTES = 'RELEASE_NOTES.md';

/** What a release is made from. */
export interface ReleaseParts {
  /** The folder to write the release into; what it held before is removed. */
  readonly folder: string;
  /** The folder that was built into: it holds the {@link BINARIES}, their notices, `client`, and maybe man pages (`*.1`). */
  readonly built: string;
  readonly version: string;
  readonly commit: string;
  /** A binary of the same sources that runs on this machine. */
  readonly runnable: string;
  /** Null: the release is not signed, and its install scripts check no signature. */
  readonly key: SigningKey | null;
  /** The path of nfpm; null: the release has no `.deb` and `.rpm`. */
  readonly nfpm: string | null;
}

/**
 * Makes a release: the archives for each platform, packages for Linux, the clients' packages, the install scripts with
 * the public key in them, the Homebrew formula with the checksums, what a container is made with, board and alerts for
 * the metrics, the notes, and SHA256SUMS of all with its signature. The same parts make the same bytes.
 * Throws if a part is missing.
 */
export async function makeRelease(parts: ReleaseParts): Promise<void> {
  const { folder, built, version, commit, runnable, key, nfpm } = parts;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const packed = { built, completions: await completions(runnable) };
  await writeArchives(folder, packed);
  if (nfpm !== null) await writeLinuxPackages(folder, { ...packed, version, nfpm });
  await writePythonPackages(folder, ROOT);
  await $`npm pack ${resolve(built, 'client')} --pack-destination ${folder}`.quiet();
  for (const name of AS_THEY_ARE) await copyFile(packaging(name), join(folder, basename(name)));
  const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
  await writeFile(join(folder, NOTES), notesOf(changelog, version));
  const archives = Object.keys(BINARIES).flatMap(archivesOf);
  const sums = await Promise.all(
    archives.map(async (file) => [file, await sha256(join(folder, file))] as const),
  );
  const values = new Map([
    ['version', version],
    ['public key', key === null ? '' : publicKeyText(key.public)],
    ...sums,
  ]);
  for (const name of TEMPLATES) {
    const template = await readFile(packaging(name), 'utf8');
    await writeFile(join(folder, name), filledIn(template, values));
  }
  await chmod(join(folder, 'install.sh'), 0o755);
  const files = await Array.fromAsync(new Glob('*').scan({ cwd: folder, dot: true }));
  const list = await checksums(folder, files);
  await writeFile(join(folder, CHECKSUMS), list);
  if (key === null) return;
  const comment = `wallet-sidecar ${version} (commit ${commit})`;
  await writeFile(join(folder, SIGNATURE), signed(Buffer.from(list), comment, key));
}

async function completions(runnable: string): Promise<ArchivedFile[]> {
  return Promise.all(
    Object.entries(COMPLETIONS).map(async ([shell, file]) => ({
      path: `completions/${file}`,
      bytes: Buffer.from(await $`${runnable} completions ${shell}`.text()),
      isExecutable: false,
    })),
  );
}

/** Replaces each `{{name}}` of a template by the value of that name: a checksum by the name of its archive. */
function filledIn(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(/\{\{(.+?)\}\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined)
      throw new Error(`A template names ${name}, which is not in the release.`);
    return value;
  });
}

/** Returns one line for each of these files of a folder, in the form that `sha256sum --check` reads. */
export async function checksums(folder: string, files: readonly string[]): Promise<string> {
  const lines = await Promise.all(
    files.toSorted().map(async (file) => `${await sha256(join(folder, file))}  ${file}\n`),
  );
  return lines.join('');
}

function packaging(file: string): string {
  return join(import.meta.dir, file);
}

async function sha256(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk);
  return hasher.digest('hex');
}
