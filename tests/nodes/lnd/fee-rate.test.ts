import { afterAll, beforeEach, expect, test } from 'bun:test';
import { sendSatPerVbyte } from '../../../src/nodes/lnd/reads/fee-rate.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { rejection } from '../../support/rejection.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
const owner = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => '0e' });
const asked = () => lnd.requests.map(({ path }) => path);
beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v2/wallet/estimatefee/2', { sat_per_kw: '1250' });
});

test('an LND before 0.20, which has no rate for the next block, is asked for the next two', async () => {
  const words = 'confirmation target must be greater than 1';
  lnd.on('GET /v2/wallet/estimatefee/1', () => refusal(500, 2, words));
  expect(await sendSatPerVbyte(owner, 'high')).toBe(5n);
});

test('a later LND is asked for the next block alone', async () => {
  lnd.on('GET /v2/wallet/estimatefee/1', { sat_per_kw: '2500' });
  expect(await sendSatPerVbyte(owner, 'high')).toBe(10n);
  expect(asked()).toEqual(['/v2/wallet/estimatefee/1']);
});

test('any other refusal is told as it is', async () => {
  lnd.on('GET /v2/wallet/estimatefee/1', () => refusal(500, 2, 'no estimate'));
  expect(await rejection(sendSatPerVbyte(owner, 'high'))).toMatchObject({ kind: 'refused' });
  expect(asked()).toEqual(['/v2/wallet/estimatefee/1']);
});
