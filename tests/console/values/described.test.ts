import { expect, test } from 'bun:test';
import type { Payment } from '../../../src/client/index.ts';
import { besideName, givenName } from '../../../src/console/values/described.ts';

const PAYMENT = {
  description: '1 cup coffee',
  external_id: 'order-17',
  personal_note: null,
  message: null,
  payer_name: null,
} as unknown as Payment;
const NOTED = { ...PAYMENT, personal_note: 'For Ann' };

test('a payment is named by what it is for, unless somebody named it, and that is beside it then', () => {
  expect(givenName(PAYMENT)).toBe('1 cup coffee');
  expect(besideName(PAYMENT)).toEqual(['order-17']);
  expect(givenName(NOTED)).toBe('For Ann');
  expect(besideName(NOTED)).toEqual(['1 cup coffee', 'order-17']);
});

test('a payment without a description or an id has nothing beside its name, also in notices of older versions', () => {
  const bare = { ...PAYMENT, description: null, external_id: null };
  const { description: _, external_id: __, ...older } = PAYMENT;
  for (const payment of [bare, older as Payment]) {
    expect(givenName(payment)).toBeNull();
    expect(besideName(payment)).toEqual([]);
  }
});
