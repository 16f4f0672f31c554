import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { NOTICES } from '../../packaging/notices.ts';
import { BINARIES, completeRelease } from '../../packaging/release.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The root folder of the repository. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The name of this machine's binary in a release. */
export const OWN_BINARY = `wallet-sidecar-${process.platform}-${process.arch}`;

/** This machine's binary in the folder: it is small, so that it is quickly copied, and runs the real one. */
const OWN_STAND_IN = `#!/bin/sh\nexec '${join(ROOT, 'dist', 'wallet-sidecar')}' "$@"\n`;

/** Creates a folder like `dist` after a full build. The binaries are stand-ins. The caller removes it. */
export async function releaseFolder(): Promise<string> {
  const folder = temporaryFolder('release');
  for (const file of Object.keys(BINARIES)) {
    const content = file === OWN_BINARY ? OWN_STAND_IN : `stands for ${file}`;
    writeFileSync(join(folder, file), content, { mode: 0o755 });
  }
  cpSync(join(ROOT, 'dist', NOTICES), join(folder, NOTICES));
  await completeRelease({
    folder,
    version: packageJson.version,
    runnable: join(folder, OWN_BINARY),
    client: join(ROOT, 'dist', 'client'),
  });
  chmodSync(folder, 0o755);
  return folder;
}

/** Whether a test cannot run here for want of a program; says so where nobody overlooks it. */
export function isMissing(program: string): boolean {
  if (Bun.which(program) !== null) return false;
  console.warn(`SKIPPED: ${program} is not installed, so this check does NOT run here.`);
  return true;
}
