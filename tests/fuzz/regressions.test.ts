import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBip321 } from '../../src/codecs/bip321.ts';
import { CodecError } from '../../src/codecs/codec-error.ts';
import { ApiError } from '../../src/model/errors.ts';
import { blankPayment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';
import { waitForFinal } from '../../src/wallet/read/wait.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { parsePaymentString } from '../../src/wallet/strings/payment-string.ts';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

test('a bitcoin: URI with half a surrogate pair is refused, for no writer could put it into a URI again', () => {
  const read = () => decodeBip321('bitcoin:?label=\ud800&amount=1');
  expect(read).toThrow(CodecError);
  expect(read).toThrow('it holds text that is not valid Unicode');
});

test('any number of lightning: in front of a payment string is taken off', () => {
  const offer = makeOffer();
  const wrapped = `${'lightning:'.repeat(20_000)}LIGHTNING://${offer.text}`;
  expect(parsePaymentString(wrapped).methods).toEqual([{ kind: 'offer', offer }]);
});

test('the sandbox clock stays where invoices can hold the time', async () => {
  const forward = () => world.call('POST', '/sandbox/clock', { body: { advance_secs: 1e10 } });
  const moves = [await forward(), await forward(), await forward(), await forward()];
  expect(moves.slice(0, 3).map(({ status }) => status)).toEqual([200, 200, 200]);
  const [, , , last] = moves;
  if (last) expectError(last, 'rejected', /would pass the year 3000/);
  expect(await world.post('/v2/node/create_invoice', { amount: '1' })).toMatchObject({
    amount: '1',
  });
});

test('the outside world is refused a canceled invoice with a message too', async () => {
  const { invoice, index } = await world.post('/v2/node/create_invoice', { amount: '10' });
  await world.post('/v2/node/cancel_payment', { index });
  const body = { payable: invoice, message: 'thanks' };
  expectError(
    await world.call('POST', '/sandbox/pay', { body }),
    'refused',
    /expired or was canceled/,
  );
});

test('the message of the outside world arrives with its payment', async () => {
  const { invoice, index } = await world.post('/v2/node/create_invoice', { amount: '10' });
  await world.post('/sandbox/pay', { payable: invoice, message: 'thanks' });
  const payment = await world.get('/v2/node/payment', { index });
  expect(payment).toMatchObject({ status: 'completed', message: 'thanks' });
});

test('a wait that ends while the payment is read answers what was read, and leaves no rejection behind', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const ending = new AbortController();
  const payment = blankPayment({
    index: paymentIndex(1, paymentId('ln', '0a'.repeat(32))),
    rail: 'invoice',
    direction: 'inbound',
    status: 'completed',
    statusMsg: 'completed',
    createdAtMs: 1,
    updatedAtMs: 1,
  });
  const session = {
    ended: new AbortController().signal,
    feed: { prepare: async () => undefined, listenTo: () => () => undefined },
    history: {
      async payment() {
        ending.abort(new ApiError('timeout', 'Nothing happened within 0 seconds.'));
        await Bun.sleep(0);
        return payment;
      },
    },
  } as unknown as Session;
  expect(await waitForFinal(session, payment.index, ending.signal)).toBe(payment);
  await Bun.sleep(0);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
