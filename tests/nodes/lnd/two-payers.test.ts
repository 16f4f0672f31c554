import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { ServerResponse } from 'node:http';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import type { Observation, SendReport, WalletNode } from '../../../src/nodes/node.ts';
import type { Store } from '../../../src/store/ports.ts';
import { openSqliteStore } from '../../../src/store/sqlite/index.ts';
import { periodStart } from '../../../src/wallet/budget.ts';
import { type Following, follow, lightningId, payCommand } from '../../contracts/node/steps.ts';
import { paymentJson } from '../../hostile/fake-lnd/payments.ts';
import { LndError } from '../../hostile/fake-lnd/rpc.ts';
import { type FakeLnd, startFakeLnd } from '../../hostile/fake-lnd.ts';
import { fits, newSpend, rules } from '../../support/store-steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
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

let fake: FakeLnd;
let wallet: Awaited<ReturnType<typeof connectedOnFake>>;
let node: WalletNode;
let store: Store;
let feed: Following;
/** What the test holds back between our request and its answer. */
let gates: { read: PromiseWithResolvers<void>; answer: PromiseWithResolvers<void> };
let arrived: PromiseWithResolvers<void>;
let isRead: PromiseWithResolvers<void>;

beforeEach(async () => {
  gates = { read: Promise.withResolvers(), answer: Promise.withResolvers() };
  arrived = Promise.withResolvers();
  isRead = Promise.withResolvers();
  fake = await startFakeLnd({
    onchainSat: 0n,
    hooks: {
      async intercept({ path, body }, response) {
        if (path !== '/v2/router/send') return false;
        arrived.resolve();
        await gates.read.promise;
        const said = sendOf(body);
        isRead.resolve();
        await gates.answer.promise;
        await saying(response, said);
        return true;
      },
    },
  });
  wallet = await connectedOnFake(fake);
  node = wallet.node;
  store = openSqliteStore(':memory:');
  feed = follow(node);
  await until(feed.isCaughtUp, 'the feed has caught up');
  // The feed reads LND's lists once more a second later, and then rests: from now on the stream alone tells.
  const reads = () => fake.received.filter(({ path }) => path.startsWith('/v1/transactions?'));
  await until(() => reads().length > 1, 'the feed has read the lists once more');
});
afterEach(async () => {
  await feed.end().catch(() => undefined);
  await wallet.close();
  await fake.stop();
  await store.close();
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

/** Our payment of the invoice, as the wallet makes it, step by step. */
class OurPayment {
  readonly #invoice: string;
  readonly #hash: string;
  #afterAttempt: number | null = null;
  #begun: Payment | null = null;
  #report: Promise<SendReport> | null = null;
  #applied = 0;
  #toldBefore = 0;

  constructor(invoice: string, hash: string) {
    [this.#invoice, this.#hash] = [invoice, hash];
  }

  async asks(): Promise<void> {
    this.#afterAttempt = await node.newestAttempt(lightningId(this.#hash));
  }

  async begins(): Promise<void> {
    await this.stores();
    // In another millisecond than the other payment, so that no index is the same by chance.
    const command = payCommand(node, this.#invoice, { createdAtMs: Date.now() + 5000 });
    this.#begun = {
      ...blankPayment({
        index: command.index,
        rail: 'invoice',
        direction: 'outbound',
        status: 'pending',
        statusMsg: 'pending',
        createdAtMs: command.createdAtMs,
        updatedAtMs: command.createdAtMs,
      }),
      hash: this.#hash,
      amountMsat: AMOUNT_MSAT,
      invoice: this.#invoice,
    };
    const spend = newSpend(this.#begun, { journaled: true, afterAttempt: this.#afterAttempt });
    await store.spends.begin(wallet.walletId, spend, fits);
    this.#report = node.payInvoice(command);
    this.#toldBefore = feed.observations.length;
    await arrived.promise;
  }

  /** The report, with what the wallet does at it: on `taken` it gives its spend up. */
  async answered(): Promise<SendReport> {
    const report = await this.#report;
    if (report === null || this.#begun === null) throw new Error('it has not begun');
    if (report.state === 'taken') {
      await store.spends.abandon(wallet.walletId, this.#begun.index, periodStart);
    }
    if (report.state === 'taken' || report.state === 'known') await this.#store([report]);
    return report;
  }

  get index(): string {
    return this.#begun?.index ?? '';
  }

  /** What the feed has told of the hash since our request was made. */
  toldSinceAsked(): readonly Observation[] {
    const since = feed.observations.slice(this.#toldBefore);
    return since.filter(({ payment }) => payment.hash === this.#hash);
  }

  /** Stores what the feed has told since. */
  async stores(): Promise<void> {
    const told = feed.observations.slice(this.#applied);
    this.#applied += told.length;
    await this.#store(told);
  }

  #store(observations: readonly Observation[]): Promise<unknown> {
    const batch = { observations, cursor: null, journaled: true, nowMs: Date.now() };
    return store.observations.apply(wallet.walletId, batch, rules);
  }

  async rows(): Promise<Payment[]> {
    await this.stores();
    return store.journal.updatedAfter(wallet.walletId, null, 100);
  }
}

const told = (hash: string) =>
  feed.observations.filter(({ payment }) => payment.hash === hash).map(({ attempt }) => attempt);

describe('another program pays the same invoice', () => {
  for (const order of orders(OURS, THEIRS)) {
    test(`is told apart, and is one row: ${order.map(worded).join(', ')}`, async () => {
      const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: AMOUNT_MSAT });
      fake.payments.decide(hash, { end: 'hold' });
      const ours = new OurPayment(invoice, hash);
      let isTheirs = false;
      let report: SendReport | null = null;
      const isBefore = (one: Step, other: Step) => order.indexOf(one) < order.indexOf(other);
      const streamed = Promise.withResolvers<void>();
      fake.payments.streamed = streamed.promise;
      const isOpen =
        isBefore('begins', 'is told by the feed') && isBefore('is told by the feed', 'is answered');
      const steps: Record<Step, () => Promise<unknown>> = {
        'asks for the newest attempt': () => ours.asks(),
        begins: () => ours.begins(),
        'is read by LND': () => {
          gates.read.resolve();
          return isRead.promise;
        },
        'is answered': async () => {
          gates.answer.resolve();
          report = await ours.answered();
        },
        pays: async () => {
          const most = { amountMsat: 0n, feeLimitMsat: 1000n };
          try {
            fake.payments.send({ paymentRequest: invoice, ...most });
            isTheirs = true;
          } catch (error) {
            expect(error).toBeInstanceOf(LndError);
          }
        },
        'is told by the feed': async () => {
          streamed.resolve();
          if (isOpen) {
            await Bun.sleep(MOMENT_MS);
            await ours.stores();
            // Nobody can tell yet whose attempt it is.
            expect(ours.toldSinceAsked()).toEqual([]);
          } else if (isTheirs) {
            await until(() => told(hash).length > 0, 'the feed told of it');
            await ours.stores();
          }
        },
      };
      for (const step of order) await steps[step]();

      expect(fake.payments.attempts.get(hash)).toBe(1);
      expect(isTheirs).toBe(isBefore('pays', 'is read by LND'));
      const attempt = await node.newestAttempt(lightningId(hash));
      expect(report).toMatchObject({ state: isTheirs ? 'taken' : 'known', attempt });
      fake.payments.resolve(hash, { end: 'succeed' });
      await feed.shows(hash, 'completed');
      const rows = await ours.rows();
      expect(rows).toMatchObject([{ hash, status: 'completed' }]);
      expect(rows[0]?.index === ours.index).toBe(!isTheirs);
    });
  }

  test('and fails just before our request arrives: our own attempt is not ended by it', async () => {
    const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: AMOUNT_MSAT });
    fake.payments.decide(hash, { end: 'hold' });
    const ours = new OurPayment(invoice, hash);
    await ours.asks();
    await ours.begins();
    fake.payments.send({ paymentRequest: invoice, amountMsat: 0n, feeLimitMsat: 1000n });
    fake.payments.resolve(hash, { end: 'fail' });
    await Bun.sleep(MOMENT_MS);
    expect(await ours.rows()).toMatchObject([{ status: 'pending' }]);
    gates.read.resolve();
    gates.answer.resolve();
    expect(await ours.answered()).toMatchObject({ state: 'known', payment: { status: 'pending' } });
    fake.payments.resolve(hash, { end: 'succeed' });
    await feed.shows(hash, 'completed');
    expect(await ours.rows()).toMatchObject([{ index: ours.index, status: 'completed' }]);
  });

  test('while LND refuses ours for another reason: the feed tells of it after that', async () => {
    const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: AMOUNT_MSAT });
    const ours = new OurPayment(invoice, hash);
    await ours.asks();
    await ours.begins();
    fake.payments.decide(hash, { end: 'fail' });
    fake.payments.send({ paymentRequest: invoice, amountMsat: 0n, feeLimitMsat: 1000n });
    await Bun.sleep(MOMENT_MS);
    expect(ours.toldSinceAsked()).toEqual([]);
    fake.advanceClock(2 * 3600);
    gates.read.resolve();
    gates.answer.resolve();
    expect((await ours.answered()).state).toBe('refused');
    const told = await Promise.race([feed.shows(hash, 'failed'), Bun.sleep(3000)]);
    expect(told).toMatchObject({ attempt: await node.newestAttempt(lightningId(hash)) });
  });
});

function worded(step: Step): string {
  return `${THEIRS.some((one) => one === step) ? 'it' : 'ours'} ${step}`;
}
