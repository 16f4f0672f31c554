import { beforeEach, describe, expect, test } from 'bun:test';
import { PayingNow } from '../../../src/nodes/cln/reads/paying-now.ts';

let nowMs: number;
let pauses: { readonly untilMs: number; readonly end: () => void }[];
let paying: PayingNow;
beforeEach(() => {
  nowMs = 0;
  pauses = [];
  paying = new PayingNow(
    () => nowMs,
    (ms) => new Promise((end) => void pauses.push({ untilMs: nowMs + ms, end })),
  );
});

/** Lets time pass. */
async function pass(ms: number): Promise<void> {
  nowMs += ms;
  for (const { untilMs, end } of pauses) if (untilMs <= nowMs) end();
  await Bun.sleep(0);
}

/** Waits until nothing is paid, 2 seconds at most, and tells whether that is over. */
function waiting(signal = new AbortController().signal): () => boolean {
  let isOver = false;
  void paying.over(2000, signal).then(() => {
    isOver = true;
  });
  return () => isOver;
}

describe('a wait until nothing is paid', () => {
  test('ends at once where nothing is', async () => {
    const isOver = waiting();
    await pass(0);
    expect([isOver(), paying.isNow]).toEqual([true, false]);
  });

  test('ends with the last payment', async () => {
    const [first, second] = [paying.begin(), paying.begin()];
    const isOver = waiting();
    first();
    await pass(10);
    expect([isOver(), paying.isNow]).toEqual([false, true]);
    second();
    await pass(0);
    expect([isOver(), paying.isNow]).toEqual([true, false]);
  });

  test('includes a payment that is being prepared, for a quarter of a second', async () => {
    paying.prepare();
    const isOver = waiting();
    await pass(249);
    expect([isOver(), paying.isNow]).toEqual([false, true]);
    await pass(1);
    expect([isOver(), paying.isNow]).toEqual([true, false]);
  });

  test('takes no longer than it may, however many payments follow each other', async () => {
    const isOver = waiting();
    let end = paying.begin();
    const second = waiting();
    for (let ms = 0; ms < 1999; ms++) {
      const next = paying.begin();
      end();
      end = next;
      await pass(1);
    }
    expect([isOver(), second()]).toEqual([true, false]);
    await pass(1);
    expect(second()).toBe(true);
  });

  test('ends when its signal aborts', async () => {
    paying.begin();
    const stop = new AbortController();
    stop.abort();
    const isOver = waiting(stop.signal);
    await pass(0);
    expect(isOver()).toBe(true);
  });
});
