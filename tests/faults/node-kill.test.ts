import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../hostile/sidecar-on-fake.ts';
import { type NoticeReceiver, startNoticeReceiver } from '../interop/notices.ts';
import { randomFrom } from '../support/random.ts';
import type { Answer } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { Bills } from './bills.ts';
import { expectSameAtLnd, isOpenAtLnd } from './lnd-truth.ts';
import { sqlitePaymentRows } from './rows.ts';
import { ROUNDS, SEED } from './seed.ts';
import { type Tail, tailByStream, tailByWaits } from './tails.ts';
import { expectOneTruth, isOutgoing, type Tellers, walked } from './truth.ts';

setDefaultTimeout(SLOW_TEST_MS);

const REFUSED = 106;
const SEND = '/routerrpc.Router/SendPaymentV2';
/** Payers that pay at the same time. */
const PAYERS = 3;
const COINS = 10;

let fake: FakeLnd;
let sidecar: SidecarOnFake;
let notices: NoticeReceiver;
let wallet: Tellers;
let tails: readonly Tail[];
/** While set, LND gets no request to pay. Called when one has arrived. */
let swallowed: (() => void) | null = null;
/** What LND refuses to pay the first time that it is asked, after so many milliseconds. */
const refusals = new Map<string, number>();
/** The invoices that LND has refused so. */
const refused = new Set<string>();

/** Whether LND has refused the request to pay, after the sidecar has stored that it asks. */
async function isRefused(body: string, response: ServerResponse): Promise<boolean> {
  const { payment_request: invoice } = JSON.parse(body) as { payment_request: string };
  const delayMs = refusals.get(invoice);
  if (delayMs === undefined) return false;
  refusals.delete(invoice);
  refused.add(invoice);
  await Bun.sleep(delayMs);
  response.writeHead(500, { 'content-type': 'application/json' });
  const error = { code: 2, message: 'invoice expired. Valid until now', details: [] };
  response.end(JSON.stringify({ error }));
  return true;
}

beforeAll(async () => {
  notices = startNoticeReceiver();
  fake = await startFakeLnd({
    channelSat: 100_000_000n,
    hooks: {
      intercept({ rpc, body }, response) {
        if (rpc !== SEND) return false;
        if (swallowed === null) return isRefused(body, response);
        swallowed();
        return true;
      },
    },
  });
  for (let coin = 0; coin < COINS; coin++) fake.wallet.receive(1_000_000n);
  sidecar = await startSidecarOnFake(fake, notices.flags);
  const place = { baseUrl: () => sidecar.baseUrl };
  tails = [tailByStream(place), tailByWaits(place)];
  wallet = {
    baseUrl: sidecar.baseUrl,
    rows: sqlitePaymentRows(sidecar.dataDir),
    tails,
    atNode: (payments) => expectSameAtLnd(fake, payments),
    isWatched: ({ direction, rail }) => direction === 'outbound' || rail === 'invoice',
    mayBePending: (payment) => isOpenAtLnd(fake, payment),
  };
});
afterAll(async () => {
  await Promise.all((tails ?? []).map((tail) => tail.stop()));
  await sidecar?.close();
  await fake?.stop();
  await notices?.stop();
});

/** A request with a key, which is repeated after the kill. */
interface Keyed {
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
  readonly key: string;
}

const ask = ({ path, body, key }: Keyed, prefer = 'wait=30'): Promise<Answer> =>
  sidecar.call('POST', path, { body, headers: { 'idempotency-key': key, prefer } });

/** Draws the requests of the callers, all of which may be repeated. */
class Callers {
  readonly made: Keyed[] = [];
  readonly #bills = new Bills(fake);
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  payment(): Keyed {
    const { invoice, hash, key } = this.#bills.one();
    const drawn = this.#random();
    const delayMs = Math.floor(this.#random() * 60);
    if (drawn > 0.8) refusals.set(invoice, delayMs);
    if (drawn < 0.15) fake.payments.decide(hash, { end: 'hold' });
    else fake.payments.decide(hash, { end: drawn < 0.3 ? 'fail' : 'succeed', delayMs });
    return this.#keyed('/v2/node/pay_invoice', { invoice }, key);
  }

  invoice(): Keyed {
    return this.#keyed('/v2/node/create_invoice', { amount: '3' }, `invoice-${this.made.length}`);
  }

  /** A send, or one of more than the wallet has. */
  coins(): Keyed {
    const { address } = fake.wallet.newAddress();
    const amount = this.#random() < 0.5 ? '2000' : '900000000';
    return this.#keyed('/v2/node/pay_onchain', { address, amount }, `coins-${this.made.length}`);
  }

  #keyed(path: string, body: Keyed['body'], key: string): Keyed {
    const keyed = { path, body, key };
    this.made.push(keyed);
    return keyed;
  }
}

