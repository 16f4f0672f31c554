import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openLog } from '../../../src/lib/log.ts';
import { blankPayment, type Payment } from '../../../src/model/payment.ts';
import { miningFeeId, paymentIndex, receiveId } from '../../../src/model/payment-index.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { type Following, lightningId } from '../../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { caughtUp, openFeeds, requestsTo } from './open-feeds.ts';
import { RECORDED, RECORDED_AT_MS, RECORDED_NEWEST, recordedWallet, replay } from './recorded.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CURSOR = JSON.stringify({ a: 3, s: 1, p: 2, l: RECORDED_NEWEST, h: 438 });
const { hashes, lists, streams } = RECORDED;
const lnd = scriptedLnd();
afterAll(() => lnd.stop());
let nowMs: number;
let node: WalletNode;
beforeEach(async () => {
  lnd.reset();
  nowMs = RECORDED_AT_MS;
  node = await recordedWallet(lnd, { now: () => nowMs });
});

const open = openFeeds(() => node);
const asked = (start: string) => requestsTo(lnd, start);
const statuses = ({ observations }: Following, hash: string) =>
  observations.filter(({ payment }) => payment.hash === hash).map(({ payment }) => payment.status);
const invoiceOf = (memo: string) => {
  const found = lists.invoices.invoices.find((one) => one.memo === memo);
  if (found === undefined) throw new Error('not recorded');
  return found;
};

/** An open invoice that expires an hour after the recording. */
function openInvoice(hash: string): Payment {
  return {
    ...blankPayment({
      index: paymentIndex(RECORDED_AT_MS, lightningId(hash)),
      rail: 'invoice',
      direction: 'inbound',
      status: 'pending',
      statusMsg: 'invoice generated',
      createdAtMs: RECORDED_AT_MS,
      updatedAtMs: RECORDED_AT_MS,
    }),
    hash,
    expiresAtMs: RECORDED_AT_MS + 3_600_000,
  };
}
const SPENDER_BYTES = Buffer.alloc(32, 0x0b).toString('base64');

/** A receipt that no block has, paid with a coin of another. */
function receiptOf(coin: string): Payment {
  const txid = '0c'.repeat(32);
  return {
    ...blankPayment({
      index: paymentIndex(RECORDED_AT_MS, receiveId(txid, 0)),
      rail: 'onchain',
      direction: 'inbound',
      status: 'pending',
      statusMsg: 'broadcasted',
      createdAtMs: RECORDED_AT_MS,
      updatedAtMs: RECORDED_AT_MS,
    }),
    txid,
    tx: {
      version: 2,
      lock_time: 0,
      input: [{ previous_output: coin, script_sig: '', sequence: 0, witness: [] }],
      output: [],
    },
  };
}

const MANY = Array.from({ length: 20 }, (_, count) => count.toString(16).padStart(64, '0'));
/** A look is over when it has read the transactions. */
const looks = () => asked('GET /v1/transactions?').length;

