import { chmodSync, cpSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import type { SigningKey } from '../../packaging/minisign.ts';
import { NOTICES } from '../../packaging/notices.ts';
import { BINARIES } from '../../packaging/platforms.ts';
import { makeRelease } from '../../packaging/release.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

/** The root folder of the repository. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The name of this machine's binary in a release. */
export const OWN_BINARY = `wallet-sidecar-${process.platform}-${process.arch}`;

/** The commit that a test release names. */
export const TEST_COMMIT = '0123456789ab';

/** This machine's binary in the folder: it is small, so that it is quickly packed, and runs the real one. */
const OWN_STAND_IN = `#!/bin/sh\nexec '${join(ROOT, 'dist', 'wallet-sidecar')}' "$@"\n`;

/** What a test release differs in. */
export interface ReleaseChoices {
  readonly key?: SigningKey | null;
  /** The time of the files that it is made of. */
  readonly time?: Date;
  /** What is at the place of this machine's binary. */
  readonly ownBinary?: string;
  /** The program that makes the packages for Linux, which are left out without it. */
  readonly nfpm?: string | null;
}

/** Makes a release of stand-ins for the binaries, with a man page. Returns its folder; the caller removes it. */
export async function releaseFolder(choices: ReleaseChoices = {}): Promise<string> {
  const { key = null, time = new Date(), ownBinary = OWN_STAND_IN, nfpm = null } = choices;
  const built = temporaryFolder('built');
  const folder = temporaryFolder('release');
  for (const file of Object.keys(BINARIES)) {
    writeFileSync(join(built, file), file === OWN_BINARY ? ownBinary : `stands for ${file}`);
  }
  writeFileSync(join(built, 'wallet-sidecar.1'), '.TH wallet-sidecar 1\n');
  cpSync(join(ROOT, 'dist', NOTICES), join(built, NOTICES));
  cpSync(join(ROOT, 'dist', 'client'), join(built, 'client'), { recursive: true });
  for (const file of readdirSync(built, { recursive: true }))
    utimesSync(join(built, String(file)), time, time);
  await makeRelease({
    folder,
    built,
    version: packageJson.version,
    commit: TEST_COMMIT,
    runnable: join(ROOT, 'dist', 'wallet-sidecar'),
    key,
    nfpm,
  });
  removeFolder(built);
  chmodSync(folder, 0o755);
  return folder;
}

/** Whether a test cannot run here for want of a program; says so where nobody overlooks it. */
export function isMissing(program: string): boolean {
  if (Bun.which(program) !== null) return false;
  console.warn(`SKIPPED: ${program} is not installed, so this check does NOT run here.`);
  return true;
}
