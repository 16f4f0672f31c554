import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { START } from '../../src/app/start.ts';
import { openLog } from '../../src/lib/log.ts';
import { type Ending, runSteps, Steps, undoAll } from '../../src/lib/steps.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('start');
afterAll(() => removeFolder(folder));

/** The parts in the order in which they end: nobody is answered before the parts that answers need are there. */
const ENDS = [
  ...['housekeeping', 'waits', 'relays', 'requests', 'feeds', 'webhooks', 'data', 'node', 'store'],
  ...['lock', 'port'],
];

function openSteps() {
  const told: string[] = [];
  const log = openLog({ level: 'warn', format: 'text', write: (line) => told.push(line) });
  const ending = (part: string, end: () => unknown = () => told.push(part)): Ending => ({
    part,
    withinMs: 20,
    end: async () => void (await end()),
  });
  return { told, log, ending, made: [] as Ending[] };
}

test('a start that fails at any step leaves no lock, no file of it, no port and no timer', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      join(import.meta.dir, 'failing-start.ts'),
      join(folder, 'data'),
      `${freePort()}`,
    ],
    { stdout: 'pipe', stderr: 'inherit', timeout: 250_000 },
  );
  const output = await child.stdout.text();
  // A timer or a socket that was left would keep the process.
  expect(await child.exited).toBe(0);
  const starts = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(starts).toHaveLength(START.list.length + 1);
  for (const { before, ...start } of starts) {
    expect([before, start]).toEqual([
      before,
      {
        failed: true,
        held: expect.any(Array),
        problems: [],
        files: [],
        isLocked: false,
        isListening: false,
      },
    ]);
  }
  expect(starts.at(-1).held).toEqual(ENDS.toReversed());
});

test('a step is given what those before it made, and all are undone, the last first, once', async () => {
  const { told, log, ending, made } = openSteps();
  const steps = new Steps<{ readonly start: number }>()
    .step('one', ({ start }) => ({ value: start + 1, undo: ending('one') }))
    .step('none', () => ({ value: null, undo: null }))
    .step('two', async ({ one }) => ({ value: one + 1, undo: ending('two') }));
  expect(await runSteps(steps, { start: 1 }, made)).toEqual({
    start: 1,
    one: 2,
    none: null,
    two: 3,
  });
  await undoAll(made, log);
  expect(told).toEqual(['two', 'one']);
  await undoAll(made, log);
  expect(told).toHaveLength(2);
});

test('a part that fails or is late is told, and holds up no other', async () => {
  const { told, log, ending } = openSteps();
  const fails = () => {
    throw new Error('broken');
  };
  const never = new Promise(() => undefined);
  await undoAll([ending('last'), ending('late', () => never), ending('failing', fails)], log);
  expect(told).toHaveLength(3);
  expect(told[0]).toMatch(/A part did not stop cleanly.*part=failing.*broken/s);
  expect(told[1]).toMatch(/part=late.*late took longer than 20 ms/s);
  expect(told[2]).toBe('last');
});
