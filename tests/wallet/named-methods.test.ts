import { expect, test } from 'bun:test';
import { findMethods } from '../../src/wallet/strings/named-methods.ts';
import { rejection } from '../support/rejection.ts';
import { addressOf, fakeServices, invoiceOf } from './payment-strings.ts';

const find = (text: string, services = fakeServices()) => findMethods(text, 'payable', services);
const shop = (uri: string) => fakeServices({ 'tea@shop.example': uri });
const kinds = ({ methods }: Awaited<ReturnType<typeof find>>) =>
  methods.map(({ method, viaName }) => [method.kind, viaName]);
const INVOICE = invoiceOf(5000n);

test('what is no payment string is rejected by the name of its field', async () => {
  expect(await rejection(find('hello'))).toMatchObject({
    kind: 'rejected',
    message: expect.stringContaining('payable'),
  });
});

test('a method alone is found, and nobody is asked', async () => {
  const services = fakeServices();
  expect(kinds(await find(INVOICE, services))).toEqual([['invoice', null]]);
  expect(services.asked).toEqual([]);
});

test('a URI that requires what is not known here is refused, and nobody is asked', async () => {
  const services = fakeServices();
  const text = `bitcoin:${addressOf(1)}?req-somethingyoudontunderstand=50`;
  expect(await rejection(find(text, services))).toMatchObject({ kind: 'refused' });
  expect(services.asked).toEqual([]);
});

test('a name leads to the methods of its record, which carry it', async () => {
  const found = await find('₿tea@shop.example', shop(`bitcoin:${addressOf(1)}?amount=0.0001`));
  expect(kinds(found)).toEqual([['onchain', 'tea@shop.example']]);
  expect(found.amountMsat).toBe(10_000_000n);
});

test('a record that leads to another name, or cannot be read, is an obstacle and no way to pay', async () => {
  for (const record of ['bitcoin:?amount=what', '₿other@shop.example']) {
    const found = await find('₿tea@shop.example', shop(record));
    expect(found.methods).toEqual([]);
    expect(found.obstacles).toMatchObject([
      { kind: 'serviceFailed', data: { problem: 'unusable_answer' } },
    ]);
  }
});

test('a record that requires what is not known here is refused', async () => {
  const record = `bitcoin:${addressOf(1)}?req-other=1`;
  expect(await rejection(find('₿tea@shop.example', shop(record)))).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('record of this Human Bitcoin Address'),
  });
});

test('a name without a record is an obstacle that says so', async () => {
  const found = await find('₿nobody@shop.example');
  expect(found).toMatchObject({ methods: [], obstacles: [{ kind: 'notFound' }] });
});

test('a method that cannot be read is left out, and why is said', async () => {
  const found = await find(`bitcoin:${addressOf(1)}?lightning=lnbcrt1nonsense`);
  expect(kinds(found)).toEqual([['onchain', null]]);
  expect(found.obstacles).toHaveLength(1);
});

test('amounts that contradict each other make nothing of the string usable', async () => {
  const text = `bitcoin:${addressOf(1)}?amount=0.0001&lightning=${INVOICE}`;
  expect(await rejection(find(text))).toMatchObject({ kind: 'refused' });
});
