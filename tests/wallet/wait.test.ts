import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { PaymentIndex } from '../../src/model/payment-index.ts';
import type { SendReport } from '../../src/nodes/node.ts';
import { send } from '../../src/wallet/pay/send.ts';
import { waitForFinal } from '../../src/wallet/read/wait.ts';
import { rejection, throwing } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { unreachable } from './fake-node.ts';
import { contextOf, planOf } from './pay/plan.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

const { index } = samplePayment(1);
const NEVER = new AbortController().signal;

/** Has the node leave questions for payments open. Resolves when the first one is asked. */
function nodeHangs(): Promise<void> {
  const asked = Promise.withResolvers<void>();
  world.fake.payment = () => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  return asked.promise;
}

test('a wait times out although the node does not answer', async () => {
  const { owner } = await world.start();
  const asked = nodeHangs();
  const timeout = new AbortController();
  const waiting = waitForFinal(owner, index, timeout.signal);
  await asked;
  timeout.abort(new Error('time is over'));
  expect(await throwing(waiting)).toThrow('time is over');
});

test('a wait ends with its credential although the node does not answer', async () => {
  const { owner } = await world.start();
  const asked = nodeHangs();
  const revoked = new AbortController();
  const waiting = waitForFinal({ ...owner, ended: revoked.signal }, index, NEVER);
  await asked;
  revoked.abort(new Error('the credential has ended'));
  expect(await throwing(waiting)).toThrow('the credential has ended');
});

test('a wait learns from the feed what the node does not answer', async () => {
  const { owner } = await world.start();
  const asked = nodeHangs();
  const waiting = waitForFinal(owner, index, NEVER);
  await asked;
  await owner.feed.observe({ payment: sampleDone(1), attempt: null }, owner.node);
  expect(await waiting).toMatchObject({ index, status: 'completed' });
});

test('a payment that is final is returned although the wait has no time', async () => {
  const { owner } = await world.start();
  world.fake.shown.set(index, { payment: sampleDone(1), attempt: null });
  const over = AbortSignal.abort(new Error('time is over'));
  expect(await waitForFinal(owner, index, over)).toMatchObject({ index, status: 'completed' });
});

test('a wait for a payment that the node then refuses ends: it is not found', async () => {
  const { owner } = await world.start();
  await owner.feed.prepare(owner.node);
  const asked = Promise.withResolvers<string>();
  const answer = Promise.withResolvers<SendReport>();
  const sending = send(
    contextOf(owner),
    planOf((identity) => {
      asked.resolve(identity.index);
      return answer.promise;
    }),
  );
  const told = (await asked.promise) as PaymentIndex;
  const waits = [waitForFinal(owner, told, NEVER), waitForFinal(owner, told, NEVER)];
  expect(await Promise.race([...waits, owner.history.stored(told)])).toMatchObject({
    status: 'pending',
  });
  answer.resolve({ state: 'refused', error: unreachable() });
  expect(await rejection(sending)).toMatchObject({ data: { sent: 'no' } });
  for (const wait of waits) expect(await rejection(wait)).toMatchObject({ kind: 'notFound' });
});
