import { expect, test } from 'bun:test';
import type { Payment } from '../../../src/client/index.ts';
import { descriptionOf, givenName } from '../../../src/console/values/described.ts';
import { matches } from '../../../src/console/values/payment-search.ts';

/** An example of BOLT 11: 2500 micro-bitcoin for one cup of coffee. */
const COFFEE =
  'lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpuaztrnwngzn3kdzw5hydlzf03qdgm2hdq27cqv3agm2awhz5se903vruatfhq77w3ls4evs3ch9zw97j25emudupq63nyw24cg27h2rspfj9srp';
const PAYMENT = {
  invoice: COFFEE,
  personal_note: null,
  message: null,
  payer_name: null,
} as Payment;

test('a payment is named by what its invoice says, unless somebody named it', () => {
  expect(givenName(PAYMENT)).toBe('1 cup coffee');
  expect(givenName({ ...PAYMENT, personal_note: 'For Ann' })).toBe('For Ann');
});

test('a payment is found by what its invoice says', () => {
  expect(matches(PAYMENT, 'coffee cup')).toBe(true);
});

test.each([
  ['no invoice', null],
  ['what is no invoice', '<b>lnbc</b>'],
])('%s has no description', (_, invoice) => {
  expect(descriptionOf({ invoice })).toBeNull();
});
