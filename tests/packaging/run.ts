import { ROOT } from './folder.ts';

/** What a program said and how it ended. */
export interface Outcome {
  readonly exitCode: number;
  /** Both streams. */
  readonly output: string;
}

/** Runs a program to its end, without blocking servers of the test. */
export async function run(
  command: readonly string[],
  cwd = ROOT,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Outcome> {
  const child = Bun.spawn([...command], {
    cwd,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { exitCode: await child.exited, output: `${stdout}${stderr}` };
}
