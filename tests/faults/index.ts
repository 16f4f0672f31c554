import { parseArgs } from 'node:util';

/** A long run's rounds take many minutes; what may hang has limits of its own. */
const TIMEOUT_MS = '3600000';

/** `npm run test:faults -- --seed N`: all fault tests with one seed, which is told again when one of them fails. */
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = values.seed ?? process.env.FAULT_SEED ?? String(Date.now() % 1_000_000);
const child = Bun.spawn([process.execPath, 'test', 'tests/faults', '--timeout', TIMEOUT_MS], {
  env: { FAULT_EVERY: '1', ...process.env, FAULT_SEED: seed },
  stdio: ['ignore', 'inherit', 'inherit'],
});
const code = await child.exited;
if (code !== 0) console.error(`Repeat it with: npm run test:faults -- --seed ${seed}`);
process.exit(code);
