import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { Injection } from './injection.ts';
import { OPERATIONS } from './operations.ts';
import { EVERY, SEED } from './seed.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('injected');
const injection = Injection.in(folder, 10);
afterAll(async () => {
  await injection?.trial.close();
  removeFolder(folder);
});

test.skipIf(injection === null)(
  `killed at ${EVERY ? 'every step' : `some steps (seed ${SEED})`} of every operation towards the disk: a repeat with the same key finds one effect, budgets are true, and no notice is lost`,
  async () => {
    if (injection === null) return;
    const { trial, figures } = injection;
    await trial.open();
    for (const operation of OPERATIONS) {
      await injection.hit(operation, ['kill before', 'kill after']);
    }
    const { faults, repeats, ...problems } = figures;
    console.log(`Injected kills: ${faults}; repeats with the same key: ${repeats}.`, problems);
    expect(problems).toEqual({ stuck: [], wrongBudgets: [], wrongEffects: [] });
    expect(faults).toBeGreaterThan(0);
    await trial.finish();
  },
  30 * 60_000,
);
