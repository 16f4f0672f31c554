import { describe, expect, test } from 'bun:test';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { LOST } from '../../../src/nodes/cln/words/certainty.ts';
import { Endings } from '../../../src/nodes/cln/words/endings.ts';
import { attemptsOf } from '../../../src/nodes/cln/words/translate.ts';
import { sendpayShape } from '../../../src/nodes/cln/words/wire.ts';
import { LABELS } from './fake-wallet.ts';

const HASH = 'a'.repeat(64);
const NOW_MS = 1_800_000_000_000;
const LABEL = LABELS.of(paymentIndex(NOW_MS, paymentId('ln', HASH)));
const DAY_SECS = 86_400;

/** Endings by a clock that the test sets. */
function watching() {
  const clock = { elapsedMs: 1000, nowMs: NOW_MS };
  const endings = new Endings(() => clock.elapsedMs, { now: () => clock.nowMs }, LABELS);
  const ask = (parts: object[]) => {
    const shown = attempts(parts);
    endings.shown(HASH, shown);
    return shown.map((attempt) => endings.failureOf(attempt));
  };
  return { clock, endings, ask };
}

const attempts = (parts: object[]) =>
  attemptsOf(
    parts.map((change, at) =>
      sendpayShape.parse({
        created_index: at + 1,
        payment_hash: HASH,
        groupid: 1,
        partid: at + 1,
        status: 'failed',
        created_at: NOW_MS / 1000,
        completed_at: NOW_MS / 1000,
        amount_sent_msat: 1000,
        label: LABEL,
        ...change,
      }),
    ),
  );

