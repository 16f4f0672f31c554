import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { Injection } from './injection.ts';
import { OPERATIONS } from './operations.ts';
import { EVERY, SEED } from './seed.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('storage');
const injection = Injection.in(folder, 20);
afterAll(async () => {
  await injection?.trial.close();
  removeFolder(folder);
});

test.skipIf(injection === null)(
  `a write that fails once, at ${EVERY ? 'every step' : `some steps (seed ${SEED})`} of every operation towards the disk, is error 8 or does not matter, and what is repeated with the same key works at once`,
  async () => {
    if (injection === null) return;
    const { trial, figures } = injection;
    await trial.open();
    for (const operation of OPERATIONS) {
      await injection.hit(operation, ['no space', 'i/o error']);
    }
    const { faults, repeats, ...problems } = figures;
    console.log(`Failed writes: ${faults}; repeats with the same key: ${repeats}.`, problems);
    expect(problems).toEqual({ stuck: [], wrongBudgets: [], wrongEffects: [] });
    expect(faults).toBeGreaterThan(0);
    await trial.finish();
  },
  30 * 60_000,
);
