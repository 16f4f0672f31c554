import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { refused } from '../../../src/model/errors.ts';
import type { Payment } from '../../../src/model/payment.ts';
import type { SendReport } from '../../../src/nodes/node.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import { planSpontaneousPayment } from '../../../src/wallet/pay/spontaneous.ts';
import { type EffectNames, randomNames } from '../../../src/wallet/session/effect-names.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { unreachable } from '../fake-node.ts';
import { type WalletWorld, walletWorld } from '../wallet-world.ts';
import { contextOf, shown } from './plan.ts';

setDefaultTimeout(SLOW_TEST_MS);

const FEES = { ppm: 10_000, leastMsat: 10_000n };
const NODE = `02${'ab'.repeat(32)}`;
const REQUEST = {
  nodePk: NODE,
  amountMsat: 5000n,
  maxFeeMsat: null,
  message: 'thank you',
  personalNote: 'mine',
  externalId: null,
};

let world: WalletWorld;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ owner } = await world.start());
  world.fake.paySpontaneous = silence;
});
afterEach(() => world.close());

const silence = async (): Promise<SendReport> => ({ state: 'unknown', error: unreachable() });
const unfinished = () => world.store.spends.unfinished(WALLET);
const orders = () => world.fake.spontaneous;
/** The first order, as it is sent again. */
const repeated = () => ({
  ...(orders()[0] as NonNullable<ReturnType<typeof orders>[0]>),
  isRepeat: true,
});
const asked = () => world.fake.questions.length;
const pay = (names: EffectNames = randomNames) =>
  send(contextOf(owner, { names }), planSpontaneousPayment(REQUEST, owner, FEES, names));
const hashOf = (preimage: string) =>
  createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');

/** Resolves once the node was asked once more about what became of the payment. */
async function askedAgain(): Promise<void> {
  const before = asked();
  await until(() => asked() > before);
}

function completed(payment: Payment, preimage: string): Payment {
  return { ...payment, status: 'completed', statusMsg: 'completed', preimage, finalizedAtMs: 9 };
}

test('the preimage is in the row of the spend before the node is asked', async () => {
  let plan: string | null = null;
  world.fake.paySpontaneous = async (command) => {
    const [spend] = await unfinished();
    plan = spend?.plan ?? null;
    expect(spend).toMatchObject({ state: 'asked', payment: { hash: hashOf(command.preimage) } });
    return silence();
  };
  await pay();
  expect(JSON.parse(plan ?? '')).toEqual({
    nodePk: NODE,
    preimage: orders()[0]?.preimage ?? '',
    maxFeeMsat: '10000',
  });
});

test('an unknown one is sent again with its own preimage after 20 seconds, and not before', async () => {
  const { payment } = await pay();
  await until(() => asked() >= 1);
  world.elapsedMs = 19_999;
  await askedAgain();
  expect(orders()).toHaveLength(1);
  world.elapsedMs = 20_000;
  await until(() => orders().length === 2);
  expect(orders()[1]).toEqual(repeated());
  // The next repeat is 20 seconds later.
  await askedAgain();
  expect(orders()).toHaveLength(2);
  world.fake.paySpontaneous = async ({ preimage }) => shown(completed(payment, preimage), 1);
  world.elapsedMs = 40_000;
  await until(async () => (await unfinished()).length === 0);
  expect(await world.store.journal.get(WALLET, payment.index)).toMatchObject({
    status: 'completed',
    message: 'thank you',
    personalNote: 'mine',
    externalId: null,
  });
});

test('a refusal of the repeat is no end, because the first request may have been taken', async () => {
  const { payment } = await pay();
  await until(() => asked() >= 1);
  world.fake.paySpontaneous = async () => ({ state: 'refused', error: refused('no funds') });
  world.elapsedMs = 20_000;
  await until(() => orders().length === 2);
  await askedAgain();
  expect(await unfinished()).toMatchObject([{ state: 'asked' }]);
  expect(await world.store.journal.get(WALLET, payment.index)).toMatchObject({
    status: 'pending',
    statusMsg: 'not seen at the node yet',
  });
});

test('after a kill it is sent again from its row', async () => {
  await pay();
  world.kill();
  ({ owner } = await world.start());
  await owner.resolver.ready();
  await until(() => asked() >= 1);
  world.elapsedMs = 20_000;
  await until(() => orders().length === 2);
  expect(orders()[1]).toEqual(repeated());
});

test('names that a key gives make one payment, whatever became of it', async () => {
  const names = { ...randomNames, isKeyed: true, bytes: () => new Uint8Array(32).fill(7) };
  world.fake.paySpontaneous = async ({ index, createdAtMs }) =>
    shown({ ...first.payment, index, createdAtMs, status: 'failed', finalizedAtMs: 9 }, 1);
  const first = await send(contextOf(owner, { names }), {
    ...planSpontaneousPayment(REQUEST, owner, FEES, names),
    start: silence,
  });
  await until(() => asked() >= 1);
  world.elapsedMs = 20_000;
  await until(async () => (await unfinished()).length === 0);
  const again = await pay(names);
  expect(again).toMatchObject({ begun: false, payment: { status: 'failed' } });
  expect(again.payment.index).toBe(first.payment.index);
});
