import { afterEach, beforeEach, expect, test } from 'bun:test';
import { decodeOffer } from '../../../src/codecs/bolt12/index.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { createOffer, fetchInvoice } from '../../../src/nodes/cln/offers.ts';
import { anyShape } from '../../../src/nodes/cln/wire.ts';
import { until } from '../../support/until.ts';
import { FakeCln } from './fake-cln.ts';
import { fakeWallet, rpcOf } from './fake-wallet.ts';

/** BOLT 12, format-string-test.json */
const OFFER = decodeOffer(
  'lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2uckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg',
);

let cln: FakeCln;
beforeEach(() => {
  cln = new FakeCln();
  cln.on('fetchinvoice', () => Response.json({ invoice: 'lni1' }));
  cln.on('offer', () => Response.json({ bolt12: 'lno1', offer_id: 'ee'.repeat(32) }));
});
afterEach(() => cln.stop());

const fetched = (message: string | null, rpc = rpcOf(cln), wallet = fakeWallet()) =>
  fetchInvoice(rpc, wallet, { offer: OFFER, amountMsat: 1000n, message, viaName: null });
const errorOf = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

test('a message with characters that Core Lightning would not send as they are is error 110', async () => {
  for (const message of ['say "hi"', 'back\\slash', 'two\nlines', 'tab\t', 'bell\u0007']) {
    const error = await errorOf(fetched(message));
    expect(isApiError(error, 'unsupported') && error.data).toEqual({ node: 'cln' });
  }
  expect(cln.asked).toEqual([]);
  for (const message of ["it's 5 % / é 漢 🎉", null]) await fetched(message);
  expect(cln.of('fetchinvoice')).toHaveLength(2);
});

test('a description with control characters that Core Lightning does not read is error 110', async () => {
  const make = (description: string) =>
    createOffer(rpcOf(cln), { description, minAmountMsat: null, expiresAtMs: null });
  for (const description of ['bell\u0007', 'escape\u001b[31m']) {
    const error = await errorOf(make(description));
    expect(isApiError(error, 'unsupported') && error.data).toEqual({ node: 'cln' });
  }
  expect(cln.asked).toEqual([]);
  const plain = 'say "hi"\tback\\slash \\u0007\r\n';
  await make(plain);
  expect(cln.of('offer')).toMatchObject([{ description: plain }]);
});

test('issuers who do not answer leave room for other calls to the node', async () => {
  const answers: (() => void)[] = [];
  cln.on('fetchinvoice', () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    answers.push(() => resolve(Response.json({ invoice: 'lni1' })));
    return promise;
  });
  const [rpc, wallet] = [rpcOf(cln), fakeWallet()];
  const fetches = Array.from({ length: 40 }, () => fetched(null, rpc, wallet));
  await until(() => answers.length >= 16, 'invoices were asked for');
  await rpc.list('listinvoices', { payment_hash: 'ee'.repeat(32) }, anyShape);
  expect(answers).toHaveLength(16);
  cln.on('fetchinvoice', () => Response.json({ invoice: 'lni1' }));
  for (const answer of answers) answer();
  expect(new Set(await Promise.all(fetches))).toEqual(new Set(['lni1']));
});
