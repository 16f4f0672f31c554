import { expect, test } from 'bun:test';
import { examplePayment } from '../../src/http/examples.ts';
import { matches } from '../../src/model/payment-search.ts';

const PAYMENT = {
  ...examplePayment,
  amount: '1234.5',
  personal_note: 'Table 4, "large"\nfor two',
  message: '=HYPERLINK("http://x")',
};

test('a payment is found by words of its texts and ids, in any order and case', () => {
  for (const search of [
    'table',
    'LARGE table',
    '1234.5',
    'hyperlink',
    'coffee ORDER-17',
    `${PAYMENT.index}`,
    `${PAYMENT.hash}`,
  ]) {
    expect([search, matches(PAYMENT, search)]).toEqual([search, true]);
  }
  for (const search of ['tea', 'coffee tea', 'personal_note', 'order-18']) {
    expect([search, matches(PAYMENT, search)]).toEqual([search, false]);
  }
});
