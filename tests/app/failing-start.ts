/**
 * Starts the server again and again, each time with one more step before a step that fails, and undoes each start. Its
 * arguments are a data directory and a port. Prints one line of JSON for each start, and ends by itself if nothing of
 * them is left.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { START } from '../../src/app/start.ts';
import { loadConfig } from '../../src/config/config.ts';
import { takeKernelLock } from '../../src/lib/files/kernel-lock.ts';
import { openLog } from '../../src/lib/log.ts';
import { type Ending, runSteps, Steps, undoAll } from '../../src/lib/steps.ts';

const [dataDir = '', port = ''] = process.argv.slice(2);
const listenAddr = `127.0.0.1:${port}`;
const PATIENCE_MS = 20_000;
const fail = new Error('this step fails');

for (const [before, { name }] of [
  ...START.list.entries(),
  [START.list.length, { name: 'end' }],
] as const) {
  const problems: string[] = [];
  const log = openLog({ level: 'warn', format: 'text', write: (line) => problems.push(line) });
  const made: Ending[] = [];
  const failing = {
    name: 'failing',
    make() {
      throw fail;
    },
  };
  const steps = new Steps<object>([...START.list.slice(0, before), failing]);
  const given = {
    mode: 'dev',
    given: loadConfig({
      flags: { 'data-dir': dataDir, 'listen-addr': listenAddr },
      env: {},
      cwd: '/',
    }),
    log,
    stopping: new AbortController(),
    trial: { isReady: false },
  };
  const error = await runSteps(steps, given, made).catch((thrown: unknown) => thrown);
  const held = made.map(({ part }) => part);
  // Whether a part ends in its time is no matter of this test, and a busy machine is late.
  await undoAll(
    made.map((ending) => ({ ...ending, withinMs: PATIENCE_MS })),
    log,
  );
  console.log(
    JSON.stringify({
      before: name,
      failed: error === fail,
      held,
      problems,
      files: ['lock', 'cookie'].filter((file) => existsSync(join(dataDir, file))),
      isLocked: isLocked(),
      isListening: await isListening(),
    }),
  );
}

function isLocked(): boolean {
  const path = join(dataDir, 'lock.sqlite');
  const release = existsSync(path) ? takeKernelLock(path) : () => undefined;
  release?.();
  return release === null;
}

async function isListening(): Promise<boolean> {
  try {
    await Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response() }).stop(true);
    return false;
  } catch {
    return true;
  }
}
