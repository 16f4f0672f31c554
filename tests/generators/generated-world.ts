import { join } from 'node:path';
import { startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';

/** How long one test may take: the first time, Go compiles its own library too, which takes minutes on a busy machine. */
export const GENERATOR_TEST_MS = 600_000;

/** The compiled binary on a sandbox of its own, and the description that it serves. */
export interface GeneratedWorld {
  readonly baseUrl: string;
  /** An empty folder for what is generated. */
  readonly folder: string;
  /** The file that holds the OpenAPI document. */
  readonly document: string;
  close(): Promise<void>;
}

/** Opens a world. The binary must have been built, as `npm test` does. */
export async function openGeneratedWorld(): Promise<GeneratedWorld> {
  const folder = temporaryFolder('generated');
  const sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port: freePort() });
  const document = join(folder, 'openapi.json');
  await Bun.write(document, await fetch(`${sidecar.baseUrl}/v2/openapi.json`));
  return {
    baseUrl: sidecar.baseUrl,
    folder,
    document,
    async close() {
      await sidecar.stop();
      removeFolder(folder);
    },
  };
}

/** Says so where nobody overlooks it, that the tests of a generator do not run here. */
export function skipped(generator: string, missing: string): void {
  console.warn(`SKIPPED: what ${generator} makes is NOT tested here, since ${missing}.`);
}

/** Whether a command is there and ends well. */
export function canRun(command: readonly string[], env: Record<string, string> = {}): boolean {
  if (Bun.which(command[0] ?? '') === null) return false;
  const options = { env: { ...process.env, ...env }, stdout: 'ignore', stderr: 'ignore' } as const;
  return Bun.spawnSync([...command], options).success;
}

/** Runs a command and returns what it printed. Throws with all it said unless it ends well. */
export async function run(
  command: readonly string[],
  { cwd, env = {} }: { readonly cwd: string; readonly env?: Record<string, string> },
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [printed, complained] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 0) return printed;
  throw new Error(`${command.join(' ')} failed:\n${printed}\n${complained}`);
}

/** What the programs in this folder print after they have paid through a generated client. */
export interface Printed {
  readonly status: string;
  readonly amount: string;
  readonly created_at: number;
  readonly newest: string;
  readonly paid: string;
  readonly address: string;
  readonly deliveries: number;
}
