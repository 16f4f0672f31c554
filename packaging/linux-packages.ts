import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { $ } from 'bun';
import { ARCHIVE_TIME } from './archived-file.ts';
import type { ArchiveParts } from './archives.ts';
import { NOTICES } from './notices.ts';

/**
 * The tool that makes `.deb` and `.rpm` (MIT; https://nfpm.goreleaser.com), as `go install` names it. Its bytes are
 * checked by Go's checksum database. Later versions need a module that the Go proxy does not give out.
 */
export const NFPM = 'github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2';

/** The binaries that packages are made of, with nfpm's name of the architecture, which is Debian's. */
const PACKAGED = { 'wallet-sidecar-linux-x64': 'amd64', 'wallet-sidecar-linux-arm64': 'arm64' };

const FORMATS = ['deb', 'rpm'] as const;

/** What the packages are made of, besides the binaries. */
export interface PackageParts extends ArchiveParts {
  readonly version: string;
  /** The path of nfpm. */
  readonly nfpm: string;
}

/** Builds nfpm into a folder, by Go. Returns its path. Throws a sentence where Go is missing. */
export async function builtNfpm(folder: string): Promise<string> {
  if (Bun.which('go') === null)
    throw new Error('Go is missing: a release needs it for nfpm, which makes .deb and .rpm.');
  await $`go install ${NFPM}`.env({ ...process.env, GOBIN: resolve(folder) }).quiet();
  return join(resolve(folder), 'nfpm');
}

/**
 * Writes a `.deb` and an `.rpm` for each architecture into a folder. They install the program, man page, completions
 * and units of `install.sh` below `/usr`, and the empty folder for credentials. The unit's `DynamicUser=` is the user
 * of the service, so none is made.
 */
export async function writeLinuxPackages(folder: string, parts: PackageParts): Promise<void> {
  const staged = await mkdtemp(join(tmpdir(), 'wallet-sidecar-packages-'));
  try {
    const shared = await sharedContents(staged, parts);
    for (const [binary, arch] of Object.entries(PACKAGED)) {
      const program = content(resolve(parts.built, binary), '/usr/bin/wallet-sidecar', 0o755);
      const file = join(staged, `${arch}.json`);
      await writeFile(file, JSON.stringify(described(parts.version, arch, [program, ...shared])));
      for (const format of FORMATS)
        await $`${parts.nfpm} package --config ${file} --packager ${format} --target ${folder}/`.quiet();
    }
  } finally {
    await rm(staged, { recursive: true, force: true });
  }
}

interface Content {
  readonly dst: string;
  readonly file_info: { readonly mode: number; readonly mtime: string };
  readonly src?: string;
  readonly type?: 'dir';
  readonly packager?: (typeof FORMATS)[number];
}

function content(src: string, dst: string, mode = 0o644): Content {
  return { src, dst, file_info: { mode, mtime: ARCHIVE_TIME.toISOString() } };
}

/** The files that are the same in every package. What is not in the repository or built is written into `staged`. */
async function sharedContents(
  staged: string,
  { built, completions }: PackageParts,
): Promise<Content[]> {
  await mkdir(join(staged, 'completions'));
  for (const { path, bytes } of completions) await writeFile(join(staged, path), bytes);
  const completion = (name: string) => join(staged, 'completions', name);
  const zsh = completion('_wallet-sidecar');
  const pages = (await readdir(built)).filter((name) => name.endsWith('.1'));
  return [
    ...pages.map((page) => content(resolve(built, page), `/usr/share/man/man1/${page}`)),
    content(
      completion('wallet-sidecar.bash'),
      '/usr/share/bash-completion/completions/wallet-sidecar',
    ),
    content(
      completion('wallet-sidecar.fish'),
      '/usr/share/fish/vendor_completions.d/wallet-sidecar.fish',
    ),
    // Debian's zsh looks in a folder of its own.
    { ...content(zsh, '/usr/share/zsh/vendor-completions/_wallet-sidecar'), packager: 'deb' },
    { ...content(zsh, '/usr/share/zsh/site-functions/_wallet-sidecar'), packager: 'rpm' },
    content(join(import.meta.dir, '..', 'LICENSE'), '/usr/share/doc/wallet-sidecar/LICENSE'),
    content(resolve(built, NOTICES), `/usr/share/doc/wallet-sidecar/${NOTICES}`),
    content(await unit(staged, 'wallet-sidecar.service'), unitPath('system')),
    content(await unit(staged, 'wallet-sidecar-user.service'), unitPath('user')),
    {
      dst: '/etc/wallet-sidecar',
      type: 'dir',
      file_info: { mode: 0o700, mtime: ARCHIVE_TIME.toISOString() },
    },
  ];
}

function unitPath(whose: 'system' | 'user'): string {
  return `/usr/lib/systemd/${whose}/wallet-sidecar.service`;
}

/** Writes a unit with the program's place in the package. Returns the file's path. */
async function unit(staged: string, name: string): Promise<string> {
  const text = await readFile(join(import.meta.dir, name), 'utf8');
  const file = join(staged, name);
  await writeFile(file, text.replace('=/usr/local/bin/', '=/usr/bin/'));
  return file;
}

/** Returns nfpm's description of a package (https://nfpm.goreleaser.com/configuration/). */
function described(version: string, arch: string, contents: readonly Content[]): object {
  return {
    name: 'wallet-sidecar',
    arch,
    platform: 'linux',
    version,
    section: 'net',
    maintainer: 'The authors of wallet-sidecar <maintainers@wallet-sidecar.example>',
    description: 'Local HTTP API to a self-custodial Bitcoin and Lightning wallet',
    homepage: 'https://wallet-sidecar.example',
    license: 'MIT',
    mtime: ARCHIVE_TIME.toISOString(),
    contents,
    scripts: {
      postinstall: join(import.meta.dir, 'linux', 'after-install.sh'),
      preremove: join(import.meta.dir, 'linux', 'before-remove.sh'),
    },
    // Every dpkg and rpm reads xz. Without a name for the machine, rpm has that of the one that builds.
    deb: { compression: 'xz' },
    rpm: { compression: 'xz', buildhost: 'localhost' },
  };
}
