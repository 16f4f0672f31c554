import { parseArgs } from 'node:util';

/**
 * The time limit of a test. The rounds of a long run take many minutes, and steps that may hang have limits of their
 * own.
 */
const TIMEOUT_MS = '3600000';

/** `npm run test:faults -- --seed N` runs all fault tests with one seed, and prints it when a test fails. */
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = values.seed ?? process.env.FAULT_SEED ?? String(Date.now() % 1_000_000);
const child = Bun.spawn([process.execPath, 'test', 'tests/faults', '--timeout', TIMEOUT_MS], {
  env: { FAULT_EVERY: '1', TEST_LONG: '1', ...process.env, FAULT_SEED: seed },
  stdio: ['ignore', 'inherit', 'inherit'],
});
const code = await child.exited;
if (code !== 0) console.error(`Repeat it with: npm run test:faults -- --seed ${seed}`);
process.exit(code);
