import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { idOf } from '../../../src/model/payment.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import type { Following } from '../../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { caughtUp, openFeeds, requestsTo } from './open-feeds.ts';
import { RECORDED, RECORDED_AT_MS, RECORDED_NEWEST, recordedWallet, replay } from './recorded.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

setDefaultTimeout(SLOW_TEST_MS);

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
let node: WalletNode;
beforeEach(async () => {
  lnd.reset();
  node = await recordedWallet(lnd);
});

const open = openFeeds(() => node);
const { hashes, lists, streams } = RECORDED;
/** The time at which LND made it, in microseconds. */
const attemptOf = (hash: string) => {
  const found = lists.payments.payments.find(({ payment_hash }) => payment_hash === hash);
  return Number(BigInt(found?.creation_time_ns ?? 0) / 1000n);
};
const ends = (feed: Following) =>
  Object.fromEntries(
    Object.entries(hashes).map(([name, hash]) => {
      const seen = feed.observations.findLast(({ payment }) => payment.hash === hash);
      return [name, seen && [seen.payment.status, seen.attempt]];
    }),
  );
const asked = (start: string) => requestsTo(lnd, start);

describe('a feed from the beginning', () => {
  test('gives what the lists hold, each payment as it stands, and says then that this is all', async () => {
    replay(lnd, 'full');
    const feed = open();
    await caughtUp(feed);
    expect(ends(feed)).toEqual({
      paid: ['completed', null],
      canceled: ['failed', null],
      open: ['pending', null],
      out: ['completed', attemptOf(hashes.out)],
      refused: ['failed', attemptOf(hashes.refused)],
    });
    const paid = feed.observations.find(({ payment }) => payment.hash === hashes.paid);
    expect(paid?.payment).toMatchObject({
      amountMsat: 25_000_000n,
      preimage: expect.stringMatching(/^[0-9a-f]{64}$/),
      direction: 'inbound',
    });
    const coins = feed.observations.find(({ payment }) => payment.amountMsat === 70_000_000n);
    expect(coins?.payment).toMatchObject({ rail: 'onchain', direction: 'inbound' });
    expect(feed.batches.findIndex((batch) => batch.caughtUp)).toBe(feed.batches.length - 1);
  });

  test('has a cursor that stands behind everything that the lists held', async () => {
    replay(lnd, 'full');
    const feed = open();
    await caughtUp(feed);
    const height = RECORDED.lists.getinfo.block_height;
    expect(JSON.parse(feed.cursor() ?? '')).toEqual({
      ...{ a: 3, s: 1, p: 2, h: height - 20 },
      l: RECORDED_NEWEST,
    });
  });

  test('gives the same payments each time', async () => {
    replay(lnd, 'full');
    const [one, other] = [open(), open()];
    await caughtUp(one);
    await caughtUp(other);
    const names = ({ observations }: Following) =>
      observations.map(({ payment }) => `${idOf(payment)} ${payment.status}`);
    expect(names(other)).toEqual(names(one));
  });
});

describe('a feed that goes on at a cursor', () => {
  const CURSOR = JSON.stringify({ a: 3, s: 1, p: 2, l: RECORDED_NEWEST, h: 438 });

  test('asks for what came after it, and gives nothing of what was before', async () => {
    replay(lnd, 'full');
    const feed = open(CURSOR);
    await caughtUp(feed);
    expect(asked('GET /v1/invoices?')).toEqual([
      'GET /v1/invoices?num_max_invoices=500&index_offset=3',
    ]);
    // From the payment on at which the cursor stands: LND may have numbered anew.
    expect(asked('GET /v1/payments?')).toEqual([expect.stringContaining('index_offset=1')]);
    expect(asked('GET /v1/transactions?')).toEqual([expect.stringContaining('start_height=438')]);
    expect(feed.observations.filter(({ payment }) => payment.hash !== null)).toEqual([]);
  });

  test('subscribes one invoice early, which shows that LND listens', async () => {
    replay(lnd, 'full');
    await caughtUp(open(CURSOR));
    await until(() => asked('GET /v1/invoices/subscribe').length > 0, 'it subscribed');
    expect(asked('GET /v1/invoices/subscribe')).toEqual([
      'GET /v1/invoices/subscribe?add_index=2&settle_index=1',
    ]);
  });

  test('looks at each unfinished payment again: LND tells nobody that it canceled an invoice', async () => {
    replay(lnd, 'full');
    const first = open();
    await caughtUp(first);
    const pending = (hash: string) => {
      const found = first.observations.find(({ payment }) => payment.hash === hash)?.payment;
      if (found === undefined) throw new Error('not in the feed');
      return { ...found, status: 'pending' as const };
    };
    const feed = open(CURSOR, [pending(hashes.canceled), pending(hashes.open)]);
    const seen = await feed.shows(hashes.canceled, 'failed');
    expect(seen.payment.statusMsg).toBe('canceled');
    await caughtUp(feed);
    expect(feed.observations.some(({ payment }) => payment.hash === hashes.open)).toBe(false);
  });
});

