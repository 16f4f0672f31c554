import { afterEach, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { openLog } from '../../../src/lib/log.ts';
import { sleep } from '../../../src/lib/sleep.ts';
import type { Scope } from '../../../src/model/clients/permissions.ts';
import { ApiError, refused } from '../../../src/model/errors.ts';
import { idOf, type Payment } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { SendOutcome, SendReport } from '../../../src/nodes/node.ts';
import { budgetRules, periodStart } from '../../../src/wallet/budget/budget.ts';
import { createClient } from '../../../src/wallet/clients/clients.ts';
import { Resolver } from '../../../src/wallet/pay/resolver.ts';
import { send, sendAndWait } from '../../../src/wallet/pay/send.ts';
import type { SendIdentity } from '../../../src/wallet/pay/send-plan.ts';
import { waitForFinal } from '../../../src/wallet/read/wait.ts';
import { randomNames } from '../../../src/wallet/session/effect-names.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { rejection, throwing } from '../../support/rejection.ts';
import { sampleDone, samplePayment } from '../../support/sample-payment.ts';
import { newSpend, WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { clientRequest } from '../client-world.ts';
import { SIGNED, unreachable } from '../fake-node.ts';
import { heldPauses } from '../held-pauses.ts';
import { addressOf } from '../payment-strings.ts';
import { feedOf, resolverOf, type WalletWorld, walletWorld } from '../wallet-world.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { turns } from './send-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
let owner: Session;
const open = async (options: Parameters<typeof walletWorld>[0] = {}) => {
  await world?.close();
  world = await walletWorld(options);
  ({ owner } = await world.start());
};
beforeEach(() => open());
afterEach(() => world.close());

const unfinished = () => world.store.spends.unfinished(WALLET);
const silence = async (): Promise<SendReport> => ({ state: 'unknown', error: unreachable() });
const never = async (): Promise<SendOutcome> => ({ state: 'never', reason: 'the invoice expired' });
const asked = () => world.fake.questions.length;

/** Sends a payment whose outcome stays unknown. Returns the wallet's own index of it, and how often it was started. */
async function sendIntoSilence(number = 1) {
  let starts = 0;
  const plan = planOf(
    () => {
      starts++;
      return silence();
    },
    { number },
  );
  const { payment } = await send(contextOf(owner), plan);
  return { identity: payment as SendIdentity, payment, starts: () => starts };
}
const stored = ({ index }: SendIdentity) => world.store.journal.get(WALLET, index);

const begin = (number: number, change: Parameters<typeof newSpend>[1]) =>
  world.store.spends.begin(
    WALLET,
    newSpend(samplePayment(number), { journaled: !owner.node.history, ...change }),
    budgetRules,
  );

describe('an unknown send', () => {
  test('is asked about again until the node shows it, and is never started again', async () => {
    world.fake.newestAttempt = async () => 7;
    const { identity, starts } = await sendIntoSilence();
    await until(() => asked() >= 3);
    expect(await stored(identity)).toMatchObject({ status: 'pending' });
    for (const question of world.fake.questions) {
      expect(question).toMatchObject({
        payment: { index: identity.index },
        afterAttempt: 7,
        attempt: null,
        signed: null,
      });
    }
    world.fake.sendOutcome = async () => shown(sent.done(identity), 8);
    await until(async () => (await unfinished()).length === 0);
    expect(await stored(identity)).toMatchObject({ status: 'completed' });
    const questions = asked();
    await send(contextOf(owner), planOf(silence));
    await until(() => !resolverOf(owner).busy);
    expect([asked(), starts()]).toEqual([questions, 1]);
  });

  test('has failed once the node says that it never will be, and may then be made again', async () => {
    const { identity } = await sendIntoSilence();
    world.fake.nowMs = 1_234_567;
    world.fake.sendOutcome = never;
    await until(async () => (await unfinished()).length === 0);
    expect(await stored(identity)).toMatchObject({
      status: 'failed',
      statusMsg: 'the invoice expired',
      finalizedAtMs: 1_234_567,
      updatedAtMs: 1_234_567,
    });
    const again = await send(
      contextOf(owner),
      planOf(async (own) => shown(sent.done(own), 1)),
    );
    expect(again).toMatchObject({ begun: true, payment: { status: 'completed' } });
  });

  test('is waited for, and its waiter gets the end that the node shows at last', async () => {
    let own: SendIdentity | null = null;
    const waiting = sendAndWait(
      contextOf(owner),
      planOf((identity) => {
        own = identity;
        return silence();
      }),
    );
    await until(() => asked() > 0);
    world.fake.sendOutcome = async () => shown(sent.failed(own as unknown as SendIdentity), 1);
    expect(await waiting).toMatchObject({ status: 'failed' });
  });

  test('that never was ends for its waiter as failed, also where only the node tells of payments', async () => {
    for (const history of [false, true]) {
      await open({ history });
      const waiting = sendAndWait(contextOf(owner), planOf(silence));
      await until(() => asked() > 0);
      world.fake.sendOutcome = never;
      expect(await waiting).toMatchObject({ status: 'failed', statusMsg: 'the invoice expired' });
      expect(await unfinished()).toEqual([]);
    }
  });

  test('is not taken for one whose request is just leaving, of which the node cannot know yet', async () => {
    await sendIntoSilence(1);
    const answer = Promise.withResolvers<SendReport>();
    let own: SendIdentity | null = null;
    const leaving = send(
      contextOf(owner),
      planOf(
        (identity) => {
          own = identity;
          return answer.promise;
        },
        { number: 2 },
      ),
    );
    await until(() => own !== null);
    const second = own as unknown as SendIdentity;
    world.fake.sendOutcome = async ({ payment }) =>
      payment.index === second.index ? never() : { state: 'unknown' };
    const before = asked();
    await until(() => asked() >= before + 3);
    expect(await stored(second)).toMatchObject({ status: 'pending' });
    answer.resolve(shown(sent.done(second, 2), 2));
    expect((await leaving).payment.status).toBe('completed');
  });

  test('waits for the attempt of another program, and gives way to it once that has paid', async () => {
    const started = await world.start();
    const budget = { amountMsat: 5000n, period: 'total', maxPaymentMsat: null } as const;
    const request = clientRequest(['send'], { budget });
    const { client, credentials } = await createClient(started.owner, request, randomNames);
    const session = await started.wallets.open(credentials);
    const spentMsat = async () =>
      (await world.store.budgets.get(WALLET, client.clientPk, 1, periodStart)).spentMsat;
    const { payment: own } = await send(contextOf(session), planOf(silence));
    const place = { index: paymentIndex(77, idOf(samplePayment(1))), createdAtMs: 77 };
    const other = (payment: Payment) => async () =>
      ({ state: 'taken', payment, attempt: 5 }) as const;
    world.fake.sendOutcome = other(sent.pending(place));
    const before = asked();
    await until(() => asked() >= before + 3);
    expect(await unfinished()).toMatchObject([{ state: 'asked', attempt: null }]);
    expect(await spentMsat()).toBe(1010n);
    world.fake.sendOutcome = other(sent.done(place));
    await until(async () => (await unfinished()).length === 0);
    expect(await stored(own)).toMatchObject({ status: 'completed' });
    expect(await spentMsat()).toBe(0n);
  });

  test('that is shown in the meantime is asked about no more', async () => {
    const { identity } = await sendIntoSilence();
    await until(() => asked() >= 1);
    world.fake.push({ payment: sent.pending(identity), attempt: 1 });
    await until(async () => (await unfinished())[0]?.state === 'known');
    // A question may have left just before, and none leaves once the work has ended.
    const questions = asked();
    await until(() => !resolverOf(owner).busy);
    expect(asked()).toBeLessThanOrEqual(questions + 1);
  });

  test('says after 20 seconds that the node does not show it yet, and not before', async () => {
    world.pause = (_ms, signal) => sleep(10, signal);
    world.elapsedMs = 5_000;
    const { identity } = await sendIntoSilence();
    await until(() => asked() >= 1);
    world.elapsedMs = 24_999;
    const before = asked();
    await until(() => asked() >= before + 2);
    expect(await stored(identity)).toMatchObject({ statusMsg: 'pending' });
    world.elapsedMs = 25_000;
    await until(async () => (await stored(identity))?.statusMsg === 'not seen at the node yet');
    expect(await stored(identity)).toMatchObject({ status: 'pending' });
    // The payment is not known yet, so the node is asked about it again, and what is noted is not written again.
    const applied = spyOn(world.store.observations, 'apply');
    const after = asked();
    await until(() => asked() > after + 1);
    expect(applied).not.toHaveBeenCalled();
    expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
  });
});

describe('to give up a spend', () => {
  test('ends the waits for it, which is not found any more', async () => {
    await open({ history: true });
    await begin(1, { state: 'asked' });
    const { index } = samplePayment(1);
    const { signal } = new AbortController();
    const waiting = waitForFinal(owner, index, signal).catch((error: unknown) => error);
    await until(() => owner.feed.standing?.state === 'caught_up', 'it is followed');
    await turns(20);
    await owner.resolver.giveUp(index);
    expect(await waiting).toMatchObject({ kind: 'notFound' });
  });

  test('ends no wait for one that the node has shown', async () => {
    const report = async (own: SendIdentity) => shown(sent.pending(own), 1);
    const { payment } = await send(contextOf(owner), planOf(report));
    const waiting = waitForFinal(owner, payment.index, new AbortController().signal);
    await until(() => owner.feed.standing?.state === 'caught_up', 'it is followed');
    await owner.resolver.giveUp(payment.index);
    expect(await unfinished()).toMatchObject([{ state: 'known' }]);
    world.fake.push({ payment: sent.done(payment), attempt: 1 });
    expect(await waiting).toMatchObject({ status: 'completed' });
  });

  test('and to show one is done once', async () => {
    const { spends, journal } = world.store;
    const shows = spyOn(journal, 'show');
    await sendIntoSilence(1);
    await begin(2, { state: 'begun' });
    await owner.resolver.giveUp(samplePayment(2).index);
    const abandons = spyOn(spends, 'abandon');
    await owner.resolver.ready();
    await until(() => asked() >= 3);
    expect([shows.mock.calls.length, abandons.mock.calls.length]).toEqual([1, 0]);
  });

  test('lets the feed close that was opened for it', async () => {
    const refuse = async (): Promise<SendReport> => {
      expect(feedOf(owner).busy).toBe(true);
      return { state: 'refused', error: refused('No route.') };
    };
    expect(await throwing(send(contextOf(owner), planOf(refuse)))).toThrow('No route.');
    expect(feedOf(owner).busy).toBe(false);
  });
});

describe('the work', () => {
  test('goes on where what it notes cannot be stored', async () => {
    const { observations } = world.store;
    const { apply } = observations;
    let failures = 2;
    Object.assign(observations, {
      apply: (...given: Parameters<typeof apply>) =>
        given[1].observations.length > 0 && failures-- > 0
          ? Promise.reject(new ApiError('overCapacity', 'The disk is full.'))
          : apply(...given),
    });
    const { identity } = await sendIntoSilence();
    world.elapsedMs = 20_000;
    await until(async () => (await stored(identity))?.statusMsg === 'not seen at the node yet');
    expect(failures).toBeLessThan(0);
  });

  const isAsking = (ms: number) => ms < 1000;

  test('is done once for all spends, keeps the wallet open, and ends with them', async () => {
    const pauses: number[] = [];
    world.pause = (ms, signal) => {
      pauses.push(ms);
      return sleep(ms, signal);
    };
    const sends = [await sendIntoSilence(1), await sendIntoSilence(2), await sendIntoSilence(3)];
    await until(() => pauses.filter(isAsking).length >= 3);
    expect(resolverOf(owner).busy).toBe(true);
    // Each pause is longer than the one before, which those of several workers would not be.
    expect(pauses.filter(isAsking)).toEqual(pauses.filter(isAsking).toSorted((a, b) => a - b));
    expect(new Set(pauses.filter(isAsking)).size).toBeGreaterThanOrEqual(3);
    for (const [nth, { identity }] of sends.entries()) {
      const payment = sent.done(identity, nth + 1);
      await owner.feed.observe({ payment, attempt: nth + 1 }, owner.node);
    }
    await until(() => !resolverOf(owner).busy, 'the work has ended');
    expect(await unfinished()).toEqual([]);
  });

  describe('asks again', () => {
    const pauses: number[] = [];
    beforeEach(() => {
      pauses.length = 0;
      world.pause = (ms, signal) => {
        pauses.push(ms);
        return sleep(1, signal);
      };
    });

    test('after pauses that double from 0.2 to 5 seconds, each up to a quarter shorter', async () => {
      await sendIntoSilence();
      await until(() => pauses.length >= 7);
      expect(pauses.slice(0, 7)).toEqual([150, 300, 600, 1200, 2400, 3750, 3750]);
    });

    test('after the shortest pause about a spend that is added as the work ends', async () => {
      const { spends } = world.store;
      const { unfinished: read } = spends;
      await spends.begin(WALLET, newSpend(samplePayment(2), { afterAttempt: 3 }), budgetRules);
      Object.assign(spends, {
        unfinished: async () => {
          Object.assign(spends, { unfinished: read });
          void owner.resolver.resolve(samplePayment(2).index);
          await turns(3);
          return [];
        },
      });
      await owner.resolver.resolve(samplePayment(1).index);
      await until(() => pauses.length >= 2);
      expect(pauses.slice(0, 2)).toEqual([150, 300]);
    });
  });

  test('is begun no more once the wallet is stopped', async () => {
    const { identity } = await sendIntoSilence();
    world.kill();
    await until(() => !resolverOf(owner).busy, 'the work has ended');
    const before = asked();
    await owner.resolver.resolve(identity.index);
    expect([resolverOf(owner).busy, asked()]).toEqual([false, before]);
  });

  test('goes on with a spend that is added at the very moment in which it ends', async () => {
    const { spends } = world.store;
    const { unfinished: read } = spends;
    // Without a write in between, the moments can be tried one after another.
    world.store.journal.show = async () => null;
    world.pause = (_ms, signal) => sleep(1, signal);
    for (let turns = 0; turns < 30; turns++) {
      const payment = samplePayment(turns + 10);
      await spends.begin(WALLET, newSpend(payment, { afterAttempt: 3 }), budgetRules);
      const added = Promise.withResolvers<void>();
      world.fake.sendOutcome = never;
      // The row is not read by the work that ends, as if it were written just afterwards.
      Object.assign(spends, {
        unfinished: async (walletId: string) => {
          Object.assign(spends, { unfinished: read });
          await read(walletId);
          void owner.resolver.resolve(payment.index).then(added.resolve);
          for (let turn = 0; turn < turns; turn++) await null;
          return [];
        },
      });
      await owner.resolver.resolve(samplePayment(1).index);
      await added.promise;
      await until(async () => (await read(WALLET)).length === 0, `it is asked about (${turns})`);
      await until(() => !resolverOf(owner).busy, 'the work has ended');
    }
  });

  test('is not waited for by the next request, which gives up what is left before it goes on', async () => {
    const pauses = heldPauses();
    world.pause = pauses.pause;
    await owner.resolver.ready();
    await begin(1, { state: 'begun' });
    const { abandon } = world.store.spends;
    Object.assign(world.store.spends, {
      abandon: () => Promise.reject(new ApiError('overCapacity', 'The disk is full.')),
    });
    expect(await throwing(owner.resolver.giveUp(samplePayment(1).index))).toThrow('disk is full');
    await pauses.begun(isAsking);
    Object.assign(world.store.spends, { abandon });
    await owner.resolver.ready();
    expect(await unfinished()).toEqual([]);
  });

  test('gives up what could not be given up at once, and frees its key', async () => {
    await world.store.spends.begin(
      WALLET,
      newSpend(samplePayment(1), { state: 'begun' }),
      budgetRules,
    );
    const { abandon } = world.store.spends;
    let failures = 3;
    Object.assign(world.store.spends, {
      abandon: (...given: Parameters<typeof abandon>) =>
        failures-- > 0
          ? Promise.reject(new ApiError('overCapacity', 'The disk is full.'))
          : abandon(...given),
    });
    expect(await throwing(owner.resolver.giveUp(samplePayment(1).index))).toThrow('disk is full');
    await until(async () => (await unfinished()).length === 0, 'the spend is given up');
    await until(() => !resolverOf(owner).busy, 'the work has ended');
  });
});

describe('a node out of reach', () => {
  /** The pause before the node's silence is looked at, once a second; the first ones before questions are shorter. */
  const beforeLooking = (ms: number) => ms === 1000;
  const beforeAsking = (ms: number) => ms < 1000;

  test('does not show the payment either, which says so after 20 seconds', async () => {
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    const { identity } = await sendIntoSilence();
    await until(() => asked() >= 1);
    world.elapsedMs = 20_000;
    await until(async () => (await stored(identity))?.statusMsg === 'not seen at the node yet');
    expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
  });

  test('ends a blocking call after 60 seconds of silence with error 3, and the payment goes on', async () => {
    const pauses = heldPauses();
    world.pause = pauses.pause;
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    const waiting = sendAndWait(contextOf(owner), planOf(silence)).then(
      () => 'it ended well',
      (error: unknown) => error,
    );
    let ended = false;
    void waiting.then(() => {
      ended = true;
    });
    await pauses.begun(beforeAsking);
    // The silence began with the first question, and the next ones do not begin it anew.
    world.elapsedMs = 30_000;
    await pauses.pass(beforeAsking);
    world.elapsedMs = 59_999;
    await pauses.pass(beforeLooking);
    await pauses.pass(beforeLooking);
    expect(ended).toBe(false);
    world.elapsedMs = 60_000;
    await pauses.end(beforeLooking);
    const [spend] = await unfinished();
    expect(await waiting).toMatchObject({
      kind: 'unreachable',
      data: { sent: 'unknown', index: spend?.payment.index },
    });
    expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
  });

  test("ends a call that waits for another program's payment, and names that payment to who may see it alone", async () => {
    const { wallets } = await world.start();
    const make = async (scopes: readonly Scope[]) => {
      const request = clientRequest(scopes);
      const { credentials } = await createClient(owner, request, randomNames);
      return wallets.open(credentials);
    };
    const payer = await make(['send']);
    const reader = await make(['send', 'read_payments']);
    const others = samplePayment(1);
    await payer.feed.observeOnce({ payment: others, attempt: 5 }, payer.node);
    for (const [session, data] of [
      [payer, { sent: 'unknown' }],
      [reader, { sent: 'unknown', index: others.index }],
    ] as const) {
      const pauses = heldPauses();
      world.pause = pauses.pause;
      let brokenForMs = 59_999;
      feedOf(session).brokenForMs = () => brokenForMs;
      const waiting = sendAndWait(contextOf(session), planOf(silence)).then(
        () => 'it ended well',
        (error: unknown) => error,
      );
      let ended = false;
      void waiting.then(() => {
        ended = true;
      });
      await pauses.pass(beforeLooking);
      await pauses.pass(beforeLooking);
      expect(ended).toBe(false);
      brokenForMs = 60_000;
      await pauses.end(beforeLooking);
      await until(() => ended, 'the call has ended');
      const error = (await waiting) as ApiError;
      expect([error.kind, error.data]).toEqual(['unreachable', data]);
    }
    expect(await unfinished()).toEqual([]);
    expect(await world.store.journal.get(WALLET, others.index)).toMatchObject({
      status: 'pending',
    });
  });

  test('ends the wait of a spend that has given way, which leads to the payment in its place', async () => {
    const pauses = heldPauses();
    world.pause = pauses.pause;
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    const waiting = sendAndWait(contextOf(owner), planOf(silence)).then(
      () => 'it ended well',
      (error: unknown) => error as ApiError,
    );
    await pauses.begun(beforeLooking);
    const [spend] = await unfinished();
    const index = spend?.payment.index as SendIdentity['index'];
    const others = samplePayment(1);
    await owner.feed.observe(
      { payment: others, attempt: null, answers: { index, isTaken: true } },
      owner.node,
    );
    expect(await unfinished()).toEqual([]);
    expect((await world.store.journal.get(WALLET, index))?.index).toBe(others.index);
    let ended = false;
    void waiting.then(() => {
      ended = true;
    });
    feedOf(owner).brokenForMs = () => 60_000;
    await pauses.end(beforeLooking);
    await until(() => ended, 'the call has ended');
    expect(await waiting).toMatchObject({ kind: 'unreachable', data: { sent: 'unknown', index } });
  });

  for (const [what, history, end, isEnded] of [
    ['of a payment under way, on a node that is journaled', false, null, true],
    ['of a payment under way, where only the node tells of payments', true, null, true],
    ['of a payment that is over', false, sent.done, false],
  ] as const) {
    test(`${isEnded ? 'ends' : 'does not end'} the wait ${what}`, async () => {
      await open({ history });
      const pauses = heldPauses();
      const { identity } = await sendIntoSilence();
      world.pause = pauses.pause;
      if (end) await owner.feed.observe({ payment: end(identity), attempt: 1 }, owner.node);
      feedOf(owner).brokenForMs = () => 60_000;
      const stop = new AbortController();
      let ended = false;
      void owner.resolver.outOfReach(identity.index, stop.signal).catch(() => {
        ended = true;
      });
      await pauses.end(beforeLooking);
      if (isEnded) await until(() => ended, 'the wait has ended');
      else await pauses.pass(beforeLooking);
      expect(ended).toBe(isEnded);
      stop.abort();
    });
  }

  test('is not one that answers, however long the payment takes', async () => {
    const pauses = heldPauses();
    world.pause = pauses.pause;
    const { identity } = await sendIntoSilence();
    const stop = new AbortController();
    let ended = false;
    void owner.resolver.outOfReach(identity.index, stop.signal).catch(() => {
      ended = true;
    });
    await pauses.begun(beforeLooking);
    world.elapsedMs = 600_000;
    await pauses.pass(beforeLooking);
    await pauses.pass(beforeLooking);
    expect(ended).toBe(false);
    stop.abort();
  });

  test('is forgotten once nothing is asked about any more: a later wait is not ended for it', async () => {
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    const { identity } = await sendIntoSilence(1);
    await until(() => asked() >= 1);
    await owner.feed.observe({ payment: sent.done(identity), attempt: 1 }, owner.node);
    await until(() => !resolverOf(owner).busy, 'the work has ended');
    const report = async (own: SendIdentity) => shown(sent.pending(own, 2), 2);
    const { payment } = await send(contextOf(owner), planOf(report, { number: 2 }));
    world.elapsedMs = 600_000;
    const pauses = heldPauses();
    world.pause = pauses.pause;
    const stop = new AbortController();
    let ended = false;
    void owner.resolver.outOfReach(payment.index, stop.signal).catch(() => {
      ended = true;
    });
    await pauses.pass(beforeLooking);
    await pauses.pass(beforeLooking);
    expect(ended).toBe(false);
    stop.abort();
  });

  test('that gives a word in between is not silent', async () => {
    const pauses = heldPauses();
    world.pause = pauses.pause;
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    const stop = new AbortController();
    const waiting = sendAndWait(contextOf(owner, { signal: stop.signal }), planOf(silence)).then(
      () => 'it ended well',
      (error: unknown) => error,
    );
    await pauses.begun(beforeAsking);
    world.elapsedMs = 40_000;
    world.fake.sendOutcome = async () => ({ state: 'unknown' });
    await pauses.pass(beforeAsking);
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    await pauses.pass(beforeAsking);
    world.elapsedMs = 80_000;
    await pauses.pass(beforeLooking);
    await pauses.pass(beforeLooking);
    stop.abort(refused('the test is over'));
    expect(await waiting).toMatchObject({ kind: 'refused', data: { sent: 'unknown' } });
  });
});

describe('after a kill', () => {
  const restart = async () => {
    world.kill();
    ({ owner } = await world.start());
  };

  for (const history of [false, true]) {
    const kind = history ? 'a node with a history' : 'a node that is journaled';

    test(`what was begun is given up, and its key is free (${kind})`, async () => {
      await open({ history });
      const scope = { walletId: WALLET, caller: 'owner', key: 'k' };
      await world.store.idempotency.begin(scope, 'print', 1);
      await begin(1, { state: 'begun', idempotencyKey: 'k' });
      await restart();
      await owner.resolver.ready();
      expect([await unfinished(), asked()]).toEqual([[], 0]);
      expect(await world.store.watches.has(WALLET)).toBe(false);
      expect(await world.store.journal.open(WALLET)).toEqual([]);
      expect(await world.store.idempotency.begin(scope, 'print', 1)).toMatchObject({ index: null });
    });

    test(`what was asked for is asked about, and stays pending until the node shows it (${kind})`, async () => {
      await open({ history });
      await begin(1, { state: 'asked', afterAttempt: history ? null : 3 });
      await restart();
      await owner.resolver.ready();
      expect(world.fake.questions).toHaveLength(1);
      expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
      world.fake.sendOutcome = async ({ payment }) => shown(sent.done(payment), history ? null : 4);
      await until(async () => (await unfinished()).length === 0);
      expect(await world.store.watches.has(WALLET)).toBe(false);
    });
  }

  test('nothing is sent before what was begun is given up', async () => {
    await begin(1, { state: 'begun' });
    await restart();
    const { abandon } = world.store.spends;
    Object.assign(world.store.spends, {
      abandon: () => Promise.reject(new ApiError('overCapacity', 'The disk is full.')),
    });
    expect(await throwing(owner.resolver.ready())).toThrow('The disk is full.');
    Object.assign(world.store.spends, { abandon });
    await owner.resolver.ready();
    expect(await unfinished()).toEqual([]);
  });

  test('what never was is given up where only the node tells of payments, and failed where the journal does', async () => {
    for (const history of [true, false]) {
      await open({ history });
      const { index } = samplePayment(1);
      const scope = { walletId: WALLET, caller: 'owner', key: 'k' };
      await world.store.idempotency.begin(scope, 'print', 1);
      const afterAttempt = history ? null : 3;
      await begin(1, { state: 'asked', afterAttempt, idempotencyKey: 'k' });
      await restart();
      world.fake.sendOutcome = never;
      await owner.resolver.ready();
      expect(await unfinished()).toEqual([]);
      const row = await world.store.journal.get(WALLET, index);
      expect(row?.status).toBe(history ? undefined : 'failed');
      // A key whose payment was given up is free; one whose payment failed has its outcome.
      const claimed = await world.store.idempotency.begin(scope, 'print', 1);
      expect(claimed).toMatchObject({ index: history ? null : index });
    }
  });

  test('what the node has shown is left to the feed', async () => {
    await begin(1, { state: 'asked', afterAttempt: 3 });
    await owner.feed.record({ payment: samplePayment(1), attempt: 4 }, owner.node);
    await restart();
    await owner.resolver.ready();
    expect(asked()).toBe(0);
    expect(await unfinished()).toMatchObject([{ state: 'known', attempt: 4 }]);
  });

  test("what version 0.2 took for its own on a node with labels gives way to another program's row", async () => {
    await begin(1, { state: 'asked' });
    await owner.feed.record({ payment: samplePayment(1), attempt: null }, owner.node);
    expect(await unfinished()).toMatchObject([{ state: 'known', attempt: null }]);
    const index = paymentIndex(77, idOf(samplePayment(1)));
    const other = sampleDone(1, { index, createdAtMs: 77 });
    await owner.feed.record({ payment: other, attempt: null }, owner.node);
    await restart();
    world.fake.sendOutcome = async () => ({ state: 'taken', payment: other, attempt: null });
    await owner.resolver.ready();
    expect(await unfinished()).toEqual([]);
    expect(await world.store.journal.updatedAfter(WALLET, null, 10)).toMatchObject([{ index }]);
    expect(await world.store.journal.get(WALLET, samplePayment(1).index)).toMatchObject({ index });
  });

  test('what the node has shown has not failed where a look-up does not find it any more', async () => {
    await begin(1, { state: 'asked' });
    await owner.feed.record({ payment: samplePayment(1), attempt: null }, owner.node);
    await restart();
    world.fake.sendOutcome = never;
    await owner.resolver.ready();
    expect(asked()).toBe(1);
    expect(await unfinished()).toMatchObject([{ state: 'known' }]);
    expect(await stored(samplePayment(1))).toMatchObject({ status: 'pending' });
  });

  test('a node out of reach delays writes with error 3 and nothing sent, and is asked anew by the next', async () => {
    await begin(1, { state: 'asked', afterAttempt: 3 });
    await restart();
    world.fake.sendOutcome = () => Promise.reject(unreachable());
    let starts = 0;
    const plan = planOf(
      async (own) => {
        starts++;
        return shown(sent.done(own, 2), 9);
      },
      { number: 2 },
    );
    expect(await rejection(send(contextOf(owner), plan))).toMatchObject({
      kind: 'unreachable',
      data: { sent: 'no' },
    });
    expect([starts, await unfinished()]).toMatchObject([0, [{ payment: { createdAtMs: 1 } }]]);
    world.fake.sendOutcome = async () => ({ state: 'unknown' });
    expect((await send(contextOf(owner), plan)).payment.status).toBe('completed');
    expect(starts).toBe(1);
  });

  test('no credentials are needed where nothing is unfinished, and asked for where something is', async () => {
    const resolver = () =>
      new Resolver({
        walletId: WALLET,
        store: world.store,
        feed: feedOf(owner),
        approvals: { resume: async () => undefined },
        log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
        random: () => 0,
        elapsedMs: () => 0,
        node: async () => null,
      });
    await resolver().ready();
    await begin(1, { state: 'asked', afterAttempt: 3 });
    expect(await rejection(resolver().ready())).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('send a request with valid ones'),
    });
  });

  test('the node is compared with once, and not at all where nothing is unfinished', async () => {
    await owner.resolver.ready();
    expect(asked()).toBe(0);
    await begin(1, { state: 'asked', afterAttempt: 3 });
    await restart();
    world.fake.sendOutcome = async ({ payment }) => shown(sent.done(payment), 4);
    await Promise.all([owner.resolver.ready(), owner.resolver.ready()]);
    await owner.resolver.ready();
    expect(asked()).toBe(1);
  });
});