describe('what a stream tells', () => {
  test('is passed on while a look is running, however long that takes', async () => {
    const { say } = replay(lnd, 'full');
    const held = Promise.withResolvers<Response>();
    lnd.on('GET /v1/invoices?', () => held.promise);
    const feed = open(null);
    for (const item of streams.payments) await say('payments', item);
    await feed.shows(hashes.out, 'completed');
    expect(feed.isCaughtUp()).toBe(false);
    held.resolve(Response.json(lists.invoices));
    await caughtUp(feed);
  });

  test('is not undone by a page that LND answered before it', async () => {
    const { say } = replay(lnd, 'full');
    const held = Promise.withResolvers<Response>();
    lnd.on('GET /v1/invoices?', () => held.promise);
    const feed = open(null);
    await say('invoices', invoiceOf('paid'));
    await feed.shows(hashes.paid, 'completed');
    const earlier = { ...invoiceOf('paid'), state: 'OPEN', settle_index: '0' };
    held.resolve(Response.json({ ...lists.invoices, invoices: [earlier, invoiceOf('open')] }));
    await caughtUp(feed);
    expect(statuses(feed, hashes.paid)).toEqual(['completed']);
    expect(statuses(feed, hashes.open)).toEqual(['pending']);
  });

  test('of a spent coin is passed on while a look is running, as the replacement of its receipt', async () => {
    const { say } = replay(lnd, 'full');
    const coin = `${'0a'.repeat(32)}:1`;
    const receipt = receiptOf(coin);
    const isLooking = Promise.withResolvers<void>();
    const held = Promise.withResolvers<Response>();
    lnd.on('POST /v2/chainnotifier/register/spends', () => {
      const height = lists.getinfo.block_height;
      const spend = { spending_tx_hash: SPENDER_BYTES, spending_height: height };
      const line = `${JSON.stringify({ result: { spend } })}\n`;
      return new Response(
        new ReadableStream({
          async start(controller) {
            await isLooking.promise;
            controller.enqueue(new TextEncoder().encode(line));
          },
        }),
      );
    });
    const feed = open(CURSOR, [receipt]);
    await caughtUp(feed);
    lnd.on('GET /v1/invoices?', () => {
      isLooking.resolve();
      return held.promise;
    });
    await say('blocks', streams.blocks[0] ?? {});
    const { payment } = await until(
      () => feed.observations.find((seen) => seen.payment.replacement !== null),
      'the receipt was replaced',
    );
    expect(payment).toMatchObject({
      index: receipt.index,
      status: 'pending',
      replacement: '0b'.repeat(32),
    });
    held.resolve(Response.json(lists.invoices));
  });

  test('moves the cursor only together with what it says', async () => {
    const { say } = replay(lnd, 'full');
    const feed = open(null);
    await caughtUp(feed);
    await say('invoices', { ...invoiceOf('open'), state: 'SETTLED', settle_index: '9' });
    const [block = {}] = streams.blocks;
    await say('blocks', block);
    await until(() => JSON.parse(feed.cursor() ?? '{}').s === 9, 'the cursor has moved');
    const told = feed.batches.findIndex(({ observations }) =>
      observations.some(({ payment }) => payment.hash === hashes.open && payment.amountMsat),
    );
    const moved = feed.batches.findIndex(({ cursor }) => cursor && JSON.parse(cursor).s === 9);
    expect(told).toBeLessThan(moved);
  });
});

describe('the row of what the wallet paid miners for its own transaction', () => {
  const COIN = `${'0a'.repeat(32)}:1`;
  const SECOND = `${'0b'.repeat(32)}:0`;
  const height = lists.getinfo.block_height;
  /** The transaction of a child in LND's list that spends these coins of the wallet. */
  const child = (tx_hash: string, num_confirmations: number, coins: readonly string[]) => ({
    tx_hash,
    amount: '-700',
    num_confirmations,
    block_height: num_confirmations > 0 ? height - num_confirmations + 1 : 0,
    time_stamp: `${RECORDED_AT_MS / 1000}`,
    total_fees: '700',
    raw_tx_hex: '',
    label: '0:sweep',
    output_details: [],
    previous_outpoints: coins.map((outpoint) => ({ outpoint, is_our_output: true })),
  });
  const FIRST_TX = 'e1'.repeat(32);
  const OTHER_TX = 'e2'.repeat(32);
  /** The row of a child that a block had, before that block was replaced. */
  const row: Payment = {
    ...receiptOf(COIN),
    index: paymentIndex(RECORDED_AT_MS, miningFeeId('0a'.repeat(32), 1)),
    direction: 'info',
    txid: FIRST_TX,
    amountMsat: 0n,
    feesMsat: 500_000n,
  };
  const told = async (...transactions: object[]) => {
    replay(lnd, 'full');
    lnd.on('GET /v1/transactions?', { transactions });
    const feed = open(CURSOR, [row]);
    await caughtUp(feed);
    return feed.observations
      .filter(({ payment }) => payment.direction === 'info')
      .map(({ payment }) => payment);
  };
  const idIn = ({ index }: Payment) => index.slice(20);

  test('is that of the one child that is in a block, and follows it', async () => {
    for (const confirmations of [1, 6]) {
      lnd.reset();
      node = await recordedWallet(lnd, { now: () => nowMs });
      const both = [child(FIRST_TX, 0, [COIN]), child(OTHER_TX, confirmations, [COIN])];
      const rows = await told(...both);
      expect(rows).toMatchObject([
        {
          txid: OTHER_TX,
          feesMsat: 700_000n,
          replacement: null,
          status: confirmations === 6 ? 'completed' : 'pending',
        },
      ]);
      expect(rows.map(idIn)).toEqual([idIn(row)]);
    }
  });

  test('ends when another of other coins too stands in its place for good', async () => {
    const rows = await told(child(OTHER_TX, 6, [SECOND, COIN]));
    expect(rows.map(({ txid, status, statusMsg }) => [txid, status, statusMsg])).toEqual([
      [OTHER_TX, 'completed', 'completed'],
      [FIRST_TX, 'failed', 'replaced'],
    ]);
    expect(rows.map(idIn)).toEqual([miningFeeId('0b'.repeat(32), 0), idIn(row)]);
  });

  test('stays while its transaction waits for a block again', async () => {
    expect(await told(child(FIRST_TX, 0, [COIN]))).toEqual([]);
  });
});

