import { rounds } from '../support/rounds.ts';

/**
 * The seed of the random numbers of all fault tests. `npm run test:faults -- --seed N` repeats a run. Without a seed,
 * each run prints a new one.
 */
export const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000);

/** How many rounds of kills and clock jumps a test runs. */
export const ROUNDS = rounds(4, 12);

/** Whether every possible fault is tried, or a sample drawn by the seed. `npm run test:faults` sets `FAULT_EVERY`. */
export const EVERY = process.env.FAULT_EVERY === '1';

if (!Number.isSafeInteger(SEED)) throw new Error('FAULT_SEED must be a whole number.');
console.log(`Faults with seed ${SEED}, ${ROUNDS} rounds.`);
