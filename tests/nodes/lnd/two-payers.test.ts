import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import type { Payment } from '../../../src/model/payment.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { createClient } from '../../../src/wallet/clients/clients.ts';
import { planInvoicePayment } from '../../../src/wallet/pay/invoice.ts';
import { sendAndWait } from '../../../src/wallet/pay/send.ts';
import { randomNames } from '../../../src/wallet/session/effect-names.ts';
import type { Session } from '../../../src/wallet/session/session.ts';
import { paymentJson } from '../../hostile/fake-lnd/payments.ts';
import { LndError } from '../../hostile/fake-lnd/rpc.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { rejection } from '../../support/rejection.ts';
import { WALLET } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { clientRequest } from '../../wallet/client-world.ts';
import { contextOf } from '../../wallet/pay/plan.ts';
import { feedOf, type WalletWorld, walletWorld } from '../../wallet/wallet-world.ts';
import { connectedOnFake } from './connected-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Two programs pay one invoice at one LND; each letter is a step of one of them, in the order of this list. */
const OURS = ['asks for the newest attempt', 'begins', 'is read by LND', 'is answered'] as const;
const THEIRS = ['pays', 'is told by the feed'] as const;
type Step = (typeof OURS)[number] | (typeof THEIRS)[number];

/** Every order of the six steps in which each program's own steps keep theirs. */
function orders(ours: readonly Step[], theirs: readonly Step[]): Step[][] {
  const [our] = ours;
  const [their] = theirs;
  if (our === undefined) return [[...theirs]];
  if (their === undefined) return [[...ours]];
  return [
    ...orders(ours.slice(1), theirs).map((rest) => [our, ...rest]),
    ...orders(ours, theirs.slice(1)).map((rest) => [their, ...rest]),
  ];
}

/** Long enough for the feed to tell of what a stream said. */
const MOMENT_MS = 60;
const AMOUNT_MSAT = 5000n;

/** A point at which our payment is held: the test waits until it is there, and lets it go on. */
function gate(where: string) {
  const opened = Promise.withResolvers<void>();
  let isReached = false;
  return {
    reached: () => until(() => isReached, `our payment is where ${where}`),
    open: opened.resolve,
    async pass() {
      isReached = true;
      await opened.promise;
    },
  };
}

let fake: FakeLnd;
let connected: Awaited<ReturnType<typeof connectedOnFake>>;
let world: WalletWorld;
let payer: Session;
let clientPk: string;
let release: () => void;
let gates: Record<'asked' | 'arrived' | 'read', ReturnType<typeof gate>>;
/** Whether LND has been asked for a payment that the store does not have, before ours begins. */
let isLookedUp: boolean;
/** Whether LND's answer to our request never arrives. */
let isAnswerLost: boolean;
let invoice: string;
let hash: string;

beforeEach(async () => {
  gates = {
    asked: gate('it knows the newest attempt'),
    arrived: gate('its request is at LND'),
    read: gate('LND has read its request'),
  };
  isLookedUp = false;
  isAnswerLost = false;
  fake = await startFakeLnd({
    onchainSat: 0n,
    hooks: {
      async intercept({ path, body }, response) {
        if (path !== '/v2/router/send') return false;
        await gates.arrived.pass();
        const said = sendOf(body);
        await gates.read.pass();
        if (isAnswerLost) response.destroy();
        else await saying(response, said);
        return true;
      },
    },
  });
  connected = await connectedOnFake(fake);
  const { node } = connected;
  world = await walletWorld({
    node: {
      ...node,
      async newestAttempt(id) {
        const newest = await node.newestAttempt(id);
        await gates.asked.pass();
        return newest;
      },
      async latestPayment(id) {
        const latest = await node.latestPayment(id);
        isLookedUp = true;
        return latest;
      },
    },
  });
  const { wallets, owner } = await world.start();
  const { client, credentials } = await createClient(
    owner,
    clientRequest(['send', 'read_payments'], {
      budget: { amountMsat: 100_000n, period: 'total', maxPaymentMsat: null },
    }),
    randomNames,
  );
  ({ clientPk } = client);
  payer = await wallets.open(credentials);
  release = payer.feed.hold();
  await feedOf(payer).caughtUp();
  // LND tells its newest block at once. The feed then reads the lists once more and rests: the streams alone tell.
  const reads = () => fake.received.filter(({ path }) => path.startsWith('/v1/transactions?'));
  await until(() => reads().length > 1, 'the feed has read the lists once more');
  ({ invoice, hash } = fake.payments.foreignInvoice({ amountMsat: AMOUNT_MSAT }));
  fake.payments.decide(hash, { end: 'hold' });
});
afterEach(async () => {
  release();
  await world.close();
  await connected.close();
  await fake.stop();
});