describe('open invoices', () => {
  test('are compared with LND’s list when a feed opens, and not after each block', async () => {
    const { say } = replay(lnd, 'full');
    lnd.on('GET /v1/invoices?', lists.invoices);
    lnd.on('GET /v1/invoices?num_max_invoices=500&index_offset=3', {
      invoices: [],
      last_index_offset: '0',
    });
    const feed = open(CURSOR, [...MANY, hashes.open].map(openInvoice));
    await caughtUp(feed);
    const compared = [asked('GET /v1/invoices?').length, asked('GET /v1/invoice/').length];
    expect(asked('GET /v1/invoices?').filter((one) => one.includes('pending_only'))).toHaveLength(
      1,
    );
    // All that LND does not list are looked up; it lists one of them.
    expect(compared[1]).toBe(MANY.length);
    const [block = {}] = streams.blocks;
    for (const wanted of [2, 3]) {
      await say('blocks', block);
      await until(() => looks() >= wanted, 'a block was followed by a look');
    }
    expect(asked('GET /v1/invoices?').filter((one) => one.includes('pending_only'))).toHaveLength(
      1,
    );
    expect(asked('GET /v1/invoice/')).toHaveLength(MANY.length);
  });

  test('are looked up at their expiry, each for itself', async () => {
    const { say } = replay(lnd, 'full');
    const canceled = { ...invoiceOf('canceled') };
    lnd.on(`GET /v1/invoice/${hashes.canceled}`, () => Response.json(canceled));
    canceled.state = 'OPEN';
    const feed = open(CURSOR, [openInvoice(hashes.canceled), openInvoice(hashes.open)]);
    await caughtUp(feed);
    lnd.requests.length = 0;
    canceled.state = 'CANCELED';
    nowMs += 3_601_000;
    const [block = {}] = streams.blocks;
    await say('blocks', block);
    await feed.shows(hashes.canceled, 'failed');
    expect(asked('GET /v1/invoice/')).toHaveLength(2);
    expect(asked('GET /v1/invoices?').some((one) => one.includes('pending_only'))).toBe(false);
  });

  test('are compared at each look where LND does not tell of those that are paid', async () => {
    const { say } = replay(lnd, 'full');
    lnd.on('GET /v1/invoices/subscribe', () => refusal(500, 2, 'permission denied'));
    const paid = { ...invoiceOf('paid'), state: 'OPEN' };
    lnd.on(`GET /v1/invoice/${hashes.paid}`, () => Response.json(paid));
    const feed = open(CURSOR, [openInvoice(hashes.paid)]);
    await caughtUp(feed);
    paid.state = 'SETTLED';
    await say('blocks', streams.blocks[0] ?? {});
    await feed.shows(hashes.paid, 'completed');
  });
});

