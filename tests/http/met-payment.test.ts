import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { walked } from '../faults/truth.ts';
import { type FakeLnd, startFakeLnd } from '../hostile/fake-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from '../hostile/sidecar-on-fake.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** A request that is answered with another program's payment ends there (docs/decisions.md 173). */

const ASYNC = { prefer: 'respond-async' };
const TERMS = { amountMsat: 0n, feeLimitMsat: 1000n };

interface Notice {
  readonly index: string;
  readonly status: string;
}

let fake: FakeLnd;
let sidecar: SidecarOnFake;
let receiver: ReturnType<typeof Bun.serve>;
const notices: Notice[] = [];

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      notices.push((await request.json()) as Notice);
      return new Response();
    },
  });
  fake = await startFakeLnd();
  sidecar = await startSidecarOnFake(fake, ['--webhook-url', `${receiver.url}`]);
});
afterAll(async () => {
  await sidecar?.close();
  await fake?.stop();
  await receiver?.stop(true);
});

/** Another program begins to pay an invoice, and the sidecar is asked to pay it too. */
async function meet(headers: Readonly<Record<string, string>>) {
  const { invoice, hash } = fake.payments.foreignInvoice({ amountMsat: 1000n });
  fake.payments.decide(hash, { end: 'hold' });
  fake.payments.send({ paymentRequest: invoice, ...TERMS });
  const rows = async () => (await walked(sidecar)).filter((one) => one.hash === hash);
  await until(async () => (await rows()).length === 1, "the other program's payment is listed");
  const pay = (headers: Readonly<Record<string, string>>) =>
    sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice }, headers });
  return { hash, rows, pay, answer: await pay(headers) };
}

/** Pays another invoice, after which a request that goes on has begun its attempt. */
async function payAnother(): Promise<void> {
  const { invoice } = fake.payments.foreignInvoice({ amountMsat: 1000n });
  await sidecar.post('/v2/node/pay_invoice', { invoice });
}

for (const end of ['succeed', 'fail'] as const) {
  test(`a 202 with another program's payment is followed by its end, ${end}, and by nothing else`, async () => {
    const { hash, rows, answer } = await meet(ASYNC);
    expect(answer).toMatchObject({ status: 202, body: { hash, status: 'pending' } });
    const { index } = answer.body;
    fake.payments.decide(hash, { end: 'succeed' });
    fake.payments.resolve(hash, { end });
    const status = end === 'succeed' ? 'completed' : 'failed';
    await until(() => notices.some((one) => one.index === index), 'its end is delivered');
    await payAnother();
    expect(notices.filter((one) => one.index === index)).toMatchObject([{ status }]);
    expect(await rows()).toMatchObject([{ index, status }]);
    expect(fake.payments.attempts.get(hash)).toBe(1);
  });
}

test('a repeat by its key after that failure makes an attempt of its own', async () => {
  const key = { 'idempotency-key': 'met' };
  const { hash, rows, pay, answer } = await meet({ ...ASYNC, ...key });
  fake.payments.decide(hash, { end: 'succeed' });
  fake.payments.resolve(hash, { end: 'fail' });
  await until(async () => (await rows())[0]?.status === 'failed', 'it has failed');
  const repeat = await pay(key);
  expect(repeat).toMatchObject({ status: 200, body: { status: 'completed' } });
  expect(repeat.body.index).not.toBe(answer.body.index);
});

for (const headers of [{}, { prefer: 'wait=600' }]) {
  test(`a request that is not answered yet goes on: ${JSON.stringify(headers)}`, async () => {
    const { hash, pay } = await meet(ASYNC);
    const before = fake.received.length;
    const paying = pay(headers);
    await until(() => fake.received.length > before, 'the request has looked at the node');
    await payAnother();
    fake.payments.decide(hash, { end: 'succeed' });
    fake.payments.resolve(hash, { end: 'fail' });
    expect(await paying).toMatchObject({ status: 200, body: { hash, status: 'completed' } });
  });
}
