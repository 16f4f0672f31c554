import { chmodSync, cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packageJson from '../../package.json';
import { NOTICES } from '../../packaging/notices.ts';
import { BINARIES, completeRelease } from '../../packaging/release.ts';

/** The root folder of the repository. */
export const ROOT = join(import.meta.dir, '..', '..');

/** The name of this machine's binary in a release. */
export const OWN_BINARY = `wallet-sidecar-${process.platform}-${process.arch}`;

/**
 * Creates a folder like `dist` after a full build. The binaries of other machines are stand-ins. The caller removes it.
 */
export async function releaseFolder(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'wallet-sidecar-release-'));
  for (const file of Object.keys(BINARIES)) {
    if (file === OWN_BINARY) cpSync(join(ROOT, 'dist', 'wallet-sidecar'), join(folder, file));
    else writeFileSync(join(folder, file), `stands for ${file}`);
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

/** The output and the exit code of a program. */
export interface Outcome {
  readonly exitCode: number;
  /** Standard output and standard error together. */
  readonly output: string;
}

/** Runs a program to its end. The test's own servers keep running meanwhile. */
export async function run(command: readonly string[], cwd = ROOT): Promise<Outcome> {
  const child = Bun.spawn([...command], { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, output: `${stdout}${stderr}` };
}

/** Whether a test cannot run because this program is missing. If so, it prints a clear line. */
export function isMissing(program: string): boolean {
  if (Bun.which(program) !== null) return false;
  console.warn(`SKIPPED: ${program} is not installed, so this check does NOT run here.`);
  return true;
}
