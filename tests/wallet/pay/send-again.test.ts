import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { PayInvoiceCommand, SendReport } from '../../../src/nodes/node.ts';
import { planInvoicePayment } from '../../../src/wallet/pay/invoice.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { unreachable } from '../fake-node.ts';
import { type WalletWorld, walletWorld } from '../wallet-world.ts';
import { FEE_MSAT, INVOICE, ModelNode } from './model-node.ts';
import { contextOf } from './plan.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
let owner: Session;
let orders: PayInvoiceCommand[];
/** What the node reports of an order. */
let report: (order: PayInvoiceCommand) => SendReport;

beforeEach(async () => {
  world = await walletWorld();
  orders = [];
  report = () => ({ state: 'unknown', error: unreachable() });
  ({ owner } = await world.start());
});
afterEach(() => world.close());

function node({ repeatsSafely }: { readonly repeatsSafely: boolean }): void {
  Object.assign(world.fake.node, {
    repeatsSafely,
    payInvoice: async (order: PayInvoiceCommand) => {
      orders.push(order);
      return report(order);
    },
  });
}

async function sendIntoSilence() {
  const request = {
    invoice: INVOICE,
    amountMsat: 1000n,
    maxFeeMsat: 55n,
    personalNote: 'mine',
    externalId: null,
    message: null,
  };
  const plan = planInvoicePayment(request, owner, { ppm: 0, leastMsat: 0n });
  return (await send(contextOf(owner), plan)).payment;
}
const unfinished = () => world.store.spends.unfinished(WALLET);
const asked = () => world.fake.questions.length;
const askedAgain = async () => {
  const before = asked();
  await until(() => asked() > before + 1);
};

/** The attempt of an order, completed. */
function paid({ index, createdAtMs, amountMsat }: PayInvoiceCommand): SendReport {
  const model = new ModelNode('numbered');
  const attempt = model.begin(null, amountMsat);
  if (!attempt) throw new Error('the model has an attempt');
  attempt.status = 'completed';
  const seen = model.seen(attempt);
  return { state: 'known', ...seen, payment: { ...seen.payment, index, createdAtMs } };
}

test('an invoice that the node does not show is sent again after 20 seconds, with the same terms', async () => {
  node({ repeatsSafely: true });
  const { index } = await sendIntoSilence();
  world.elapsedMs = 19_999;
  await askedAgain();
  expect(orders).toHaveLength(1);
  report = paid;
  world.elapsedMs = 20_000;
  await until(async () => (await unfinished()).length === 0);
  const [first, second, ...more] = orders;
  expect(more).toEqual([]);
  expect(second).toMatchObject({
    index,
    createdAtMs: first?.createdAtMs,
    amountMsat: 1000n,
    maxFeeMsat: 55n,
    personalNote: 'mine',
    externalId: null,
    invoice: { text: INVOICE.text },
    isRepeat: true,
  });
  expect(first?.isRepeat).toBeUndefined();
  expect(await world.store.journal.get(WALLET, index)).toMatchObject({
    status: 'completed',
    feesMsat: FEE_MSAT,
  });
});

test('after a kill it is sent again from its row', async () => {
  node({ repeatsSafely: true });
  const { index } = await sendIntoSilence();
  world.kill();
  ({ owner } = await world.start());
  await owner.resolver.ready();
  expect(orders).toHaveLength(1);
  report = paid;
  await askedAgain();
  world.elapsedMs = 20_000;
  await until(async () => (await unfinished()).length === 0);
  expect(await world.store.journal.get(WALLET, index)).toMatchObject({ status: 'completed' });
  expect(orders).toHaveLength(2);
});

test('a refusal of the repeat says nothing of the first request: the payment stays pending', async () => {
  node({ repeatsSafely: true });
  const { index } = await sendIntoSilence();
  report = () => ({ state: 'refused', error: unreachable() });
  world.elapsedMs = 20_000;
  await until(() => orders.length === 2);
  await askedAgain();
  expect(await unfinished()).toMatchObject([{ state: 'asked', payment: { index } }]);
  expect(orders).toHaveLength(2);
  world.elapsedMs = 40_000;
  await until(() => orders.length === 3);
});

test('where the node may pay a hash twice, it is not sent again', async () => {
  node({ repeatsSafely: false });
  await sendIntoSilence();
  world.elapsedMs = 60_000;
  await askedAgain();
  expect(orders).toHaveLength(1);
  expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
});

test('what the node tells while it is sent again is not taken for its own where the answer is lost', async () => {
  node({ repeatsSafely: true });
  await sendIntoSilence();
  const { payInvoice } = world.fake.node;
  Object.assign(world.fake.node, {
    payInvoice: async (order: PayInvoiceCommand) => {
      const model = new ModelNode('numbered');
      const attempt = model.begin(null, order.amountMsat);
      if (!attempt) throw new Error('the model has an attempt');
      attempt.status = 'failed';
      await owner.feed.observe(model.seen(attempt), owner.node);
      return payInvoice(order);
    },
  });
  world.elapsedMs = 20_000;
  await until(() => orders.length === 2);
  await askedAgain();
  expect(await unfinished()).toMatchObject([{ state: 'asked', attempt: null }]);
});
