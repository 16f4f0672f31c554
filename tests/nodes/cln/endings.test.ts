import { describe, expect, test } from 'bun:test';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { Endings } from '../../../src/nodes/cln/endings.ts';
import { attemptsOf } from '../../../src/nodes/cln/translate.ts';
import { sendpayShape } from '../../../src/nodes/cln/wire.ts';
import { LABELS } from './fake-wallet.ts';

const HASH = 'a'.repeat(64);
const NOW_MS = 1_800_000_000_000;
const LABEL = LABELS.of(paymentIndex(NOW_MS, paymentId('ln', HASH)));
const DAY_SECS = 86_400;

/** Endings by a clock that the test sets. */
function watching() {
  const clock = { elapsedMs: 1000 };
  const endings = new Endings(() => clock.elapsedMs, { now: () => NOW_MS }, LABELS);
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

  test('has failed at once when the xpay of this process has said so, with its reason', () => {
    const { ask, endings } = watching();
    expect(ask([{}])).toEqual([null]);
    endings.gaveUp(HASH, 1, 'no route');
    expect(ask([{ groupid: 2 }])).toEqual([null]);
    expect(ask([{}])).toEqual(['no route']);
    expect(endings.due()).toEqual([]);
  });

  test('has failed at first sight when it was made without the sidecar and ended a day ago', () => {
    const { ask } = watching();
    const completed_at = NOW_MS / 1000 - DAY_SECS - 1;
    expect(ask([{ completed_at, label: undefined }])).toEqual(['not delivered']);
    // The clock may be wrong, and this payment counts in a budget.
    expect(ask([{ completed_at }])).toEqual([null]);
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
