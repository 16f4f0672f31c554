import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { $, Glob } from 'bun';
import { NOTICES } from './notices.ts';

/** The binaries of a release: the file's name, and the compiler's name of the platform. */
export const BINARIES = {
  'wallet-sidecar-linux-x64': 'bun-linux-x64',
  'wallet-sidecar-linux-arm64': 'bun-linux-arm64',
  'wallet-sidecar-darwin-x64': 'bun-darwin-x64',
  'wallet-sidecar-darwin-arm64': 'bun-darwin-arm64',
  'wallet-sidecar-windows-x64.exe': 'bun-windows-x64',
} as const;

/** The completion script of each shell, under the name that the shell expects. */
const COMPLETIONS = {
  bash: 'wallet-sidecar.bash',
  zsh: '_wallet-sidecar',
  fish: 'wallet-sidecar.fish',
} as const;

/** Files in the folder that SHA256SUMS does not list: itself, and the performance figures of this machine. */
const NOT_LISTED: ReadonlySet<string> = new Set(['SHA256SUMS', 'bench.json']);

/** What a release is completed from. */
export interface ReleaseParts {
  /** The release's folder. It already holds the {@link BINARIES} and the {@link NOTICES}. */
  readonly folder: string;
  readonly version: string;
  /** A binary of the same sources that runs on this machine. */
  readonly runnable: string;
  /** The folder of the built client package. */
  readonly client: string;
}

/**
 * Adds the rest of a release to the folder with the binaries: systemd unit, Homebrew formula, install script,
 * completions, the client's package, and SHA256SUMS, which lists every file. Throws if a part is missing.
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

/** Fills in the template's placeholders: `{{version}}`, and the checksum of the file that each other one names. */
async function formula(template: string, folder: string, version: string): Promise<string> {
  const values = new Map([['version', version]]);
  for (const file of Object.keys(BINARIES)) values.set(file, await sha256(join(folder, file)));
  return template.replace(/\{\{(\S+?)\}\}/g, (_, key: string) => {
    const value = values.get(key);
    if (value === undefined)
      throw new Error(`The formula names ${key}, which is not in the release folder.`);
    return value;
  });
}

/** Returns one line for each file below the folder, in the form that `sha256sum --check` reads. */
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