/** What LND says to a send: the payment that it made, or its refusal. */
function sendOf(body: string): { readonly hash: string } | LndError {
  const { payment_request: paymentRequest } = JSON.parse(body) as { payment_request: string };
  try {
    return fake.payments.send({ paymentRequest, amountMsat: 0n, feeLimitMsat: 1000n });
  } catch (error) {
    if (error instanceof LndError) return error;
    throw error;
  }
}

async function saying(response: ServerResponse, said: { hash: string } | LndError): Promise<void> {
  if (said instanceof LndError) {
    response.writeHead(409, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: said.grpcCode, message: said.message } }));
    return;
  }
  const tell = () =>
    response.write(`${JSON.stringify({ result: paymentJson(fake.payments.get(said.hash)) })}\n`);
  response.writeHead(200, { 'content-type': 'application/json' });
  tell();
  await until(() => fake.payments.get(said.hash).status !== 'IN_FLIGHT', 'it ended');
  tell();
  response.end();
}

/** Begins to pay the invoice, as a request to the sidecar does. */
function pay(): Promise<Payment> {
  const request = {
    invoice: decodeBolt11(invoice),
    amountMsat: null,
    maxFeeMsat: 1000n,
    personalNote: null,
    externalId: null,
    message: null,
  };
  const plan = planInvoicePayment(request, payer, { ppm: 0, leastMsat: 0n });
  const paid = sendAndWait(contextOf(payer), plan);
  paid.catch(() => undefined);
  return paid;
}

/** Another program pays the invoice. Returns whether LND made its payment. */
function theyPay(): boolean {
  try {
    fake.payments.send({ paymentRequest: invoice, amountMsat: 0n, feeLimitMsat: 1000n });
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(LndError);
    return false;
  }
}

/** Our payment up to where its request has reached LND, which has not read it yet. */
async function arrived(): Promise<{ readonly paid: Promise<Payment> }> {
  const paid = pay();
  gates.asked.open();
  await gates.arrived.reached();
  return { paid };
}

const rows = () => world.store.journal.updatedAfter(WALLET, null, 100);
const unfinished = () => world.store.spends.unfinished(WALLET);
const spentMsat = async () =>
  (await world.store.budgets.get(WALLET, clientPk, Date.now(), periodStart)).spentMsat;

/** Nobody can tell yet whose attempt it is. */
async function nothingIsToldOfIt(): Promise<void> {
  await Bun.sleep(MOMENT_MS);
  expect(await rows()).toEqual([]);
  expect(await unfinished()).toMatchObject([{ state: 'asked', attempt: null }]);
}

