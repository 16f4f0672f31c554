/**
 * What every fault test draws its numbers from. `npm run test:faults -- --seed N` repeats a run; without one it is
 * another each time, and printed.
 */
export const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 1_000_000);

/** How often kills and jumps are tried; `FAULT_ROUNDS` for long runs. */
export const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 12);

/** Whether every injected fault is tried, or a sample drawn by the seed. `npm run test:faults` sets `FAULT_EVERY`. */
export const EVERY = process.env.FAULT_EVERY === '1';

if (!Number.isSafeInteger(SEED) || !Number.isSafeInteger(ROUNDS) || ROUNDS < 1) {
  throw new Error('FAULT_SEED and FAULT_ROUNDS must be whole numbers, the rounds at least 1.');
}
console.log(`Faults with seed ${SEED}, ${ROUNDS} rounds.`);
