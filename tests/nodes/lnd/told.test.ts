import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { type Following, follow } from '../../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { RECORDED, RECORDED_AT_MS, recordedWallet, replay } from './recorded.ts';
import { scriptedLnd } from './scripted-lnd.ts';

setDefaultTimeout(SLOW_TEST_MS);

const { hashes, lists, streams } = RECORDED;
const lnd = scriptedLnd();
afterAll(() => lnd.stop());

let elapsedMs: number;
let node: WalletNode;
let feed: Following;
beforeEach(async () => {
  lnd.reset();
  elapsedMs = 0;
  const clock = { now: () => RECORDED_AT_MS };
  node = await recordedWallet(lnd, clock, { elapsedMs: () => elapsedMs });
});
afterEach(() => feed.end());

async function caughtUp(): Promise<void> {
  feed = follow(node);
  await until(feed.isCaughtUp, 'the feed has caught up');
}
const told = (amountMsat: bigint) =>
  feed.observations.some(({ payment }) => payment.amountMsat === amountMsat);

// Time stands still, so that no look comes by itself.
describe('a word of LND is enough', () => {
  test('of a transaction', async () => {
    const { say } = replay(lnd, 'empty');
    await caughtUp();
    lnd.on('GET /v1/transactions?', lists.transactions);
    await say('transactions', streams.transactions[0] ?? {});
    await until(() => told(70_000_000n), 'the coins arrived');
  });

  test('of a block', async () => {
    const { say } = replay(lnd, 'empty');
    await caughtUp();
    lnd.on('GET /v1/invoices?', lists.invoices);
    await say('blocks', streams.blocks[0] ?? {});
    await feed.shows(hashes.canceled, 'failed');
  });

  test('that came while a look was running, which read the list before', async () => {
    const { say } = replay(lnd, 'empty');
    await caughtUp();
    const isAsked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<Response>();
    lnd.on('GET /v1/transactions?', () => {
      isAsked.resolve();
      return held.promise;
    });
    await say('blocks', streams.blocks[0] ?? {});
    await isAsked.promise;
    lnd.on('GET /v1/transactions?', lists.transactions);
    await say('transactions', streams.transactions[0] ?? {});
    for (const item of streams.payments) await say('payments', item);
    await feed.shows(hashes.refused, 'failed');
    expect(told(70_000_000n)).toBe(false);
    held.resolve(Response.json({ transactions: [] }));
    await until(() => told(70_000_000n), 'the coins arrived');
  });
});
