import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { answerPayment } from '../../src/http/answer-payment.ts';
import type { SessionContext } from '../../src/http/route.ts';
import { ApiError } from '../../src/model/errors.ts';
import { encodePayment, type Payment } from '../../src/model/payment.ts';
import type { SendContext } from '../../src/wallet/pay/send.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { rejection } from '../support/rejection.ts';
import { sampleDone, sampleFailed, samplePayment } from '../support/sample-payment.ts';

const PATIENCE_MS = 86_400_000;

/** The timers of the request's patience that run. */
let timers: Set<unknown>;
let patienceBegan: PromiseWithResolvers<void>;
let spies: readonly { mockRestore(): void }[];
beforeEach(() => {
  timers = new Set();
  patienceBegan = Promise.withResolvers();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const counted = (work: () => void, ms: number) => {
    const timer = set(work, ms);
    if (ms === PATIENCE_MS) {
      timers.add(timer);
      patienceBegan.resolve();
    }
    return timer;
  };
  spies = [
    spyOn(globalThis, 'setTimeout').mockImplementation(counted as typeof set),
    spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
      timers.delete(timer);
      clear(timer as NodeJS.Timeout);
    }),
  ];
});
afterEach(() => {
  for (const spy of spies) spy.mockRestore();
});

const pending = samplePayment(1);

/** Answers a payment with that patience; `stored` reads the payment, and `end` resolves or rejects with its end. */
function answered(
  respondAfterMs: number,
  { end, stored = async () => pending }: { end: Promise<Payment>; stored?: () => Promise<Payment> },
) {
  const context = {
    session: { history: { payment: stored } } as unknown as Session,
    signal: new AbortController().signal,
    respondAfterMs,
    parts: { log: { debug: () => undefined } },
  } as unknown as SessionContext;
  return answerPayment(context, async ({ onSent }: SendContext) => {
    onSent(pending, false);
    return end;
  });
}

describe('a payment whose request is patient', () => {
  test('is answered with its end, and leaves no timer', async () => {
    const end = Promise.withResolvers<Payment>();
    const answer = answered(PATIENCE_MS, { end: end.promise });
    await patienceBegan.promise;
    end.resolve(sampleDone(1));
    expect(await answer).toEqual(encodePayment(sampleDone(1)));
    expect(timers.size).toBe(0);
  });

  test('leaves no timer when it ends with an error either', async () => {
    const end = Promise.withResolvers<Payment>();
    const answer = answered(PATIENCE_MS, { end: end.promise });
    await patienceBegan.promise;
    end.reject(new ApiError('timeout', 'It took too long: look at it later.'));
    expect(await rejection(answer)).toMatchObject({ kind: 'timeout' });
    expect(timers.size).toBe(0);
  });
});

describe('a payment whose request is impatient', () => {
  const end = new Promise<Payment>(() => undefined);

  test('is answered with 202 as it is stored', async () => {
    const stored = async () => ({ ...pending, statusMsg: 'not seen at the node yet' });
    expect(await answered(0, { end, stored })).toMatchObject({
      httpStatus: 202,
      body: { status: 'pending', status_msg: 'not seen at the node yet' },
    });
  });

  test('is answered with 200 when it has ended meanwhile', async () => {
    const failed = sampleFailed(1);
    expect(await answered(0, { end, stored: async () => failed })).toEqual(encodePayment(failed));
  });

  test('is not said to be unsent when it cannot be read (docs/decisions.md 12)', async () => {
    for (const error of [new ApiError('unreachable', 'Try later.'), new TypeError('on purpose')]) {
      const answer = answered(0, { end, stored: () => Promise.reject(error) });
      expect(await rejection(answer)).toMatchObject({
        kind: error instanceof ApiError ? 'unreachable' : 'internal',
        data: { sent: 'unknown', index: pending.index },
      });
    }
  });
});

describe("a request that meets another program's payment (docs/decisions.md 173)", () => {
  const own = samplePayment(2);
  const never = new Promise<Payment>(() => undefined);

  /** Answers a request that meets `pending` and then does what `after` says. `stored` is how the store has payments. */
  function met(stored: (index: string) => Payment, after: (send: SendContext) => Promise<Payment>) {
    const watched: string[] = [];
    const seen: string[] = [];
    const session = {
      history: { payment: async (index: string) => stored(index) },
      store: {
        watches: { add: async (_wallet: string, { index }: Payment) => watched.push(index) },
      },
      feed: {
        prepare: async () => undefined,
        watchAdded: () => undefined,
        observe: async ({ payment }: { payment: Payment }) => seen.push(payment.index),
      },
    } as unknown as Session;
    const context = {
      session,
      signal: new AbortController().signal,
      respondAfterMs: 0,
      parts: { log: { debug: () => undefined } },
    } as unknown as SessionContext;
    const answer = answerPayment(context, (send) => {
      send.onSent(pending, true);
      return after(send);
    });
    return { answer, watched, seen };
  }

  test('watches what it answers, and makes no attempt after that', async () => {
    const failed = Promise.withResolvers<void>();
    const wentOn = Promise.withResolvers<boolean>();
    const { answer, watched } = met(
      () => pending,
      async (send) => {
        await failed.promise;
        wentOn.resolve(send.goesOn());
        return never;
      },
    );
    expect(await answer).toMatchObject({ httpStatus: 202, body: { index: pending.index } });
    expect(watched).toEqual([pending.index]);
    failed.resolve();
    expect(await wentOn.promise).toBe(false);
  });

  test('is not answered with one that has just failed, but with the attempt that follows', async () => {
    const read = Promise.withResolvers<void>();
    const { answer, seen } = met(
      (index) => {
        read.resolve();
        return index === own.index ? own : sampleFailed(1);
      },
      async (send) => {
        await read.promise;
        // The request learns of the failure later than the store.
        await Bun.sleep(0);
        expect(send.goesOn()).toBe(true);
        send.onSent(own, false);
        return never;
      },
    );
    expect(await answer).toMatchObject({ httpStatus: 202, body: { index: own.index } });
    // The watch that was added too late ends.
    expect(seen).toEqual([pending.index]);
  });
});
