import { expect, setDefaultTimeout, test } from 'bun:test';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { EVERY, ROUNDS, SEED } from '../seed.ts';
import { KINDS } from './kinds.ts';
import { KillRun } from './rounds.ts';

setDefaultTimeout(10 * 60_000 + ROUNDS * 20_000);

// It takes minutes: `npm run test:faults` alone runs it.
test.skipIf(!hasLdkHelper() || !EVERY)(
  `killed ${ROUNDS} times with its LDK node (seed ${SEED}): each key has one effect, no end is told wrongly, no notice is lost, budgets and balances are exact`,
  async () => {
    const run = new KillRun({
      rounds: ROUNDS,
      seed: SEED,
      kinds: Object.keys(KINDS),
      batch: 50,
      say: EVERY ? console.log : () => undefined,
      keepLog: (log) => console.log(log.slice(-20_000)),
    });
    const { kills, problems, forced } = await run.run();
    console.log(`Kills with an LDK node: ${kills}; channels closed by force: ${forced.length}.`);
    expect(problems).toEqual([]);
    expect(kills).toBeGreaterThan(forced.length === 0 ? ROUNDS / 3 : 0);
  },
);
