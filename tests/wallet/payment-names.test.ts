import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import { createNameResolver } from '../../src/net/bip353.ts';
import { createTxtResolver } from '../../src/net/txt-resolver.ts';
import { analyze } from '../../src/wallet/strings/analyze.ts';
import type { PaymentServices } from '../../src/wallet/strings/payment-services.ts';
import {
  type OutsideService,
  openOutsideService,
  TEST_CERTIFICATE,
} from '../support/outside-service.ts';
import { rejection } from '../support/rejection.ts';
import { openSignedTree } from '../support/signed-tree.ts';
import { fakeNode } from './fake-node.ts';

const NOW = 1_800_000_000;
const ADDRESS = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
const { node } = fakeNode();
const tree = openSignedTree({ nowSecs: NOW });
let resolver: OutsideService;
let services: PaymentServices;

beforeAll(() => {
  tree.zone('example');
  resolver = openOutsideService(tree.answer);
  services = {
    lnurl: { discover: () => Promise.reject(new Error('asked')) } as never,
    requestResource: () => Promise.reject(new Error('asked')),
    rates: null,
    resolveName: createNameResolver({
      resolveTxt: createTxtResolver({
        url: `https://127.0.0.1:${resolver.port}/dns-query`,
        ca: TEST_CERTIFICATE,
        clock: { now: () => NOW * 1000 },
        anchors: tree.anchors,
      }),
      localZone: async () => null,
    }),
  };
});
afterAll(() => resolver.close());

const lookAt = (name: string) => analyze(`₿${name}@shop.example`, 'payable', { node }, services);
const publish = (name: string, uri: string) =>
  tree.txt(`${name}.user._bitcoin-payment.shop.example`, [uri, 'another record']);

test('a name is analyzed as the URI of its signed record, over a resolver that only carries it', async () => {
  publish('coins', `bitcoin:${ADDRESS}?amount=0.00021`);
  const { payables } = await lookAt('coins');
  expect(payables).toMatchObject([{ kind: 'onchain', text: ADDRESS, amountMsat: 21_000_000n }]);
});

test('a name whose record cannot be read is error 113', async () => {
  publish('bad', 'bitcoin:?amount=what');
  const error = await rejection(lookAt('bad'));
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject({ code: 113, data: { problem: 'unusable_answer' } });
  expect(error.message).toMatch(/record of this Human Bitcoin Address cannot be used/);
});

test('a name whose record requires something unknown is error 106, as every URI that does', async () => {
  publish('new', 'bitcoin:?req-what=1');
  const error = await rejection(lookAt('new'));
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject({ code: 106 });
  expect(error.message).toMatch(/record of this Human Bitcoin Address .* "req-what"/);
});

test('a name whose domain has no DNSSEC is error 113 that says so', async () => {
  tree.zone('open.example', { digestTypes: [] });
  tree.txt('me.user._bitcoin-payment.open.example', [`bitcoin:${ADDRESS}`]);
  const error = await rejection(analyze('₿me@open.example', 'payable', { node }, services));
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject({ code: 113, data: { problem: 'unusable_answer' } });
  expect(error.message).toMatch(/open\.example has no DNSSEC.*ask the receiver/);
});