describe('a row that cannot be read', () => {
  const lines: string[] = [];
  const log = openLog({ level: 'warn', format: 'json', write: (line) => lines.push(line) });
  beforeEach(() => {
    lines.length = 0;
  });
  const ODD_HASH = Buffer.from('ab'.repeat(32), 'hex').toString('base64');
  const oddInvoice = { add_index: '4', r_hash: ODD_HASH, r_preimage: 'c2VjcmV0', state: 'ODD' };
  const oddPayment = { payment_index: '3', payment_hash: 'cd'.repeat(32), status: 'ODD' };

  test('is left out of a list and logged once, and the others are given', async () => {
    const { say } = replay(lnd, 'full');
    const { invoices, last_index_offset } = lists.invoices;
    lnd.on('GET /v1/invoices?num_max_invoices=500&index_offset=0', {
      invoices: [invoices[0], oddInvoice, ...invoices.slice(1)],
      last_index_offset,
    });
    const all = 'include_incomplete=true&omit_hops=true&max_payments=500&index_offset=0';
    lnd.on(`GET /v1/payments?${all}`, {
      payments: [...lists.payments.payments, oddPayment],
      last_index_offset: '3',
    });
    lnd.on('GET /v1/transactions?', {
      transactions: [{ tx_hash: 'ef'.repeat(32) }, ...lists.transactions.transactions],
    });
    const feed = open(null, [], { log });
    await caughtUp(feed);
    expect(statuses(feed, hashes.paid)).toEqual(['completed']);
    expect(statuses(feed, hashes.open)).toEqual(['pending']);
    expect(statuses(feed, hashes.out)).toEqual(['completed']);
    expect(feed.observations.some(({ payment }) => payment.rail === 'onchain')).toBe(true);
    expect(JSON.parse(feed.cursor() ?? '')).toMatchObject({ a: 3, p: 3 });
    const [block = {}] = streams.blocks;
    await say('blocks', block);
    await until(() => looks() > 1, 'a block was followed by a look');
    await feed.end();
    const told = lines.map((line) => JSON.parse(line));
    expect(told).toMatchObject([
      { add_index: '4', r_hash: ODD_HASH },
      { payment_index: '3', payment_hash: 'cd'.repeat(32) },
      { tx_hash: 'ef'.repeat(32) },
    ]);
    expect(lines.join('')).not.toContain(oddInvoice.r_preimage);
  });

  test('is left out of a stream', async () => {
    const { say } = replay(lnd, 'empty');
    const feed = open(null, [], { log });
    await caughtUp(feed);
    await say('payments', oddPayment);
    await say('invoices', { ...oddInvoice, state: 'SETTLED' });
    for (const item of streams.payments) await say('payments', item);
    await feed.shows(hashes.refused, 'failed');
    await until(() => lines.length === 2, 'both were logged');
  });

  test('does not excuse an answer that is no list, or a list that does not go on', async () => {
    replay(lnd, 'full');
    lnd.on('GET /v1/invoices?', { invoices: 'many', last_index_offset: '3' });
    expect(await open(null).over).toMatchObject({ kind: 'unreadable' });
    const rows = Array.from({ length: 500 }, () => oddInvoice);
    lnd.on('GET /v1/invoices?', { invoices: rows, last_index_offset: '4' });
    expect(await open(null).over).toMatchObject({ kind: 'unreadable' });
  });
});

describe('a wallet of which only the newer payments are wanted', () => {
  const SINCE = { historySinceMs: RECORDED_AT_MS };

  test('is asked for those, and for what is open however old', async () => {
    replay(lnd, 'full');
    const secs = Math.floor(SINCE.historySinceMs / 1000);
    const none = { last_index_offset: '0', invoices: [], payments: [] };
    const pages = 'num_max_invoices=500&index_offset=0';
    lnd.on(`GET /v1/invoices?${pages}&creation_date_start=${secs}`, none);
    const pending = { ...lists.invoices, invoices: [invoiceOf('open')] };
    lnd.on(`GET /v1/invoices?${pages}&pending_only=true`, pending);
    lnd.on('GET /v1/invoices?num_max_invoices=1&', lists.invoices);
    const all = 'include_incomplete=true&omit_hops=true';
    const sent = `max_payments=500&index_offset=0&creation_date_start=${secs}`;
    lnd.on(`GET /v1/payments?${all}&${sent}`, none);
    lnd.on(`GET /v1/payments?${all}&max_payments=1&`, lists.payments);
    const feed = open(null, [], SINCE);
    await caughtUp(feed);
    const sentOrReceived = feed.observations.filter(({ payment }) => payment.hash !== null);
    expect(sentOrReceived.map(({ payment }) => payment.hash)).toEqual([hashes.open]);
    expect(JSON.parse(feed.cursor() ?? '')).toMatchObject({ a: 3, p: 2 });
  });

  test('is asked for what is open again where the first read of its invoices was cut off', async () => {
    replay(lnd, 'full');
    const pages = 'GET /v1/invoices?num_max_invoices=500&index_offset=0';
    const isOpen = ({ memo }: { memo: string }) => memo === 'open';
    const { invoices } = lists.invoices;
    const newer = { ...lists.invoices, invoices: invoices.filter((one) => !isOpen(one)) };
    lnd.on(`${pages}&creation_date_start=`, newer);
    lnd.on('GET /v1/invoices?num_max_invoices=1&', lists.invoices);
    lnd.on(`${pages}&pending_only=true`, () => refusal(503, 14, 'LND is shutting down'));
    const first = open(null, [], SINCE);
    expect(await first.over).not.toBeNull();
    lnd.on(`${pages}&pending_only=true`, { ...lists.invoices, invoices: invoices.filter(isOpen) });
    const feed = open(first.cursor(), [], SINCE);
    await caughtUp(feed);
    expect(statuses(feed, hashes.open)).toContain('pending');
  });

  test('is followed from its cursor on without that bound', async () => {
    replay(lnd, 'full');
    const feed = open(CURSOR, [], SINCE);
    await caughtUp(feed);
    expect(lnd.requests.some(({ path }) => path.includes('creation_date_start'))).toBe(false);
  });
});
