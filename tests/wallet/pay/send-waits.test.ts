import { describe, expect, test } from 'bun:test';
import { sleep } from '../../../src/lib/sleep.ts';
import type { ApiError } from '../../../src/model/errors.ts';
import { idOf, type Payment } from '../../../src/model/payment.ts';
import { broadcastOf } from '../../../src/wallet/pay/await-end.ts';
import { send, sendAndWait } from '../../../src/wallet/pay/send.ts';
import type { SendIdentity } from '../../../src/wallet/pay/send-plan.ts';
import { sampleDone, sampleFailed, samplePayment } from '../../support/sample-payment.ts';
import { until } from '../../support/until.ts';
import { SIGNED } from '../fake-node.ts';
import { feedOf } from '../wallet-world.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { sendWorld, silence } from './send-world.ts';

const wallet = sendWorld();
const { unfinished, clientOf } = wallet;

describe('a send that is waited for', () => {
  test('and gives way ends as the payment in its place, if that is of its amount', async () => {
    for (const [number, amountMsat, end] of [
      [1, 1000n, { status: 'completed' }],
      [2, 7_777_000n, { kind: 'refused', message: expect.stringContaining('7777 sats') }],
    ] as const) {
      const { owner } = wallet;
      const plan = planOf(silence, { number });
      const waiting = sendAndWait(contextOf(owner), plan).catch((error: unknown) => error);
      const own = await until(async () =>
        (await unfinished()).find(({ payment }) => idOf(payment) === plan.id),
      );
      await until(() => owner.feed.standing?.state === 'caught_up', 'it is followed');
      const payment = sampleDone(number, { amountMsat });
      const answers = { index: own.payment.index, isTaken: true };
      await owner.feed.observe({ payment, attempt: number, answers }, owner.node);
      expect(await waiting).toMatchObject(end);
    }
  });

  test('and which the node shows with another amount under its own index is not taken for another', async () => {
    const waiting = sendAndWait(contextOf(wallet.owner), planOf(silence));
    const own = await until(async () => (await unfinished())[0]?.payment);
    await until(() => wallet.owner.feed.standing?.state === 'caught_up', 'it is followed');
    wallet.world.fake.push({ payment: { ...sent.done(own), amountMsat: 1001n }, attempt: null });
    expect(await waiting).toMatchObject({ status: 'completed', amountMsat: 1001n });
  });

  test('and has ended is looked at no more for a node out of reach', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    wallet.world.pause = (ms, signal) => {
      if (ms === 1000) signals.push(signal);
      return sleep(ms, signal);
    };
    const waiting = sendAndWait(contextOf(wallet.owner), planOf(silence));
    const own = await until(async () => (await unfinished())[0]?.payment);
    await until(() => signals.length > 0, 'the silence of the node is looked at');
    wallet.world.fake.push({ payment: sent.done(own), attempt: 5 });
    await waiting;
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test('has what the node has just shown neither asked for nor stored again', async () => {
    let asked = 0;
    const { observations } = wallet.world.store;
    const { apply } = observations;
    let writes = 0;
    Object.assign(observations, {
      apply: (...given: Parameters<typeof apply>) => {
        if (given[1].observations.length > 0) writes++;
        return apply(...given);
      },
    });
    wallet.world.fake.payment = async () => {
      asked++;
      return null;
    };
    let identity: SendIdentity | null = null;
    const plan = planOf(async (given) => {
      identity = given;
      return shown(sent.pending(given), 42);
    });
    const end = sendAndWait(contextOf(wallet.owner), plan);
    await until(() => identity !== null && wallet.owner.feed.standing?.state === 'caught_up');
    await until(async () => (await unfinished())[0]?.state === 'known');
    if (identity) wallet.world.fake.push(shown(sent.done(identity), 42));
    // The answer to the request, and what the feed tells.
    expect([(await end).status, asked, writes]).toEqual(['completed', 0, 2]);
  });

  test('ends as the node shows it', async () => {
    let own: SendIdentity | null = null;
    const waiting = sendAndWait(
      contextOf(wallet.owner),
      planOf(async (identity) => {
        own = identity;
        return shown(sent.pending(identity), 5);
      }),
    );
    await until(() => own !== null);
    await until(async () => (await unfinished())[0]?.state === 'known');
    wallet.world.fake.push({ payment: sent.done(own as unknown as SendIdentity), attempt: 5 });
    expect(await waiting).toMatchObject({ status: 'completed' });
  }, 60_000);

  test('keeps the feed open no longer than that', async () => {
    const plan = planOf(async (identity) => shown(sent.done(identity), 5));
    await sendAndWait(contextOf(wallet.owner), plan);
    expect(feedOf(wallet.owner).busy).toBe(false);
  });
});

describe("a request that waits for another program's payment", () => {
  const others = samplePayment(1);
  /** Waits for the other program's payment, which ends in that way. */
  async function waitedFor(end: Payment, change: Parameters<typeof contextOf>[1] = {}) {
    const { owner } = wallet;
    const session = change.session ?? owner;
    await owner.feed.observeOnce({ payment: others, attempt: 5 }, owner.node);
    let starts = 0;
    const waiting = sendAndWait(
      contextOf(session, change),
      planOf(async (identity) => {
        starts++;
        return shown(sent.done(identity), 6);
      }),
    ).catch(({ kind }: ApiError) => ({ status: kind, index: null }));
    await until(() => session.feed.standing?.state === 'caught_up', 'the request waits');
    expect(starts).toBe(0);
    wallet.world.fake.push({ payment: end, attempt: 5 });
    const { status, index } = await waiting;
    return { starts, status, index };
  }

  test('makes an attempt of its own once that one has failed', async () => {
    const { starts, status, index } = await waitedFor(sampleFailed(1));
    expect([starts, status]).toEqual([1, 'completed']);
    expect(index).not.toBe(others.index);
  });

  test('makes none where it was answered with that payment already', async () => {
    expect(await waitedFor(sampleFailed(1), { goesOn: () => false })).toEqual({
      starts: 0,
      status: 'failed',
      index: others.index,
    });
  });

  test('makes none where that one has paid', async () => {
    expect(await waitedFor(sampleDone(1))).toEqual({
      starts: 0,
      status: 'completed',
      index: others.index,
    });
  });

  test('is not told of its end where it may not read payments', async () => {
    const { session } = await clientOf(['send']);
    const ended = await waitedFor(sampleDone(1), { session });
    expect(ended).toEqual({ starts: 0, status: 'refused', index: null });
  });
});

describe('the wait for a broadcast ends', () => {
  const onchain = { rail: 'onchain', again: 'never', sign: async () => SIGNED } as const;
  const begun = async (own: (payment: Payment) => Payment) => {
    let identity: SendIdentity | null = null;
    const { payment } = await send(
      contextOf(wallet.owner),
      planOf(async (given) => {
        identity = given;
        return shown(own({ ...sent.pending(given), rail: 'onchain' }));
      }, onchain),
    );
    return { payment, identity: identity as unknown as SendIdentity };
  };
  const { signal } = new AbortController();

  test('at once where the node has shown the transaction', async () => {
    const { payment } = await begun((own) => ({ ...own, txid: SIGNED.txid }));
    expect(await broadcastOf(wallet.owner, payment, signal)).toBe(payment);
  });

  for (const [how, change] of [
    ['once the node shows the transaction', { txid: SIGNED.txid }],
    ['once the payment has failed without one', { status: 'failed', finalizedAtMs: 9 }],
  ] as const) {
    test(`${how}, and not before`, async () => {
      const { payment } = await begun((own) => own);
      let ended = false;
      const waiting = broadcastOf(wallet.owner, payment, signal).finally(() => {
        ended = true;
      });
      await until(() => wallet.owner.feed.standing?.state === 'caught_up', 'it is followed');
      const told = { ...payment, statusMsg: 'broadcasting' };
      await wallet.owner.feed.observe({ payment: told, attempt: null }, wallet.owner.node);
      expect(ended).toBe(false);
      wallet.world.fake.push({ payment: { ...told, ...change }, attempt: null });
      expect(await waiting).toMatchObject(change);
    });
  }
});
