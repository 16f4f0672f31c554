import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { quietResolvers } from '../../src/lib/quiet-resolvers.ts';
import { type Tail, tailByStream, tailByWaits } from '../faults/tails.ts';
import { expectListed, expectTold, walked } from '../faults/truth.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../hostile/sidecar-on-fake.ts';
import type { Answer } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/**
 * No reader is shown a spend before the node has said something of it, or its answer is lost; one that is given up was
 * never there (docs/decisions.md 144, 168).
 */

const TIMES = 15;
const FUND = '/walletrpc.WalletKit/FundPsbt';
const PUBLISH = '/walletrpc.WalletKit/PublishTransaction';
const PAY = '/routerrpc.Router/SendPaymentV2';

/** What LND does with a request once the test lets it go on: carries it out, breaks it off, or answers this error. */
type End = 'carry out' | 'break off' | { readonly code: number; readonly message: string };

/** A request that LND has got, and does nothing with. */
interface Hold {
  readonly rpc: string;
  /** A part of its body. */
  readonly part: string;
  readonly arrived: () => void;
  readonly end: Promise<End>;
}

let fake: FakeLnd;
let sidecar: SidecarOnFake;
let tails: readonly Tail[];
let held: Hold | null = null;

beforeAll(async () => {
  fake = await startFakeLnd({
    hooks: {
      async intercept({ rpc, body }, response) {
        if (held === null || rpc !== held.rpc || !body.includes(held.part)) return false;
        held.arrived();
        const end = await held.end;
        if (end === 'carry out') return false;
        if (end === 'break off') return response.destroy() !== null;
        response.writeHead(500, { 'content-type': 'application/json' });
        const error = { ...end, details: [] };
        response.end(JSON.stringify(rpc === PAY ? { error } : error));
        return true;
      },
    },
  });
  sidecar = await startSidecarOnFake(fake);
  const place = { baseUrl: () => sidecar.baseUrl };
  tails = [tailByStream(place), tailByWaits(place)];
});
afterAll(async () => {
  await Promise.all((tails ?? []).map((tail) => tail.stop()));
  await sidecar?.close();
  await fake?.stop();
});

/** Pays an invoice, so that every tail has something to tell. */
async function payOne(): Promise<void> {
  const { invoice } = fake.payments.foreignInvoice({ amountMsat: 1000n });
  await sidecar.post('/v2/node/pay_invoice', { invoice });
}

/** Waits until every tail has told of all payments, and checks that walk, lists and tails have the same. */
async function expectAllAgree() {
  const payments = await walked(sidecar);
  await expectListed(sidecar, payments);
  for (const tail of tails) await expectTold(tail, payments);
  return payments;
}

/**
 * Sends, and lets LND do with the request what `end` says once `meanwhile` is over. Other payments wake the tails, and a
 * sync runs, before and after that.
 */
async function sendHeld(
  { path, body, rpc, part = '' }: Sending,
  end: End,
  meanwhile: () => Promise<unknown>,
  headers: Readonly<Record<string, string>> = { prefer: 'respond-async' },
): Promise<Answer> {
  const [arrived, ended] = [quietResolvers<void>(), quietResolvers<End>()];
  held = { rpc, part, arrived: arrived.resolve, end: ended.promise };
  const sending = sidecar.call('POST', path, { body, headers });
  await arrived.promise;
  await sidecar.put('/v2/node/sync_payments');
  await payOne();
  await meanwhile();
  const syncing = sidecar.put('/v2/node/sync_payments');
  ended.resolve(end);
  const answer = await sending;
  held = null;
  await syncing;
  await payOne();
  return answer;
}

interface Sending {
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
  readonly rpc: string;
  readonly part?: string;
}