describe('a live feed', () => {
  test('gives what the streams say, as they say it', async () => {
    const { say } = replay(lnd, 'empty');
    const feed = open();
    await caughtUp(feed);
    for (const item of streams.invoices) await say('invoices', item);
    for (const item of streams.payments) await say('payments', item);
    await feed.shows(hashes.paid, 'completed');
    await feed.shows(hashes.refused, 'failed');
    expect(ends(feed)).toMatchObject({
      paid: ['completed', null],
      out: ['completed', attemptOf(hashes.out)],
      refused: ['failed', attemptOf(hashes.refused)],
    });
    const statuses = feed.observations
      .filter(({ payment }) => payment.hash === hashes.out)
      .map(({ payment }) => payment.status);
    expect(statuses).toEqual(['pending', 'pending', 'completed']);
  });

  test('reads the lists again soon where LND told of a transaction or a block before its list has it', async () => {
    const { say } = replay(lnd, 'empty');
    const feed = open();
    await caughtUp(feed);
    const listed = RECORDED.lists.transactions.transactions.find(
      ({ amount }) => amount === '70000',
    );
    const row = { ...listed, num_confirmations: 0, block_height: 0, label: 'theirs' };
    let reads = 0;
    lnd.on('GET /v1/transactions?', () =>
      Response.json({ transactions: ++reads > 2 ? [row] : [] }),
    );
    const [transaction = {}] = streams.transactions;
    await say('transactions', transaction);
    const statuses = () =>
      feed.observations
        .filter(({ payment }) => payment.amountMsat === 70_000_000n)
        .map(({ payment }) => payment.status);
    await until(() => statuses().includes('pending'), 'the coins arrived');
    lnd.on('GET /v1/getinfo', () => {
      const synced_to_chain = row.num_confirmations === 6;
      if (!synced_to_chain) row.num_confirmations += 1;
      return Response.json({ ...RECORDED.lists.getinfo, synced_to_chain });
    });
    const [block = {}] = streams.blocks;
    await say('blocks', block);
    await until(() => statuses().includes('completed'), 'the coins are confirmed');
  });

  test('is told of a new invoice by a look soon after: most are the sidecar’s own', async () => {
    const { say } = replay(lnd, 'empty');
    const feed = open();
    await caughtUp(feed);
    lnd.on('GET /v1/invoices?', RECORDED.lists.invoices);
    const [opened = {}] = streams.invoices;
    await say('invoices', opened);
    await feed.shows(hashes.open, 'pending');
  });

  for (const stream of ['invoices', 'payments', 'transactions', 'blocks'] as const) {
    test(`throws when LND ends its stream of ${stream}, after what it had said`, async () => {
      const { say, end } = replay(lnd, 'empty');
      const feed = open();
      await caughtUp(feed);
      for (const item of streams.payments) await say('payments', item);
      await feed.shows(hashes.refused, 'failed');
      await end(stream);
      expect(await feed.over).toMatchObject({ kind: 'unreachable' });
    });
  }

  test('throws when a stream says what is no item', async () => {
    const { sayText } = replay(lnd, 'empty');
    const feed = open();
    await caughtUp(feed);
    await sayText('payments', '{"result":"nonsense"}');
    expect(await feed.over).toMatchObject({ kind: 'unreadable' });
  });

  test('goes on without a stream that this LND was built without, or that the macaroon may not follow', async () => {
    const { say } = replay(lnd, 'empty');
    lnd.on('POST /v2/chainnotifier/register/blocks', () =>
      Response.json({ code: 5, message: 'Not Found', details: [] }, { status: 404 }),
    );
    lnd.on('GET /v1/transactions/subscribe', () => refusal(500, 2, 'permission denied'));
    const feed = open();
    await caughtUp(feed);
    for (const item of streams.payments) await say('payments', item);
    await feed.shows(hashes.refused, 'failed');
    await feed.end();
  });

  test('the clock of what happened is that of the wallet where LND says none', async () => {
    replay(lnd, 'full');
    const feed = open();
    const canceled = await feed.shows(hashes.canceled, 'failed');
    expect(canceled.payment.finalizedAtMs).toBe(RECORDED_AT_MS);
  });
});
