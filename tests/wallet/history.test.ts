import { afterEach, beforeEach, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { endedCredentials } from '../../src/model/errors.ts';
import { rejection } from '../support/rejection.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { unreachable } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

/** The session of a wallet with a stored pending payment, whose node answers look-ups so. */
async function walletWith(look: () => Promise<null>) {
  const { owner } = await world.start();
  const payment = samplePayment(1);
  await owner.feed.record({ payment, attempt: 1 }, owner.node);
  world.fake.node.payment = look;
  return { owner, payment };
}

test('a stored payment is returned though the node never answers', async () => {
  const { owner, payment } = await walletWith(() => new Promise(() => undefined));
  expect(await owner.history.payment(payment.index)).toMatchObject({ index: payment.index });
});

test('a stored payment is returned though the node is out of reach', async () => {
  const { owner, payment } = await walletWith(() => Promise.reject(unreachable()));
  expect(await owner.history.payment(payment.index)).toMatchObject({ index: payment.index });
});

test('a stored payment is not returned to credentials that the node does not accept any more', async () => {
  const { owner, payment } = await walletWith(() => Promise.reject(endedCredentials()));
  expect(await rejection(owner.history.payment(payment.index))).toMatchObject({
    kind: 'unauthenticated',
  });
});

test('what a node answers with is told as it was stored, which is read only where it has not changed', async () => {
  const { owner } = await world.start();
  const payment = samplePayment(1);
  const read = spyOn(owner.store.journal, 'get');
  for (const reads of [0, 1]) {
    const told = await owner.feed.record({ payment, attempt: 1 }, owner.node);
    expect(read).toHaveBeenCalledTimes(reads);
    const stored: unknown = await owner.history.stored(payment.index);
    expect(stored).toEqual(told);
    read.mockClear();
  }
  read.mockRestore();
});