/** Calls until the sidecar is killed. */
async function untilKilled(call: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await call();
    } catch {
      return;
    }
  }
}

/** Calls as many do at once, until the sidecar is killed. */
function load(callers: Callers): Promise<unknown> {
  return Promise.all([
    ...Array.from({ length: PAYERS }, () => untilKilled(() => ask(callers.payment()))),
    untilKilled(async () => {
      const { body } = await ask(callers.invoice());
      fake.paysInvoice(body.payment_hash);
      await ask(callers.invoice());
    }),
    untilKilled(() => ask(callers.coins())),
    untilKilled(() => sidecar.put('/v2/node/sync_payments')),
  ]);
}

/** Whether LND may have refused the request: for more coins than it has, or the first time that it was asked to pay. */
function wasRefused({ path, body }: Keyed): boolean {
  return path === '/v2/node/pay_onchain' || refused.has(body.invoice ?? '');
}

/** Repeats the requests. Each has its effect, or was refused. Returns the invoices of those that were refused. */
async function repeat(requests: readonly Keyed[]): Promise<ReadonlySet<unknown>> {
  const unpaid = new Set<unknown>();
  for (const request of requests) {
    const { status, body } = await ask(request, 'respond-async');
    if (status === 200 || status === 202) continue;
    const { code, data } = body;
    expect({ code, data }).toMatchObject({ code: REFUSED, data: { sent: 'no' } });
    expect(wasRefused(request)).toBe(true);
    unpaid.add(request.body.invoice);
  }
  return unpaid;
}

function endWhatIsOutside(): void {
  fake.payments.endHeld();
  fake.wallet.mine(6);
}

/** What is sent again late, after the others have ended outside, ends there too. */
async function untilAllIsSent(): Promise<void> {
  const isSent = async () => {
    const payments = await walked(sidecar);
    if (!payments.some((one) => isOutgoing(one) && isOpenAtLnd(fake, one))) return true;
    endWhatIsOutside();
    return false;
  };
  await until(isSent, 'all payments were sent again, and have ended');
}

test(
  `killed ${ROUNDS} times in front of LND (seed ${SEED}): node, lists, walks, tails, rows and deliveries agree after each`,
  async () => {
    const random = randomFrom(SEED + 30);
    const callers = new Callers(random);
    for (let round = 0; round < ROUNDS; round++) {
      const first = callers.made.length;
      const loaded = load(callers);
      const atLeast = first + Math.floor(random() * 12);
      await until(() => callers.made.length > atLeast);
      await Bun.sleep(random() * 60);
      await sidecar.kill();
      await loaded;
      await sidecar.start();
      const unpaid = await repeat(callers.made.slice(first));
      endWhatIsOutside();
      const payments = await expectOneTruth(wallet);
      expect(payments.filter(({ invoice }) => unpaid.has(invoice))).toEqual([]);
      await untilAllIsSent();
    }
    console.log(
      `Kills in front of LND: ${ROUNDS}; keys: ${callers.made.length}; refused by LND: ${refused.size}.`,
    );
    for (const { hash, state } of fake.invoices.list()) {
      if (state === 'OPEN') fake.paysInvoice(hash);
    }
    const payments = await expectOneTruth(wallet);
    expect(payments.filter(({ status }) => status === 'pending')).toEqual([]);
    const watched = payments.filter((payment) => wallet.isWatched(payment));
    for (const { index, status } of watched) await notices.delivered(index, status);
    expect([...notices.byIndex.keys()].toSorted()).toEqual(watched.map(({ index }) => index));
  },
  3 * 60 * 60_000,
);

test('killed before its request has left, a payment is sent again within about 20 seconds', async () => {
  const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: 1000n });
  const request = { path: '/v2/node/pay_invoice', body: { invoice }, key: 'unsent' };
  const arrived = new Promise<void>((resolve) => {
    swallowed = resolve;
  });
  const paying = ask(request).catch(() => null);
  await arrived;
  await sidecar.kill();
  await paying;
  swallowed = null;
  await sidecar.start();
  const isPaid = async () => (await ask(request, 'respond-async')).body.status === 'completed';
  await until(isPaid, 'it was sent again', 40_000);
  expect(fake.payments.attempts.get(hash)).toBe(1);
  await expectOneTruth(wallet);
});
