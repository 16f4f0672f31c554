/**
 * How long a test may take that starts programs or works for long, milliseconds, on a busy machine. Bun allows five
 * seconds: such a file says `setDefaultTimeout(SLOW_TEST_MS)`, so that it holds however it is run.
 */
export const SLOW_TEST_MS = 300_000;

/** Longest wait, milliseconds, for anything that is not slow by itself; a test is told of a vain one before it ends. */
const PATIENCE_MS = 50_000;
/** The pause between two probes is this share of the time waited, so that a long wait leaves the processor alone. */
const PAUSE_SHARE = 1 / 20;
const LEAST_PAUSE_MS = 10;
const MOST_PAUSE_MS = 200;
/** Kept, since a test may let the clock stand still for the product. */
const nowMs = performance.now.bind(performance);

/**
 * Asks `probe` again and again until its answer is neither null, undefined nor false, and returns that answer.
 * What the probe throws is thrown on; after `patienceMs` it throws, naming what was awaited.
 */
export async function until<T>(
  probe: () => T | Promise<T>,
  what = 'what was awaited happened',
  patienceMs = PATIENCE_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const begun = nowMs();
  for (;;) {
    const answer = await probe();
    if (answer !== null && answer !== undefined && answer !== false) {
      return answer as Exclude<T, null | undefined | false>;
    }
    const waitedMs = nowMs() - begun;
    if (waitedMs >= patienceMs) {
      throw new Error(`Waited ${patienceMs} ms in vain until ${what}.`);
    }
    await Bun.sleep(Math.min(Math.max(waitedMs * PAUSE_SHARE, LEAST_PAUSE_MS), MOST_PAUSE_MS));
  }
}

/**
 * {@link until} for what is only just starting: a probe that throws counts as "not yet", and the last error is the
 * cause of the one that tells of the vain wait.
 */
export async function waitUntil<T>(
  what: string,
  probe: () => Promise<T | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  let lastError: unknown;
  const patient = async () => {
    try {
      return await probe();
    } catch (error) {
      lastError = error;
      return null;
    }
  };
  try {
    return (await until(patient, what, patienceMs)) as T;
  } catch (error) {
    throw new Error((error as Error).message, { cause: lastError });
  }
}

/**
 * Waits for the first half of a second of the machine's clock, so that what is made next has one whole second in the
 * sidecar and at a node that writes the time itself.
 */
export async function earlyInSecond(): Promise<void> {
  await until(() => Date.now() % 1000 < 500, 'a second has begun');
}