const invoice = (): Sending & { readonly hash: string } => {
  const { invoice: part, hash } = fake.payments.foreignInvoice({ amountMsat: 1000n });
  return { path: '/v2/node/pay_invoice', body: { invoice: part }, rpc: PAY, part, hash };
};
const coins = (rpc: string, amount: string): Sending => {
  const { address } = fake.wallet.newAddress();
  return { path: '/v2/node/pay_onchain', body: { address, amount }, rpc };
};

const REFUSALS: readonly (readonly [what: string, sending: () => Sending, end: End])[] = [
  ['an invoice', invoice, { code: 2, message: 'invoice expired. Valid until yesterday' }],
  ['coins that LND does not choose', () => coins(FUND, '900000000'), 'carry out'],
  ['coins that LND does not publish', () => coins(PUBLISH, '2000'), { code: 3, message: 'no' }],
];

for (const [what, sending, end] of REFUSALS) {
  test(`a send of ${what}, refused while a sync runs, was never there, for lists and tails`, async () => {
    const before = (await walked(sidecar)).length;
    for (let time = 1; time <= TIMES; time++) {
      const answer = await sendHeld(sending(), end, async () => {
        const payments = await expectAllAgree();
        expect(payments).toHaveLength(before + 2 * time - 1);
      });
      expect(answer).toMatchObject({ status: 400, body: { code: 106, data: { sent: 'no' } } });
    }
    const payments = await expectAllAgree();
    expect(payments).toHaveLength(before + 2 * TIMES);
    const sent = payments.filter(({ direction }) => direction === 'outbound');
    expect(sent.filter(({ status }) => status !== 'completed')).toEqual([]);
  });
}

for (const [what, sending, end] of REFUSALS) {
  test(`a repeat by the key of a send of ${what} waits for the answer, whatever its Prefer`, async () => {
    const key = { 'idempotency-key': what };
    const request = sending();
    const { path, body } = request;
    const repeats: Promise<Answer>[] = [];
    const repeat = async () => {
      const headers = { ...key, prefer: 'respond-async' };
      repeats.push(sidecar.call('POST', path, { body, headers }));
      await payOne();
      await expectAllAgree();
    };
    const answer = await sendHeld(request, end, repeat, key);
    expect(answer).toMatchObject({ status: 400, body: { code: 106, data: { sent: 'no' } } });
    expect(await Promise.all(repeats)).toMatchObject([{ status: 400, body: answer.body }]);
    await expectAllAgree();
  });
}

test('a send whose answer is lost is pending for all readers from then on', async () => {
  const { hash, ...sending } = invoice();
  const answer = await sendHeld(sending, 'break off', async () => {
    expect((await expectAllAgree()).filter((one) => one.hash === hash)).toEqual([]);
  });
  expect(answer).toMatchObject({ status: 202, body: { status: 'pending', hash } });
  const payments = await expectAllAgree();
  expect(payments.filter((one) => one.hash === hash)).toMatchObject([{ status: 'pending' }]);
  const { index } = answer.body;
  for (const { told } of tails) expect(told.get(index)).toMatchObject({ status: 'pending' });
});

test('a send that was killed before its answer is pending for all readers after the restart', async () => {
  const { path, body, rpc, part = '', hash } = invoice();
  const [arrived, ended] = [quietResolvers<void>(), quietResolvers<End>()];
  held = { rpc, part, arrived: arrived.resolve, end: ended.promise };
  const sending = sidecar.call('POST', path, { body }).catch(() => null);
  await arrived.promise;
  await payOne();
  expect((await expectAllAgree()).filter((one) => one.hash === hash)).toEqual([]);
  await sidecar.kill();
  await sending;
  ended.resolve('break off');
  held = null;
  await sidecar.start();
  const isShown = async () => (await walked(sidecar)).some((one) => one.hash === hash);
  await until(isShown, 'the payment is shown');
  const payments = await expectAllAgree();
  expect(payments.filter((one) => one.hash === hash)).toMatchObject([{ status: 'pending' }]);
  await payOne();
  await expectAllAgree();
});
