import { expect } from 'bun:test';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { waitUntil } from '../support/until.ts';

/** Kills a test run that has started a network, with these lines of code, and expects that nothing of it remains. */
export async function leavesNothing(starts: string): Promise<void> {
  const code = `
    import * as harness from './harness/index.ts';
    const { findBinaries, findClnBinaries, startNetwork, startClnNetwork } = harness;
    ${starts}
    console.log(JSON.stringify({ dir: alice.dir, url: alice.url ?? alice.restUrl }));
    await new Promise(() => setInterval(() => {}, 1000));
  `;
  const run = Bun.spawn([process.execPath, '-e', code], { cwd: import.meta.dir, stdout: 'pipe' });
  const { value } = await run.stdout.getReader().read();
  const { dir, url } = JSON.parse(new TextDecoder().decode(value)) as Record<string, string>;
  const folder = dirname(dir ?? '');
  expect(existsSync(folder)).toBe(true);
  run.kill('SIGKILL');
  await waitUntil('the folder is gone', async () => !existsSync(folder));
  // A connection may be reset while the process is ending.
  await waitUntil('nothing listens there', () =>
    fetch(url ?? '').then(
      () => false,
      (error) => String(error).includes('Unable to connect'),
    ),
  );
}
