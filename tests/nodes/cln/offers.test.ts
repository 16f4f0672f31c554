import { afterEach, beforeEach, expect, test } from 'bun:test';
import { decodeOffer } from '../../../src/codecs/bolt12/index.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { createOffer, fetchInvoice } from '../../../src/nodes/cln/lightning/offers.ts';
import { IssuerTurns } from '../../../src/nodes/cln/reads/issuer-turns.ts';
import type { ClnWallet } from '../../../src/nodes/cln/reads/wallet.ts';
import { anyShape } from '../../../src/nodes/cln/words/wire.ts';
import { rejection } from '../../support/rejection.ts';
import { until } from '../../support/until.ts';
import { FakeCln, refusal } from './fake-cln.ts';
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

const STAYS = new AbortController().signal;
const fetched = (
  message: string | null,
  rpc = rpcOf(cln),
  wallet: Pick<ClnWallet, 'issuers'> = fakeWallet(),
  caller = STAYS,
) => fetchInvoice(rpc, wallet, { offer: OFFER, amountMsat: 1000n, message, viaName: null }, caller);

test('a message with characters that Core Lightning would not send as they are is error 110', async () => {
  for (const message of ['say "hi"', 'back\\slash', 'two\nlines', 'tab\t', 'bell\u0007']) {
    const error = await rejection(fetched(message));
    expect(isApiError(error, 'unsupported') && error.data).toEqual({ node: 'cln' });
  }
  expect(cln.asked).toEqual([]);
  for (const message of ["it's 5 % / é 漢 🎉", null]) await fetched(message);
  expect(cln.of('fetchinvoice')).toHaveLength(2);
});

test('an issuer that is to name the amount is asked without one', async () => {
  const order = { offer: OFFER, amountMsat: null, message: null, viaName: null };
  await fetchInvoice(rpcOf(cln), fakeWallet(), order, STAYS);
  await fetched(null);
  const [without, exact] = cln.of('fetchinvoice');
  expect(without).not.toHaveProperty('amount_msat');
  expect(exact).toMatchObject({ amount_msat: '1000msat' });
});

test('a description with control characters that Core Lightning does not read is error 110', async () => {
  const make = (description: string) =>
    createOffer(rpcOf(cln), {
      description,
      minAmountMsat: null,
      expiresAtMs: null,
      externalId: null,
    });
  for (const description of ['bell\u0007', 'escape\u001b[31m']) {
    const error = await rejection(make(description));
    expect(isApiError(error, 'unsupported') && error.data).toEqual({ node: 'cln' });
  }
  expect(cln.asked).toEqual([]);
  const plain = 'say "hi"\tback\\slash \\u0007\r\n';
  await make(plain);
  expect(cln.of('offer')).toMatchObject([{ description: plain }]);
});

/** Has nobody answer; the function that is returned has the one asked at that place answer. */
function silentIssuers() {
  const asked: ((answer: Response) => void)[] = [];
  cln.on('fetchinvoice', () => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    asked.push(resolve);
    return promise;
  });
  return {
    asked,
    answer: (at: number) => asked[at]?.(Response.json({ invoice: `lni${at}` })),
  };
}

test('issuers who do not answer leave room for other calls to the node', async () => {
  const { asked, answer } = silentIssuers();
  const [rpc, wallet] = [rpcOf(cln), { issuers: new IssuerTurns({ spacingMs: 1 }) }];
  const fetches = Array.from({ length: 40 }, () => fetched(null, rpc, wallet));
  await until(() => asked.length >= 16, 'invoices were asked for');
  await rpc.list('listinvoices', { payment_hash: 'ee'.repeat(32) }, anyShape);
  expect(asked).toHaveLength(16);
  cln.on('fetchinvoice', () => Response.json({ invoice: 'lni1' }));
  for (const at of asked.keys()) answer(at);
  expect(await Promise.all(fetches)).toHaveLength(40);
});

test('issuers are asked no faster than onion messages are passed on, so that none is lost', async () => {
  // As in connectd: a message costs 250 tokens of at most 1000, one comes back in each millisecond.
  let [tokens, atMs] = [1000, performance.now()];
  cln.on('fetchinvoice', () => {
    const nowMs = performance.now();
    [tokens, atMs] = [Math.min(1000, tokens + nowMs - atMs), nowMs];
    if (tokens < 250) return refusal(1005, 'Timeout waiting for response');
    tokens -= 250;
    return Response.json({ invoice: 'lni1' });
  });
  const [rpc, wallet] = [rpcOf(cln), fakeWallet()];
  const results = await Promise.all(
    Array.from({ length: 12 }, () => fetched(null, rpc, wallet).catch((error: unknown) => error)),
  );
  expect(results).toEqual(Array.from({ length: 12 }, () => 'lni1'));
});

test('where too many wait to ask, the next is told so, and asks nobody', async () => {
  const { asked, answer } = silentIssuers();
  const issuers = new IssuerTurns({ mostAsked: 1, spacingMs: 1, mostWaiting: 2 });
  const rpc = rpcOf(cln);
  const first = fetched(null, rpc, { issuers });
  await until(() => asked.length === 1);
  const waiting = [fetched(null, rpc, { issuers }), fetched(null, rpc, { issuers })];
  const error = await rejection(fetched(null, rpc, { issuers }));
  expect(isApiError(error, 'overCapacity') && error.message).toContain('Nothing was sent');
  for (const at of [0, 1, 2]) {
    await until(() => asked.length === at + 1);
    answer(at);
  }
  expect(await Promise.all([first, ...waiting])).toEqual(['lni0', 'lni1', 'lni2']);
});

test('a caller who goes away while waiting is not asked for, and holds up nobody', async () => {
  const { asked, answer } = silentIssuers();
  const rpc = rpcOf(cln);
  for (const mostAsked of [1, 2]) {
    const issuers = new IssuerTurns({ mostAsked, spacingMs: 100, mostWaiting: 2 });
    const caller = new AbortController();
    const before = asked.length;
    const first = fetched(null, rpc, { issuers });
    await until(() => asked.length === before + 1);
    const gone = rejection(fetched(null, rpc, { issuers }, caller.signal));
    const next = fetched(null, rpc, { issuers });
    caller.abort(new Error('gone'));
    expect(await gone).toEqual(new Error('gone'));
    answer(before);
    await until(() => asked.length === before + 2);
    answer(before + 1);
    expect(await Promise.all([first, next])).toEqual([`lni${before}`, `lni${before + 1}`]);
  }
});
