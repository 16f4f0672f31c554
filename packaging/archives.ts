import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchivedFile } from './archived-file.ts';
import { NOTICES } from './notices.ts';
import { archiveOf, BINARIES, isForWindows } from './platforms.ts';
import { tarGz } from './tar.ts';
import { zipped } from './zip.ts';

/** The ending of man pages in the folder that everything is built into. The archives take what is there. */
const MAN_PAGE = '.1';

/** The systemd units, of the system and of one user. Only archives for Linux hold them. */
const UNITS = ['wallet-sidecar.service', 'wallet-sidecar-user.service'];

/** What the archives are made of, besides the binaries. */
export interface ArchiveParts {
  /** Holds the {@link BINARIES}, the {@link NOTICES}, and maybe man pages (`*.1`). */
  readonly built: string;
  readonly completions: readonly ArchivedFile[];
}

/**
 * Writes an archive for each platform into a folder: one folder with the binary, licence, notices, completions, man
 * pages, and for Linux the systemd units.
 */
export async function writeArchives(folder: string, parts: ArchiveParts): Promise<void> {
  const shared = [
    await archived('LICENSE', join(import.meta.dir, '..', 'LICENSE')),
    await archived(NOTICES, join(parts.built, NOTICES)),
    ...parts.completions,
    ...(await manPages(parts.built)),
  ];
  const units = await Promise.all(UNITS.map((name) => archived(name, join(import.meta.dir, name))));
  for (const name of Object.keys(BINARIES)) {
    const program = isForWindows(name) ? 'wallet-sidecar.exe' : 'wallet-sidecar';
    const binary = { ...(await archived(program, join(parts.built, name))), isExecutable: true };
    const files = [binary, ...shared, ...(name.includes('-linux-') ? units : [])];
    const archive = archiveOf(name);
    const top = archive.replace(/\.(?:tar\.gz|zip)$/, '');
    const placed = files.map((file) => ({ ...file, path: `${top}/${file.path}` }));
    await writeFile(join(folder, archive), isForWindows(name) ? zipped(placed) : tarGz(placed));
  }
}

async function manPages(built: string): Promise<ArchivedFile[]> {
  const names = (await readdir(built)).filter((name) => name.endsWith(MAN_PAGE));
  return Promise.all(names.map((name) => archived(`man/${name}`, join(built, name))));
}

async function archived(path: string, file: string): Promise<ArchivedFile> {
  return { path, bytes: await readFile(file), isExecutable: false };
}
