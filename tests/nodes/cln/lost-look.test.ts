import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { findLost } from '../../../src/nodes/cln/follow/lost-look.ts';
import { attemptsToPay } from '../../../src/nodes/cln/lightning/sends.ts';
import { throwing } from '../../support/rejection.ts';
import { FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { type FakeWallet, fakeWallet, rpcOf } from './fake-wallet.ts';

/**
 * When a look in the channels finds a payment lost (docs/decisions.md 169). What the feed tells of it is in
 * lost-parts.test.ts.
 */

const HASH = 'a'.repeat(64);
const CHANNEL = '0c'.repeat(32);
const STILL_MS = 300_000;
const AGAIN_MS = 60_000;
const HOUR_MS = 3_600_000;
const LOST = 'Core Lightning has lost a payment, which no channel has: it has failed.';
const UNCERTAIN =
  'Core Lightning lists a payment as pending that no channel has, and it may be paid all the same: it stays pending. Look for it in the channels that are closed.';

type Row = Record<string, unknown>;

let cln: FakeCln;
let wallet: FakeWallet;
let height: number;
let channels: Row[];
let closed: Row[];
let warned: unknown[][];
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  height = 100;
  channels = [{ state: 'CHANNELD_NORMAL', htlcs: [] }];
  closed = [];
  warned = [];
  const ok = (body: unknown) => Response.json(body, { status: 201 });
  const info = { id: wallet.nodePk, version: 'v26.06.6', network: 'regtest' };
  cln.on('getinfo', () => ok({ ...info, blockheight: height }));
  cln.on('listpeerchannels', () => ok({ channels }));
  cln.on('listclosedchannels', () => ok({ closedchannels: closed }));
});
afterEach(() => cln.stop());

const log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (...told: unknown[]) => void warned.push(told),
  error: () => undefined,
};
const find = () => findLost({ rpc: rpcOf(cln), wallet, log });

/** Notes what the node lists of the hash, as the feed does. */
const show = async () => wallet.lost.shown(HASH, await attemptsToPay(rpcOf(cln), wallet, HASH));

/** What the second look finds, five minutes and a block after the first. */
async function foundAtLast(): Promise<string[]> {
  await show();
  wallet.times.elapsedMs += STILL_MS;
  expect(await find()).toEqual([]);
  wallet.times.elapsedMs += STILL_MS;
  height += 1;
  return find();
}
const part = (change: Row = {}) => cln.addPart({ payment_hash: HASH, ...change });
const close = (secs: number, change: Row = {}) =>
  cln.chainmoves.add({
    account_id: CHANNEL,
    primary_tag: 'channel_close',
    timestamp: secs,
    utxo: `${'0f'.repeat(32)}:0`,
    blockheight: 90,
    ...change,
  });

test('a payment that no channel has is found once, logged, and counts as lost', async () => {
  part();
  expect(await foundAtLast()).toEqual([HASH]);
  expect(warned).toEqual([[LOST, { payment_hash: HASH }]]);
  await show();
  expect(await find()).toEqual([]);
  expect(wallet.lost.dueInMs).toBe(Number.POSITIVE_INFINITY);
});

test('the node is asked for nothing while no payment is due', async () => {
  expect(await find()).toEqual([]);
  part();
  await show();
  wallet.times.elapsedMs += STILL_MS - 1;
  const before = cln.asked.length;
  expect(await find()).toEqual([]);
  expect(cln.asked.length).toBe(before);
});