describe('a payment whose parts have all failed', () => {
  test('may go on, because xpay tries one route after another', () => {
    const { clock, ask, endings } = watching();
    expect(ask([{}, {}])).toEqual([null]);
    clock.elapsedMs += 74_999;
    expect(ask([{}, {}])).toEqual([null]);
    expect(endings.due()).toEqual([]);
  });

  test('has failed when no new part has come for the time of all tries and a margin', () => {
    const { clock, ask, endings } = watching();
    ask([{}]);
    expect(endings.dueInMs).toBe(75_000);
    clock.elapsedMs += 75_000;
    expect(endings.due()).toEqual([HASH]);
    expect(ask([{}])).toEqual(['not delivered']);
    expect([endings.due(), endings.dueInMs]).toEqual([[], Number.POSITIVE_INFINITY]);
    expect(ask([{}])).toEqual(['not delivered']);
  });

  test('is watched anew with each new part', () => {
    const { clock, ask } = watching();
    ask([{}]);
    clock.elapsedMs += 60_000;
    expect(ask([{}, {}])).toEqual([null]);
    clock.elapsedMs += 60_000;
    expect(ask([{}, {}])).toEqual([null]);
    clock.elapsedMs += 15_000;
    expect(ask([{}, {}])).toEqual(['not delivered']);
  });

  test('is watched anew after a part was pending', () => {
    const { clock, ask } = watching();
    ask([{}, {}]);
    ask([{}, { status: 'pending' }]);
    clock.elapsedMs += 75_000;
    expect(ask([{}, {}])).toEqual([null]);
  });

  test('does not fail while this process runs its xpay, and is looked at again soon', () => {
    const { clock, ask, endings } = watching();
    endings.begin(HASH);
    endings.begin(HASH);
    ask([{}]);
    clock.elapsedMs += 300_000;
    endings.end(HASH);
    expect(ask([{}])).toEqual([null]);
    expect(endings.due()).toEqual([]);
    expect(endings.dueInMs).toBe(5000);
    endings.end(HASH);
    expect(ask([{}])).toEqual(['not delivered']);
  });

  test('fails by time although its xpay never answers, as on a connection that died without a sign', () => {
    const { clock, ask, endings } = watching();
    endings.begin(HASH);
    ask([{}]);
    clock.elapsedMs += 599_999;
    expect(ask([{}])).toEqual([null]);
    expect([endings.isRunning(HASH), endings.areRunning]).toEqual([true, true]);
    clock.elapsedMs += 1;
    expect([endings.isRunning(HASH), endings.areRunning]).toEqual([false, false]);
    expect(ask([{}])).toEqual(['not delivered']);
  });

  test('is tried as long as the newest of its calls may try', () => {
    const { clock, ask, endings } = watching();
    endings.begin(HASH);
    ask([{}]);
    clock.elapsedMs += 599_999;
    endings.begin(HASH);
    clock.elapsedMs += 1;
    expect(ask([{}])).toEqual([null]);
    expect(endings.isRunning(HASH)).toBe(true);
  });

  test('is tried until the last of its calls is over', () => {
    const { endings } = watching();
    for (let call = 0; call < 3; call++) endings.begin(HASH);
    const running = [1, 2, 3].map(() => {
      endings.end(HASH);
      return endings.isRunning(HASH);
    });
    expect(running).toEqual([true, true, false]);
  });

  test('has failed at once when the xpay of this process has said so, with its reason', () => {
    const { ask, endings } = watching();
    expect(ask([{}])).toEqual([null]);
    endings.gaveUp(HASH, 1, 'no route');
    expect(ask([{ groupid: 2 }])).toEqual([null]);
    expect(ask([{}])).toEqual(['no route']);
    expect(endings.due()).toEqual([]);
  });

  test('is not watched any more once xpay has said that it failed', () => {
    const { ask, endings } = watching();
    ask([{}]);
    endings.gaveUp(HASH, 1, 'no route');
    expect(ask([{}])).toEqual(['no route']);
    expect(endings.dueInMs).toBe(Number.POSITIVE_INFINITY);
  });

  test('has failed at once when the node has lost a part of it, and is not watched any more', () => {
    const { endings } = watching();
    const [attempt] = attempts([{}, {}]);
    if (attempt === undefined) throw new Error('there is one');
    expect(endings.failureOf(attempt)).toBeNull();
    expect(endings.dueInMs).toBe(75_000);
    const [first] = attempt.parts;
    const lost = { ...attempt, parts: [first, { ...first, isLost: true }] } as const;
    expect(endings.failureOf(lost)).toBe(LOST);
    expect(endings.dueInMs).toBe(Number.POSITIVE_INFINITY);
    const pending = { ...first, status: 'pending' } as const;
    expect(endings.failureOf({ ...lost, parts: [...lost.parts, pending] })).toBeNull();
  });

  test('is watched anew where another part stands in the place of one that the node has deleted', () => {
    const { clock, ask } = watching();
    ask([{ created_index: 7 }, { created_index: 8 }]);
    clock.elapsedMs += 60_000;
    expect(ask([{ created_index: 8 }, { created_index: 9 }])).toEqual([null]);
    clock.elapsedMs += 74_999;
    expect(ask([{ created_index: 8 }, { created_index: 9 }])).toEqual([null]);
    clock.elapsedMs += 1;
    expect(ask([{ created_index: 8 }, { created_index: 9 }])).toEqual(['not delivered']);
    expect(ask([{ created_index: 8 }, { created_index: 10 }])).toEqual([null]);
  });

  test('has failed at first sight when it was made without the sidecar and ended a day ago', () => {
    const { ask } = watching();
    const completed_at = NOW_MS / 1000 - DAY_SECS - 1;
    expect(ask([{ completed_at, label: undefined }])).toEqual(['not delivered']);
    // The clock may be wrong, and this payment counts in a budget.
    expect(ask([{ completed_at }])).toEqual([null]);
  });

  test('may go on at first sight when it was made without the sidecar less than a day ago', () => {
    const { ask, clock } = watching();
    const ended = (...secsAgo: number[]) =>
      secsAgo.map((secs) => ({ completed_at: NOW_MS / 1000 - secs, label: undefined }));
    expect(ask(ended(0))).toEqual([null]);
    expect(ask(ended(DAY_SECS))).toEqual([null]);
    // Its newest part counts.
    expect(ask(ended(2 * DAY_SECS, 60))).toEqual([null]);
    expect(ask(ended(60, 2 * DAY_SECS))).toEqual([null]);
    clock.nowMs += 1;
    expect(ask(ended(DAY_SECS))).toEqual(['not delivered']);
  });

  test('has ended when it was made, where the node does not say when it ended', () => {
    const { ask } = watching();
    const made = (created_at: number) => ({
      created_at,
      completed_at: undefined,
      label: undefined,
    });
    expect(ask([made(NOW_MS / 1000 - DAY_SECS)])).toEqual([null]);
    expect(ask([made(NOW_MS / 1000 - DAY_SECS - 1)])).toEqual(['not delivered']);
  });
});

