import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { agreedPaymentString, comparedBefore } from '../../src/http/input-comparison.ts';
import { receiveRoutes } from '../../src/http/routes/receive.ts';
import { sendRoutes } from '../../src/http/routes/send/send.ts';
import { sendOnchainRoutes } from '../../src/http/routes/send/send-onchain.ts';

test('every field that takes a payment string to pay or withdraw by is compared so', () => {
  const compared = [...sendRoutes, ...sendOnchainRoutes, ...receiveRoutes].flatMap(
    ({ path, paymentStrings }) =>
      paymentStrings === undefined ? [] : [[path.replace('/v2/node/', ''), ...paymentStrings]],
  );
  expect(compared).toEqual([
    ['pay', 'payable'],
    ['pay_invoice', 'invoice'],
    ['pay_offer', 'offer'],
    ['pay_lnurl', 'lnurl'],
    ['pay_onchain', 'address'],
    ['withdraw_lnurl', 'lnurl'],
  ]);
});

test('body and query may give one string in two spellings; the body is taken', () => {
  const agreed = (body?: string, query?: string) => agreedPaymentString('payable', body, query);
  expect(agreed('BCRT1QQ', 'bitcoin:bcrt1qq')).toBe('BCRT1QQ');
  expect(agreed(undefined, 'bcrt1qq')).toBe('bcrt1qq');
  expect(agreed()).toBeUndefined();
  expect(() => agreed('bcrt1qq', 'bcrt1qp')).toThrow(/different values/);
});

describe('a body as earlier versions compared it', () => {
  const limits = z.object({ amount: z.string(), most: z.string().optional() });
  const schema = z.object({
    payable: z.string(),
    message: z.string().optional(),
    limits: limits.optional(),
  });
  const before = (input: object, sent: object) =>
    comparedBefore(schema, input, JSON.stringify(sent));

  test('has what was sent as null, in objects in it too', () => {
    const sent = { payable: 'a', message: null, limits: { amount: '1', most: null } };
    expect(before({ payable: 'a', limits: { amount: '1' } }, sent)).toEqual(sent);
    expect(before({ payable: 'a' }, { payable: 'a', limits: null })).toEqual({
      payable: 'a',
      limits: null,
    });
  });

  test('is as it is parsed in everything else', () => {
    expect(before({ payable: 'b' }, { payable: 'a', unknown: null })).toEqual({ payable: 'b' });
    const text = { payable: 'null', message: 'null' };
    expect(before(text, text)).toEqual(text);
    expect(comparedBefore(null, undefined, 'null')).toBeUndefined();
    expect(comparedBefore(schema, { payable: 'a' }, '')).toEqual({ payable: 'a' });
  });
});
