import { afterAll, beforeEach, expect, test } from 'bun:test';
import { LndRest } from '../../../src/nodes/lnd/rest.ts';
import { Sendable } from '../../../src/nodes/lnd/sendable.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/endpoint.ts';
import { until } from '../../support/until.ts';
import { channelOf } from './channel-of.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
const rest = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => 'aa' });
let nowMs: number;
let sendable: Sendable;
beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v1/channels', { channels: [channelOf({ local_balance: '5' })] });
  nowMs = 0;
  sendable = new Sendable(() => nowMs);
});
const isSent = (amountMsat: bigint) =>
  sendable.require(rest, amountMsat).then(
    () => true,
    (error) => error.kind,
  );

test('what was read ahead is good for one payment, shortly after', async () => {
  sendable.readAhead(rest);
  nowMs = 999;
  expect([await isSent(5000n), lnd.requests.length]).toEqual([true, 1]);
  expect([await isSent(5000n), lnd.requests.length]).toEqual([true, 2]);
  sendable.readAhead(rest);
  nowMs += 1000;
  expect([await isSent(5000n), lnd.requests.length]).toEqual([true, 4]);
});

test('nothing is refused without asking LND again', async () => {
  lnd.on('GET /v1/channels', { channels: [] });
  sendable.readAhead(rest);
  await until(() => lnd.requests.length === 1);
  lnd.on('GET /v1/channels', { channels: [channelOf({ local_balance: '5' })] });
  expect([await isSent(5000n), lnd.requests.length]).toEqual([true, 2]);
  expect(await isSent(5001n)).toBe('refused');
});

test('a read ahead that fails is made again, and that error counts', async () => {
  lnd.on('GET /v1/channels', () => refusal(503, 14, 'transport is closing'));
  sendable.readAhead(rest);
  expect([await isSent(1n), lnd.requests.length]).toEqual(['unreachable', 2]);
});
