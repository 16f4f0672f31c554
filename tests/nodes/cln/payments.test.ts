import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { payInvoice } from '../../../src/nodes/cln/lightning/payments.ts';
import { attemptsToPay } from '../../../src/nodes/cln/lightning/sends.ts';
import { until } from '../../support/until.ts';
import { bolt11Of, FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { listing, orderFor } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, LABELS, rpcOf } from './fake-wallet.ts';

const HASH = 'ab'.repeat(32);
const INDEX = paymentIndex(NODE_SECS * 1000, paymentId('ln', HASH));

let cln: FakeCln;
let wallet: FakeWallet;
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  cln.on('listpeerchannels', () => listing());
});
afterEach(() => cln.stop());

/** Pays an invoice of 1,000 msat whose parts have failed by the time xpay gives its error. */
async function payWithFailed(amountsMsat: readonly (number | undefined)[], code: number) {
  cln.on('xpay', () => {
    for (const [at, amount_msat] of amountsMsat.entries()) {
      const part = {
        payment_hash: HASH,
        partid: at + 1,
        status: 'failed',
        label: LABELS.of(INDEX),
      };
      cln.addPart({ ...part, amount_msat });
    }
    return refusal(code, 'it failed');
  });
  const report = await pay();
  return report.state === 'known' ? report.payment.status : report.state;
}

/** Pays an invoice of 1,000 msat. */
function pay(rpc = rpcOf(cln)) {
  const order = orderFor(wallet, bolt11Of(HASH, 1000n), { createdAtMs: NODE_SECS * 1000 });
  return payInvoice({ rpc, owner: rpcOf(cln), wallet }, order);
}

describe('a payment whose parts have all failed when xpay gives up', () => {
  test('has failed where each part carried the whole amount', async () => {
    expect(await payWithFailed([1000, 1000], 209)).toBe('failed');
  });

  test('is pending where the parts were beside each other, though they are equal', async () => {
    expect(await payWithFailed([500, 500], 209)).toBe('pending');
  });

  test('is pending where one part carried the whole amount, and another one less', async () => {
    expect(await payWithFailed([1000, 500], 209)).toBe('pending');
    cln.sendpays.rows = [];
    expect(await payWithFailed([500, 1000], 209)).toBe('pending');
  });

  test('is pending where the node does not say what a part carried', async () => {
    expect(await payWithFailed([undefined], 209)).toBe('pending');
  });

  test('is pending where xpay itself did not say that it gives up', async () => {
    expect(await payWithFailed([1000], -4)).toBe('pending');
  });
});

describe('a payment of which the node lists no part when xpay ends', () => {
  const ended = async (answer: () => Response) => {
    cln.on('xpay', answer);
    return (await pay()).state;
  };

  test.each([-32602, -32601, 1501, 1502, 1503, 205, 206, 207, 213, 217])(
    'was not sent with the code %d',
    async (code) => {
      expect(await ended(() => refusal(code, 'it failed'))).toBe('refused');
    },
  );

  test.each([null, -1, -3, -4, -5, -32600, 200, 201, 203, 204, 208, 209, 210, 218, 219, 300, 9999])(
    'may have been sent with the code %p',
    async (code) => {
      expect(await ended(() => refusal(code, 'it failed'))).toBe('unknown');
    },
  );

  test.each([
    { code: '205', message: 'it failed' },
    { code: 205.5, message: 'it failed' },
    { code: 205 },
    { message: 'it failed' },
    { error: { code: 205, message: 'it failed' } },
    'code 205',
    null,
  ])('may have been sent with the answer %j, which is no error of the node', async (body) => {
    expect(await ended(() => Response.json(body, { status: 500 }))).toBe('unknown');
  });
});

test('what must be known before a payment is read at once, and xpay is asked for after that', async () => {
  const read = Promise.withResolvers<void>();
  cln.on('listpeerchannels', () => read.promise.then(() => listing()));
  const paid = payWithFailed([1000], 205);
  await until(
    () => ['listpeerchannels', 'listsendpays'].every((name) => cln.of(name).length > 0),
    'all were asked for',
  );
  expect(cln.of('xpay')).toEqual([]);
  read.resolve();
  await paid;
  expect(cln.of('xpay')).toHaveLength(1);
});

test('the answer of xpay tells that a payment is complete, also before the list shows it', async () => {
  const paid = { payment_preimage: '77'.repeat(32), amount_msat: 1000, amount_sent_msat: 1003 };
  const parts = { failed_parts: 0, successful_parts: 1 };
  cln.on('xpay', () => Response.json({ ...paid, ...parts }, { status: 201 }));
  expect(await pay()).toMatchObject({
    state: 'known',
    payment: {
      index: INDEX,
      rail: 'invoice',
      status: 'completed',
      preimage: '77'.repeat(32),
      amountMsat: 1000n,
      feesMsat: 3n,
      hash: HASH,
    },
  });
});

test('an attempt that was read a moment ago is in the way of another', async () => {
  cln.addPart({ payment_hash: HASH, status: 'complete', payment_preimage: '77'.repeat(32) });
  wallet.recent.keep(HASH, await attemptsToPay(rpcOf(cln), wallet, HASH), wallet.elapsedMs());
  cln.sendpays.rows = [];
  expect(await pay()).toMatchObject({ state: 'taken', payment: { status: 'completed' } });
  expect(cln.of('xpay')).toEqual([]);
});

test('a fee limit that is in the way alone is named, and nothing was sent', async () => {
  cln.on('xpay', () => refusal(206, 'Failed: Could not find route without excessive cost'));
  const report = await pay();
  expect(report.state).toBe('refused');
  if (report.state !== 'refused') return;
  expect(report.error.message).toBe(
    'Core Lightning found no route for at most 0.01 sats in fees: allow more with max_fee, and pay again.',
  );
});

test('a fee limit that was in the way of a later try does not prove that nothing was sent', async () => {
  const words =
    'Failed after 3 attempts. Then routing failed: Could not find route without excessive cost';
  for (const code of [209, -1]) {
    cln.on('xpay', () => refusal(code, words));
    expect((await pay()).state).toBe('unknown');
  }
});

test('a node that is away when it is to pay was asked for nothing', async () => {
  const away = rpcOf({ url: 'https://127.0.0.1:1', cert: cln.cert });
  expect(await pay(away)).toMatchObject({ state: 'refused', error: { kind: 'unreachable' } });
});

test('a call that the rate of the rune forbids is refused, and may be tried again', async () => {
  cln.on('xpay', () => refusal(1502, 'Not permitted: too soon', 401));
  expect(await pay()).toMatchObject({ state: 'refused', error: { kind: 'overCapacity' } });
});

/** Makes every timer that is set for so long ring at once. */
function ringsAtOnce(delayMs: number) {
  const set = globalThis.setTimeout;
  const early = (work: () => void, ms?: number) => set(work, ms === delayMs ? 0 : ms);
  const timers = spyOn(globalThis, 'setTimeout').mockImplementation(early as typeof set);
  return { [Symbol.dispose]: () => timers.mockRestore() };
}

describe('a call of xpay on a connection that died without a sign', () => {
  test('leaves the payment unknown where the node shows no part, so that it is sent again', async () => {
    using _ = ringsAtOnce(90_000);
    cln.on('xpay', () => new Promise<Response>(() => undefined));
    const report = await pay();
    expect(report).toMatchObject({
      state: 'unknown',
      error: { kind: 'timeout', outcomeUnknown: true },
    });
    expect(wallet.endings.isRunning(HASH)).toBe(true);
  });
});
