import { afterAll, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KeptProcess } from '../../src/lib/kept-process.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { until } from '../support/until.ts';

const folder = temporaryFolder('kept');
afterAll(() => removeFolder(folder));

function script(name: string, text: string, mode = 0o700): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, mode);
  return path;
}

/** Keeps a program, with pauses that are noted and not waited for. */
function keep(program: () => Promise<string>) {
  const lines: string[] = [];
  const pauses: number[] = [];
  let gone = 0;
  let nowMs = 0;
  const kept = new KeptProcess({
    ...{ title: 'The program', program, env: { SAID: 'by its environment' }, random: () => 0.5 },
    log: { debug: () => undefined, warn: () => undefined },
    elapsedMs: () => nowMs,
    sleep: async (ms) => {
      pauses.push(ms);
      nowMs += ms;
      await Bun.sleep(0);
    },
    started: () => ({ line: (text) => lines.push(text), gone: () => void gone++ }),
  });
  return { kept, lines, pauses, gone: () => gone };
}

test('a process that ends is started again after a growing pause, and after ten ends within ten minutes not any more', async () => {
  const path = script('ends', 'echo "$SAID"; exit 3');
  let looked = 0;
  const { kept, lines, pauses, gone } = keep(async () => {
    looked++;
    return path;
  });
  await until(() => kept.isGivenUp, 'it is given up');
  expect(kept.problem).toContain('is not started again');
  expect(kept.problem).toContain('ended 11 times within ten minutes');
  expect(kept.problem).toContain('restart the sidecar');
  expect(lines).toEqual(Array.from({ length: 11 }, () => 'by its environment'));
  expect([gone(), looked]).toEqual([11, 11]);
  expect(pauses).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  await kept.close();
});

test('a program that may not be run is told with its path and what may be the cause', async () => {
  const path = script('locked', 'exit 0', 0o600);
  const { kept } = keep(async () => path);
  await until(() => kept.problem, 'there is a problem');
  expect(kept.problem).toContain(`${path} may not be run`);
  expect(kept.problem).toContain('noexec');
  await until(() => kept.problem?.includes('is not started again'), 'it is given up');
  expect(kept.problem).toContain(`${path} may not be run`);
  await kept.close();
});

test('why a program cannot be made ready is told, and it is started when it can be', async () => {
  const path = script('waits', 'echo here; cat > /dev/null');
  const full = Promise.withResolvers<string>();
  let tries = 0;
  const { kept, lines } = keep(() => (++tries === 1 ? full.promise : Promise.resolve(path)));
  full.reject(new Error('The disk is full: free some space.'));
  await until(() => lines.includes('here'), 'it runs');
  expect([tries, kept.problem]).toEqual([2, null]);
  await kept.close();
  const other = keep(() => Promise.reject(new Error('The disk is full: free some space.')));
  await until(() => other.kept.problem, 'there is a problem');
  expect(other.kept.problem).toContain('cannot be started. The disk is full: free some space.');
  await other.kept.close();
});

test('a process that is closed before it has started ends', async () => {
  const path = script('late', 'cat > /dev/null');
  const ready = Promise.withResolvers<string>();
  const { kept, gone } = keep(() => ready.promise);
  const closed = kept.close();
  ready.resolve(path);
  await closed;
  expect(gone()).toBe(1);
});