describe('a payment goes on', () => {
  test('with a part that is pending, although xpay has ended with an error', () => {
    const { ask, endings } = watching();
    endings.gaveUp(HASH, 1, 'no route');
    expect(ask([{}, { status: 'pending' }])).toEqual([null]);
    expect(ask([{}, { status: 'complete' }])).toEqual([null]);
    expect(ask([{}, {}])).toEqual(['no route']);
  });
});

test('each attempt to pay a hash ends for itself', () => {
  const { clock, ask, endings } = watching();
  ask([{ groupid: 1 }]);
  clock.elapsedMs += 75_000;
  expect(ask([{ groupid: 1 }, { groupid: 2 }])).toEqual(['not delivered', null]);
  expect(endings.dueInMs).toBe(75_000);
});

test('of two attempts the one that is due first is looked at, and the other is watched on', () => {
  const { clock, ask, endings } = watching();
  ask([{ groupid: 1 }]);
  clock.elapsedMs += 10_000;
  ask([{ groupid: 1 }, { groupid: 2 }]);
  expect(endings.dueInMs).toBe(65_000);
  // The first goes on, and the second has its time from before.
  ask([{ groupid: 1, status: 'pending' }, { groupid: 2 }]);
  expect(endings.dueInMs).toBe(75_000);
  clock.elapsedMs += 75_000;
  expect(ask([{ groupid: 1, status: 'pending' }, { groupid: 2 }])).toEqual([null, 'not delivered']);
});

test('an xpay of this process is open for its hash until each of its calls has ended', () => {
  const { endings } = watching();
  const open = () => [endings.areRunning, endings.isRunning(HASH), endings.isRunning('b')];
  expect(open()).toEqual([false, false, false]);
  endings.begin(HASH);
  expect(open()).toEqual([true, true, false]);
  endings.begin(HASH);
  endings.end(HASH);
  expect(open()).toEqual([true, true, false]);
  endings.end(HASH);
  expect(open()).toEqual([false, false, false]);
});

test('10,000 reasons are kept, and the oldest goes first', () => {
  const { endings } = watching();
  const reasonOf = (groupid: number) =>
    attempts([{ groupid }]).map((attempt) => endings.failureOf(attempt))[0];
  for (let group = 1; group <= 10_000; group += 1) endings.gaveUp(HASH, group, `${group}`);
  expect([1, 2, 10_000].map(reasonOf)).toEqual(['1', '2', '10000']);
  endings.gaveUp(HASH, 10_001, 'one more');
  expect([1, 2, 10_000, 10_001].map(reasonOf)).toEqual([null, '2', '10000', 'one more']);
});

test('a hash is not watched any more when the node has deleted its parts', () => {
  const { ask, endings } = watching();
  ask([{}]);
  ask([]);
  expect(endings.dueInMs).toBe(Number.POSITIVE_INFINITY);
});

test('an attempt is known by a number beyond those that JavaScript holds exactly', () => {
  const { ask } = watching();
  expect(ask([{ groupid: 2 ** 63 }])).toEqual([null]);
});
