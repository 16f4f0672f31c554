import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchivedFile } from './archived-file.ts';
import { NOTICES } from './notices.ts';
import { archivesOf, BINARIES, isForWindows } from './platforms.ts';
import { tar, tarGz } from './tar.ts';
import { xzPacked } from './xz.ts';
import { zipped } from './zip.ts';

/** The ending of man pages in the folder that everything is built into. The archives take what is there. */
const MAN_PAGE = '.1';

/** The systemd units, of the system and of one user. Only archives for Linux hold them. */
const UNITS = ['wallet-sidecar.service', 'wallet-sidecar-user.service'];

/** The completion script of PowerShell, the only one in the archive for Windows. */
const POWERSHELL = /\.ps1$/;

/** What the archives are made of, besides the binaries. */
export interface ArchiveParts {
  /** Holds the {@link BINARIES}, the {@link NOTICES}, and maybe man pages (`*.1`). */
  readonly built: string;
  readonly completions: readonly ArchivedFile[];
}

/**
 * Writes the archives for each platform into a folder: one folder with the binary, licence, notices, completions, man
 * pages, and for Linux the systemd units. Throws where `xz` is missing.
 */
export async function writeArchives(folder: string, parts: ArchiveParts): Promise<void> {
  const shared = [
    await archived('LICENSE', join(import.meta.dir, '..', 'LICENSE')),
    await archived(NOTICES, join(parts.built, NOTICES)),
    ...(await manPages(parts.built)),
  ];
  const units = await Promise.all(UNITS.map((name) => archived(name, join(import.meta.dir, name))));
  for (const name of Object.keys(BINARIES)) {
    const program = isForWindows(name) ? 'wallet-sidecar.exe' : 'wallet-sidecar';
    const binary = { ...(await archived(program, join(parts.built, name))), isExecutable: true };
    const completions = parts.completions.filter(
      ({ path }) => !isForWindows(name) || POWERSHELL.test(path),
    );
    const ofLinux = name.includes('-linux-') ? units : [];
    const files = [binary, ...shared, ...completions, ...ofLinux];
    for (const archive of archivesOf(name)) {
      const top = archive.replace(/\.(?:tar\.[gx]z|zip)$/, '');
      const placed = files.map((file) => ({ ...file, path: `${top}/${file.path}` }));
      await writeFile(join(folder, archive), await packed(archive, placed));
    }
  }
}

async function packed(archive: string, files: readonly ArchivedFile[]): Promise<Uint8Array> {
  if (archive.endsWith('.zip')) return zipped(files);
  return archive.endsWith('.xz') ? xzPacked(tar(files)) : tarGz(files);
}

async function manPages(built: string): Promise<ArchivedFile[]> {
  const names = (await readdir(built)).filter((name) => name.endsWith(MAN_PAGE));
  return Promise.all(names.map((name) => archived(`man/${name}`, join(built, name))));
}

async function archived(path: string, file: string): Promise<ArchivedFile> {
  return { path, bytes: await readFile(file), isExecutable: false };
}