describe('on chain', () => {
  const address = addressOf(1);
  const onchain = {
    rail: 'onchain',
    again: 'never',
    details: { address },
    sign: async () => SIGNED,
  } as const;
  const publishes = () => world.fake.onchainCalls.filter((call) => call.startsWith('publish'));

  test('a payment that the node takes when it is published again after 20 seconds was seen', async () => {
    world.fake.publish = silence;
    const { payment } = await send(contextOf(owner), planOf(silence, onchain));
    await until(() => publishes().length >= 1);
    world.fake.publish = async () =>
      shown({ ...sent.pending(payment), rail: 'onchain', statusMsg: 'broadcasted' });
    world.elapsedMs = 20_000;
    await until(async () => (await unfinished())[0]?.state === 'known');
    // The work ends with the spend; what it noted is stored by then.
    await until(() => !resolverOf(owner).busy);
    expect((await stored(payment))?.statusMsg).toBe('broadcasted');
  });

  test('an unknown publish is repeated with the same bytes, its coins locked anew before, until it is known', async () => {
    world.fake.publish = silence;
    const { payment } = await send(contextOf(owner), planOf(silence, onchain));
    await until(() => publishes().length >= 2);
    expect(new Set(publishes())).toEqual(new Set([`publish ${payment.index} ${SIGNED.txHex}`]));
    expect(world.fake.onchainCalls.slice(0, 2)).toEqual([
      `renew ${SIGNED.txid}`,
      `publish ${payment.index} ${SIGNED.txHex}`,
    ]);
    expect(world.fake.questions[0]?.signed).toEqual(SIGNED);
    world.fake.publish = async () =>
      shown({ ...sent.pending(payment), rail: 'onchain', txid: SIGNED.txid });
    await until(async () => (await unfinished())[0]?.state === 'known');
    expect(await stored(payment)).toMatchObject({ status: 'pending', txid: SIGNED.txid });
  });

  test('after a kill a payment that the node has shown is not asked about', async () => {
    const payment = samplePayment(1, { rail: 'onchain', address });
    await world.store.spends.begin(WALLET, newSpend(payment, { plan: null }), budgetRules);
    await owner.feed.record({ payment, attempt: null }, owner.node);
    world.kill();
    ({ owner } = await world.start());
    await owner.resolver.ready();
    expect([asked(), await unfinished()]).toMatchObject([0, [{ state: 'known' }]]);
  });

  test('after a kill the stored bytes are published, and nothing is signed again', async () => {
    await world.store.spends.begin(
      WALLET,
      newSpend(samplePayment(1, { rail: 'onchain', address }), { plan: JSON.stringify(SIGNED) }),
      budgetRules,
    );
    world.kill();
    ({ owner } = await world.start());
    world.fake.publish = async () =>
      shown(samplePayment(1, { rail: 'onchain', txid: SIGNED.txid }));
    await owner.resolver.ready();
    expect(publishes()).toEqual([`publish ${samplePayment(1).index} ${SIGNED.txHex}`]);
    expect(world.fake.onchainCalls).not.toContain('sign');
    expect(await unfinished()).toMatchObject([{ state: 'known' }]);
  });
});
