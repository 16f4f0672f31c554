import type { Note } from './figures.ts';
import { converse } from './load.ts';
import { type Call, TERMS } from './sandbox.ts';

/** How many callers wait for the same payment. */
const WAITS = 10_000;
/** After this time all of them wait. */
const SETTLED_MS = 6000;

/** Measures how soon many waits for one payment are answered, once it has ended. */
export async function measureWaits(port: number, call: Call, note: Note): Promise<void> {
  const { index } = await call('POST', '/v2/node/create_invoice', TERMS);
  const path = `/v2/node/wait_for_payment?index=${index}`;
  let awake = 0;
  const waits = Array.from({ length: WAITS }, () => {
    let left = 1;
    return converse(port, {
      next: () => (left-- > 0 ? { path } : null),
      answered({ status }) {
        if (status === 200) awake += 1;
      },
    });
  });
  await Bun.sleep(SETTLED_MS);
  const startedAt = performance.now();
  await call('POST', '/v2/node/cancel_payment', { index });
  await Promise.allSettled(waits);
  const wakeMs = performance.now() - startedAt;
  note('waits woken', `${awake} of ${WAITS} in ${wakeMs.toFixed(0)} ms`, {
    goal: { target: 'waits', is: awake === WAITS ? wakeMs : Number.POSITIVE_INFINITY },
  });
}
