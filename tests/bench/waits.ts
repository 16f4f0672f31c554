import type { Note } from './endurance.ts';

/** How many callers wait for the same payment. */
const WAITS = 10_000;
/** After this time all of them wait. */
const SETTLED_MS = 6000;

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, string>>;

/** Measures how soon many waits for one payment are answered, once it has ended. */
export async function measureWaits(call: Call, note: Note): Promise<void> {
  const { index } = await call('POST', '/v2/node/create_invoice', { amount: '1' });
  const waits = Array.from({ length: WAITS }, () =>
    call('GET', `/v2/node/wait_for_payment?index=${index}`),
  );
  await Bun.sleep(SETTLED_MS);
  const startedAt = performance.now();
  await call('POST', '/v2/node/cancel_payment', { index });
  const woken = await Promise.allSettled(waits);
  const wakeMs = performance.now() - startedAt;
  const awake = woken.filter(({ status }) => status === 'fulfilled').length;
  const value = `${awake} of ${WAITS} in ${wakeMs.toFixed(0)} ms`;
  note('waits woken', value, '1000 ms', awake === WAITS && wakeMs < 1000);
}
