import { expect, test } from 'bun:test';
import { agreedPaymentString } from '../../src/http/input-comparison.ts';
import { receiveRoutes } from '../../src/http/routes/receive.ts';
import { sendRoutes } from '../../src/http/routes/send.ts';
import { sendOnchainRoutes } from '../../src/http/routes/send-onchain.ts';

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
