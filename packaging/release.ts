import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { $, Glob } from 'bun';
import { NOTICES } from './notices.ts';

/** The binaries of a release: the name of the file, and the compiler's name of the platform. */
export const BINARIES = {
  'wallet-sidecar-linux-x64': 'bun-linux-x64',
  'wallet-sidecar-linux-arm64': 'bun-linux-arm64',
  'wallet-sidecar-darwin-x64': 'bun-darwin-x64',
  'wallet-sidecar-darwin-arm64': 'bun-darwin-arm64',
  'wallet-sidecar-windows-x64.exe': 'bun-windows-x64',
} as const;

/** The completion script of each shell, named as the shell looks for it. */
const COMPLETIONS = {
  bash: 'wallet-sidecar.bash',
  zsh: '_wallet-sidecar',
  fish: 'wallet-sidecar.fish',
} as const;

/** Files in the folder of a release that are no part of it: the list itself, and a measurement of this machine. */
const NOT_LISTED: ReadonlySet<string> = new Set(['SHA256SUMS', 'bench.json']);

/** What a release is completed from. */
export interface ReleaseParts {
  /** Holds the {@link BINARIES} and the {@link NOTICES} already, and receives the rest. */
  readonly folder: string;
  readonly version: string;
  /** A binary that runs on this machine, of the same sources. */
  readonly runnable: string;
  /** The built client package. */
  readonly client: string;
}

/**
 * Puts beside the binaries what else a release holds: systemd unit, Homebrew formula, install script, completions, the
 * client as a package, and SHA256SUMS, which names every file of the folder. Throws if a part is missing.
 */
export async function completeRelease(parts: ReleaseParts): Promise<void> {
  const { folder, version, runnable, client } = parts;
  if (!(await Bun.file(join(folder, NOTICES)).exists())) throw new Error(`${NOTICES} is missing.`);
  await cp(packaging('wallet-sidecar.service'), join(folder, 'wallet-sidecar.service'));
  await cp(packaging('install.sh'), join(folder, 'install.sh'));
  await chmod(join(folder, 'install.sh'), 0o755);
  await mkdir(join(folder, 'completions'), { recursive: true });
  for (const [shell, file] of Object.entries(COMPLETIONS)) {
    const script = await $`${runnable} completions ${shell}`.text();
    await writeFile(join(folder, 'completions', file), script);
  }
  await $`npm pack ${client} --pack-destination ${folder}`.quiet();
  const template = await readFile(packaging('wallet-sidecar.rb'), 'utf8');
  await writeFile(join(folder, 'wallet-sidecar.rb'), await formula(template, folder, version));
  await writeFile(join(folder, 'SHA256SUMS'), await checksums(folder));
}

/** The template with its placeholders filled: `{{version}}`, and the checksum of the file of each other name. */
async function formula(template: string, folder: string, version: string): Promise<string> {
  const values = new Map([['version', version]]);
  for (const file of Object.keys(BINARIES)) values.set(file, await sha256(join(folder, file)));
  return template.replace(/\{\{(\S+?)\}\}/g, (_, key: string) => {
    const value = values.get(key);
    if (value === undefined) throw new Error(`The formula names ${key}, which is not built.`);
    return value;
  });
}

/** One line for each file below the folder, as `sha256sum --check` reads it. */
async function checksums(folder: string): Promise<string> {
  const files = await Array.fromAsync(new Glob('**').scan({ cwd: folder, dot: true }));
  const listed = files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !NOT_LISTED.has(file))
    .toSorted();
  const lines = await Promise.all(
    listed.map(async (file) => `${await sha256(join(folder, file))}  ${file}\n`),
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
