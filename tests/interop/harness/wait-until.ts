/** Default time limit in milliseconds, enough for anything that two idle nodes do on one machine. */
const PATIENCE_MS = 60_000;
const PROBE_EVERY_MS = 50;

/**
 * Calls `probe` every 50 ms until its result is neither null nor false, and returns that result. A probe that throws
 * counts as "not yet". After `patienceMs` it throws an error with `what` and the last error of the probe.
 */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  let lastError: unknown;
  while (performance.now() < deadline) {
    try {
      const answer = await probe();
      if (answer !== null && answer !== false) return answer;
    } catch (error) {
      lastError = error;
    }
    await Bun.sleep(PROBE_EVERY_MS);
  }
  throw new Error(`Waited ${patienceMs} ms in vain until ${what}.`, { cause: lastError });
}