describe('another program pays the same invoice', () => {
  for (const order of orders(OURS, THEIRS)) {
    test(`is told apart, and is one row: ${order.map(worded).join(', ')}`, async () => {
      const isBefore = (one: Step, other: Step) => order.indexOf(one) < order.indexOf(other);
      const streamed = Promise.withResolvers<void>();
      fake.payments.streamed = streamed.promise;
      let isTheirs = false;
      let paid: Promise<Payment> | null = null;
      // A request that meets another program's payment waits for it, and asks LND for none.
      const isAsked =
        isBefore('asks for the newest attempt', 'pays') &&
        isBefore('begins', 'is told by the feed');
      const steps: Record<Step, () => Promise<unknown>> = {
        'asks for the newest attempt': async () => {
          paid = pay();
          await gates.asked.reached();
          // Both questions are on their way at once: what happens from now on, neither answer knows.
          const isStored = isBefore('is told by the feed', 'asks for the newest attempt');
          if (!isStored) await until(() => isLookedUp, 'LND was asked for the payment');
        },
        begins: async () => {
          gates.asked.open();
          if (isAsked) await gates.arrived.reached();
          else await until(async () => (await rows()).length > 0, 'theirs is met');
        },
        'is read by LND': async () => {
          gates.arrived.open();
          if (isAsked) await gates.read.reached();
        },
        'is answered': async () => {
          gates.read.open();
          const isOver = async () => (await unfinished()).every(({ state }) => state === 'known');
          await until(isOver, 'the answer is stored');
        },
        pays: async () => {
          isTheirs = theyPay();
        },
        'is told by the feed': async () => {
          streamed.resolve();
          if (isAsked && isBefore('is told by the feed', 'is answered')) await nothingIsToldOfIt();
          else await until(async () => (await rows()).length > 0, 'the feed told of it');
        },
      };
      for (const step of order) await steps[step]();

      expect(fake.payments.attempts.get(hash)).toBe(1);
      expect(isTheirs).toBe(isBefore('pays', 'is read by LND'));
      fake.payments.resolve(hash, { end: 'succeed' });
      const { index } = (await paid) as unknown as Payment;
      expect(await rows()).toMatchObject([{ index, hash, status: 'completed' }]);
      expect(await unfinished()).toEqual([]);
      expect(await spentMsat()).toBe(isTheirs ? 0n : AMOUNT_MSAT);
      const sends = fake.received.filter(({ path }) => path === '/v2/router/send');
      expect(sends).toHaveLength(isAsked ? 1 : 0);
    });
  }

  test('and fails just before our request arrives: our own attempt is not ended by it', async () => {
    const { paid } = await arrived();
    theyPay();
    fake.payments.resolve(hash, { end: 'fail' });
    await nothingIsToldOfIt();
    gates.arrived.open();
    gates.read.open();
    await until(async () => (await unfinished())[0]?.state === 'known', 'the answer is stored');
    fake.payments.resolve(hash, { end: 'succeed' });
    const { index, status } = await paid;
    expect(status).toBe('completed');
    const both = await until(async () => {
      const all = await rows();
      return all.length === 2 && all;
    }, 'both are told');
    const [other, ...ours] = both.toSorted(byStatus);
    expect(ours).toMatchObject([{ index, status: 'completed' }]);
    expect(other).toMatchObject({ hash, status: 'failed' });
    expect(await spentMsat()).toBe(AMOUNT_MSAT);
  });

  test('and fails just before our request arrives, whose answer is lost: ours is not ended by it', async () => {
    isAnswerLost = true;
    const { paid } = await arrived();
    theyPay();
    fake.payments.resolve(hash, { end: 'fail' });
    await nothingIsToldOfIt();
    gates.arrived.open();
    gates.read.open();
    await until(async () => (await unfinished())[0]?.state !== 'asked', 'LND was asked again');
    expect(await rows()).toMatchObject([{ status: 'pending' }]);
    fake.payments.resolve(hash, { end: 'succeed' });
    const { index, status } = await paid;
    expect(status).toBe('completed');
    expect(await rows()).toMatchObject([{ index, status: 'completed' }]);
  });

  test.each([
    ['is over', 'failed'],
    ['is not over', 'pending'],
  ] as const)(
    'and %s while LND refuses ours for another reason: it is told after that',
    async (_, status) => {
      const { paid } = await arrived();
      theyPay();
      if (status === 'failed') fake.payments.resolve(hash, { end: 'fail' });
      await nothingIsToldOfIt();
      fake.advanceClock(2 * 3600);
      gates.arrived.open();
      gates.read.open();
      expect(await rejection(paid)).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
      await until(async () => (await rows()).length > 0, 'it is told');
      expect(await rows()).toMatchObject([{ hash, status }]);
      expect(await unfinished()).toEqual([]);
      expect(await spentMsat()).toBe(0n);
    },
  );
});

/** Orders payments so that what failed comes first. */
function byStatus(a: Payment, b: Payment): number {
  return Number(b.status === 'failed') - Number(a.status === 'failed');
}

function worded(step: Step): string {
  return `${THEIRS.some((one) => one === step) ? 'it' : 'ours'} ${step}`;
}
