import { expect, test } from 'bun:test';
import { ROUTES } from '../../src/http/routes/index.ts';

test('the routes whose every error says what may have been sent (docs/decisions.md 12)', () => {
  const paths = ROUTES.filter((route) => route.movesMoney).map((route) => route.path);
  expect(paths.toSorted()).toEqual([
    '/v2/node/approve',
    '/v2/node/bump_fee',
    '/v2/node/close_channel',
    '/v2/node/fetch',
    '/v2/node/open_channel',
    '/v2/node/pay',
    '/v2/node/pay_invoice',
    '/v2/node/pay_lnurl',
    '/v2/node/pay_offer',
    '/v2/node/pay_onchain',
    '/v2/node/pay_spontaneous',
    '/v2/node/withdraw_lnurl',
  ]);
});