describe('beside a channel that', () => {
  for (const state of [
    'OPENINGD',
    'CHANNELD_AWAITING_LOCKIN',
    'DUALOPEND_OPEN_INIT',
    'DUALOPEND_AWAITING_LOCKIN',
    'CHANNELD_NORMAL',
    'CHANNELD_AWAITING_SPLICE',
  ]) {
    test(`is in the state ${state} a payment is found, since it would list it`, async () => {
      part();
      channels = [{ state, htlcs: [] }];
      expect(await foundAtLast()).toEqual([HASH]);
    });
  }

  for (const state of [
    'CHANNELD_SHUTTING_DOWN',
    'CLOSINGD_SIGEXCHANGE',
    'CLOSINGD_COMPLETE',
    'AWAITING_UNILATERAL',
    'FUNDING_SPEND_SEEN',
    'ONCHAIN',
    'CLOSED',
    'DUALOPEND_',
    'NO_CHANNELD_NORMAL',
    'CHANNELD_NORMAL_NO_MORE',
    '',
  ]) {
    test(`is in the state "${state}" none is, it is said once, and it is looked for in an hour`, async () => {
      part();
      channels = [
        { state: 'CHANNELD_NORMAL', htlcs: [] },
        { state, htlcs: [] },
      ];
      expect(await foundAtLast()).toEqual([]);
      expect(wallet.lost.dueInMs).toBe(HOUR_MS);
      wallet.times.elapsedMs += HOUR_MS;
      height += 1;
      expect(await find()).toEqual([]);
      expect(warned).toEqual([[UNCERTAIN, { payment_hash: HASH }]]);
    });
  }

  test('has a part of it none is, and it is looked for anew', async () => {
    part();
    const htlc = { direction: 'out', amount_msat: 1, payment_hash: HASH };
    await show();
    wallet.times.elapsedMs += STILL_MS;
    await find();
    channels = [{ state: 'CHANNELD_NORMAL', htlcs: [{ ...htlc, direction: 'in' }, htlc] }];
    wallet.times.elapsedMs += STILL_MS;
    height += 1;
    expect(await find()).toEqual([]);
    expect(wallet.lost.dueInMs).toBe(STILL_MS);
    channels = [{ state: 'CHANNELD_NORMAL', htlcs: [{ ...htlc, payment_hash: 'b'.repeat(64) }] }];
    wallet.times.elapsedMs += STILL_MS;
    height += 1;
    // What the look before had missed does not count any more.
    expect(await find()).toEqual([]);
    wallet.times.elapsedMs += STILL_MS;
    height += 1;
    expect(await find()).toEqual([HASH]);
  });
});

describe('beside a channel that was closed', () => {
  beforeEach(() => {
    closed = [{ channel_id: CHANNEL, total_htlcs_sent: 1 }];
  });

  test('the time of the pending parts counts, and not that of one that has failed before', async () => {
    part({ partid: 1, status: 'failed', created_at: NODE_SECS - 20_000 });
    part({ partid: 2, created_at: NODE_SECS });
    close(NODE_SECS - 10_000);
    expect(await foundAtLast()).toEqual([HASH]);
  });

  test('the first of the pending parts counts', async () => {
    part({ partid: 1, created_at: NODE_SECS - 20_000 });
    part({ partid: 2, created_at: NODE_SECS });
    close(NODE_SECS - 10_000);
    expect(await foundAtLast()).toEqual([]);
    expect(wallet.lost.areUncertain).toBe(true);
  });

  test('none is found where the node does not tell whether that has sent anything', async () => {
    part();
    closed = [{ channel_id: CHANNEL }];
    expect(await foundAtLast()).toEqual([]);
  });

  test('one is found where that has sent nothing, whenever it was closed', async () => {
    part();
    closed = [{ channel_id: CHANNEL, total_htlcs_sent: 0 }];
    close(NODE_SECS + 1);
    expect(await foundAtLast()).toEqual([HASH]);
  });
});

describe('what cannot be read', () => {
  test('is looked for again in a minute, with what was missed before', async () => {
    part();
    await show();
    wallet.times.elapsedMs += STILL_MS;
    await find();
    wallet.times.elapsedMs += STILL_MS;
    height += 1;
    cln.on('listpeerchannels', () => refusal(-1, 'busy'));
    expect(await find()).toEqual([]);
    expect(wallet.lost.dueInMs).toBe(AGAIN_MS);
    cln.on('listpeerchannels', () => Response.json({ channels }, { status: 201 }));
    wallet.times.elapsedMs += AGAIN_MS;
    expect(await find()).toEqual([HASH]);
  });

  test('is no excuse for a fault of this program', async () => {
    part();
    await show();
    wallet.times.elapsedMs += STILL_MS;
    const rpc = rpcOf(cln);
    rpc.read = () => Promise.reject(new TypeError('a fault'));
    expect(await throwing(findLost({ rpc, wallet, log }))).toThrow('a fault');
  });
});
