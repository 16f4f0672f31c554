import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { isApiError } from '../../../src/model/errors.ts';
import type { Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type { Observation, UpdatesOptions } from '../../../src/nodes/node.ts';
import type { Following } from '../../contracts/node/steps.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { followFake } from './fake-sends.ts';
import { type FakeWallet, fakeWallet, LABELS } from './fake-wallet.ts';

setDefaultTimeout(SLOW_TEST_MS);

const HASH = 'ab'.repeat(32);
const INDEX = paymentIndex(NODE_SECS * 1000, paymentId('ln', HASH));
const OWN = { payment_hash: HASH, label: LABELS.of(INDEX) };

let cln: FakeCln;
let wallet: FakeWallet;
const feeds: Following[] = [];
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
});
afterEach(async () => {
  for (const feed of feeds.splice(0)) await feed.end().catch(() => undefined);
  await cln.stop();
});

function open(
  after: string | null = null,
  unfinished: readonly Payment[] = [],
  change: Partial<UpdatesOptions> = {},
): Following {
  const feed = followFake(cln, wallet, after, unfinished, change);
  feeds.push(feed);
  return feed;
}
async function caughtUp(...given: Parameters<typeof open>): Promise<Following> {
  const feed = open(...given);
  await until(feed.isCaughtUp, 'the feed has caught up');
  return feed;
}
const hashOf = (row: Record<string, unknown>) => String(row.payment_hash);
const cursorOf = (feed: Following) => JSON.parse(feed.cursor() ?? 'null') as unknown;
const statusesOf = ({ observations }: Following, hash: string) =>
  observations.filter(({ payment }) => payment.hash === hash).map(({ payment }) => payment.status);
const lookedAt = () => cln.of('listsendpays').filter(({ index }) => index === undefined).length;

/** A payment as the store has it, from what a feed showed. */
function stored({ observations }: Following, hash: string): Payment {
  const seen = observations.findLast(({ payment }) => payment.hash === hash);
  if (seen === undefined) throw new Error('not in the feed');
  return seen.payment;
}

describe('a change that the node tells of', () => {
  /** The requests for the newest numbers of lists, which are answered at once. */
  const asked = () => cln.of('wait').filter(({ nextvalue }) => nextvalue === 0).length;

  test('is read without asking for the newest numbers again', async () => {
    const [paid, sent] = [cln.addInvoice(), cln.addPart(OWN)];
    const feed = await caughtUp();
    const before = asked();
    cln.pay(hashOf(paid));
    cln.endPart(sent, { status: 'complete', payment_preimage: 'cd'.repeat(32) });
    await until(() => statusesOf(feed, hashOf(paid)).includes('completed'), 'the invoice is paid');
    await until(() => statusesOf(feed, HASH).includes('completed'), 'the payment is over');
    expect(asked()).toBe(before);
  });

  test('is read once with its whole payment, in whichever orders the node lists it', async () => {
    const feed = await caughtUp();
    const before = lookedAt();
    cln.endPart(cln.addPart(OWN), { status: 'complete', payment_preimage: 'cd'.repeat(32) });
    const paid = cln.addInvoice();
    await until(() => statusesOf(feed, HASH).includes('completed'), 'the payment is over');
    cln.pay(hashOf(paid));
    await until(() => statusesOf(feed, hashOf(paid)).includes('completed'), 'the look is over');
    expect(lookedAt()).toBe(before + 1);
  });

  test('of a payment is not read while this process pays, and one of an invoice is', async () => {
    const feed = await caughtUp();
    const before = cln.of('listsendpays').length;
    const end = wallet.paying.begin();
    const [paid] = [cln.addInvoice(), cln.addPart(OWN)];
    cln.pay(hashOf(paid));
    await until(() => statusesOf(feed, hashOf(paid)).includes('completed'), 'the invoice is paid');
    expect(cln.of('listsendpays').length).toBe(before);
    end();
    await until(() => statusesOf(feed, HASH).includes('pending'), 'the payment is shown');
  });

  test('of a payment is read while this process pays for long', async () => {
    const feed = await caughtUp();
    wallet.paying.begin();
    const [first, second] = [cln.addInvoice(), cln.addInvoice(), cln.addPart(OWN)];
    cln.pay(hashOf(first));
    await until(() => statusesOf(feed, hashOf(first)).includes('completed'), 'it was put off');
    wallet.times.elapsedMs += 2000;
    cln.pay(hashOf(second));
    await until(() => statusesOf(feed, HASH).includes('pending'), 'the payment is shown');
  });

  test('is read again where the node refused a part of the look that read it', async () => {
    const feed = await caughtUp();
    const hashes = Array.from({ length: 9 }, (_, n) => `${n}`.repeat(64));
    // Those before are read before the last one is asked for.
    let refusals = 0;
    cln.on('listsendpays', ({ payment_hash }) =>
      payment_hash === hashes.at(-1) && refusals++ === 0
        ? refusal(1502, 'Not permitted: the node is starting', 401)
        : null,
    );
    const ended = { status: 'complete', payment_preimage: 'cd'.repeat(32) };
    for (const payment_hash of hashes) cln.addPart({ payment_hash, ...ended });
    await until(() => refusals > 0, 'the look was refused');
    cln.pay(hashOf(cln.addInvoice()));
    await until(() => statusesOf(feed, hashes.at(-1) ?? '').length > 0, 'the next look is over');
    expect(hashes.filter((hash) => !statusesOf(feed, hash).includes('completed'))).toEqual([]);
  });

  test('leaves the lists unread that have not changed', async () => {
    cln.addPart(OWN);
    const paid = cln.addInvoice();
    const feed = await caughtUp();
    await until(() => cln.of('wait').some(({ nextvalue }) => nextvalue === 2), 'it waits for more');
    const before = cln.of('listsendpays').length + cln.of('listchainmoves').length;
    cln.pay(hashOf(paid));
    await until(() => statusesOf(feed, hashOf(paid)).includes('completed'), 'the invoice is paid');
    expect(cln.of('listsendpays').length + cln.of('listchainmoves').length).toBe(before);
  });
});

describe('a feed from the beginning', () => {
  test('gives each payment as it stands, and its cursor stands behind all of them', async () => {
    const [paid, expired, unpaid] = [cln.addInvoice(), cln.addInvoice(), cln.addInvoice()];
    cln.pay(hashOf(paid));
    cln.expire(hashOf(expired));
    const part = cln.addPart(OWN);
    cln.endPart(part, { status: 'complete', payment_preimage: 'cd'.repeat(32) });
    const feed = await caughtUp();
    expect([paid, expired, unpaid].map((row) => statusesOf(feed, hashOf(row)))).toEqual([
      ['completed'],
      ['failed'],
      ['pending'],
    ]);
    expect(stored(feed, HASH)).toMatchObject({
      index: INDEX,
      status: 'completed',
      amountMsat: 1000n,
      feesMsat: 1n,
    });
    expect(cursorOf(feed)).toEqual({
      'sendpays.updated': 1,
      'sendpays.created': 1,
      'invoices.updated': 2,
      'invoices.created': 3,
      'chainmoves.created': 0,
    });
  });

  test('reads lists that are longer than one page', async () => {
    const rows = Array.from({ length: 501 }, () => cln.addInvoice());
    const feed = await caughtUp();
    expect(feed.observations).toHaveLength(501);
    expect(new Set(feed.observations.map(({ payment }) => payment.hash))).toEqual(
      new Set(rows.map(hashOf)),
    );
  });

  test('may leave out what was over before the time that was asked for', async () => {
    const old = { created_at: NODE_SECS - 100, completed_at: NODE_SECS - 90 };
    cln.addPart({ ...old, payment_hash: '11'.repeat(32), status: 'complete' });
    cln.addPart({ ...old, payment_hash: '22'.repeat(32) });
    cln.addPart({ payment_hash: '33'.repeat(32), status: 'complete' });
    const feed = await caughtUp(null, [], { historySinceMs: NODE_SECS * 1000 });
    const hashes = feed.observations.map(({ payment }) => payment.hash);
    expect(hashes).toEqual(['22'.repeat(32), '33'.repeat(32)]);
  });

  test('leaves that out too where its first read was cut off and goes on later', async () => {
    const rows = Array.from({ length: 1001 }, () => cln.addInvoice());
    const at = (number: number) => hashOf(rows[number - 1] ?? {});
    for (const number of [1, 600, 900]) cln.pay(at(number));
    const bound = { historySinceMs: (NODE_SECS + 1) * 1000 };
    const isPage = ({ index, start }: Record<string, unknown>, from: number) =>
      index === 'created' && start === from;
    cln.on('listinvoices', (page) => (isPage(page, 501) ? refusal(-3, 'cut', 500) : null));
    const first = open(null, [], bound);
    expect(await first.over).not.toBeNull();
    // What changes meanwhile is told, however old it is.
    cln.pay(at(2));
    cln.on('listinvoices', (page) => (isPage(page, 1001) ? refusal(-3, 'cut', 500) : null));
    const second = open(first.cursor(), [], bound);
    expect(await second.over).not.toBeNull();
    cln.off('listinvoices');
    const third = await caughtUp(second.cursor(), [], bound);
    const seen = [first, second, third].flatMap(({ observations }) => observations);
    const paid = seen.filter(({ payment }) => payment.status === 'completed');
    expect(paid.map(({ payment }) => payment.hash)).toEqual([at(2)]);
    expect(new Set(seen.map(({ payment }) => payment.hash)).size).toBe(998);
    // The next read is not bounded.
    await third.end();
    const late = cln.addInvoice();
    cln.pay(hashOf(late));
    const after = await caughtUp(third.cursor(), [], bound);
    expect(statusesOf(after, hashOf(late))).toContain('completed');
  });

  test("leaves out what an offer's payers have not paid", async () => {
    const row = cln.addInvoice();
    row.local_offer_id = 'ee'.repeat(32);
    const feed = await caughtUp();
    expect(feed.observations).toEqual([]);
    cln.pay(hashOf(row));
    const { payment } = await feed.shows(hashOf(row), 'completed');
    expect(payment).toMatchObject({ rail: 'offer', offerId: 'ee'.repeat(32) });
  });

  test('leaves out a row that cannot be read, and no other', async () => {
    const [odd, plain] = [cln.addInvoice(), cln.addInvoice()];
    odd.status = 'melted';
    const feed = await caughtUp();
    expect(feed.observations.map(({ payment }) => payment.hash)).toEqual([hashOf(plain)]);
  });
});

describe('a live feed', () => {
  test('gives what is made and what changes', async () => {
    const feed = await caughtUp();
    const row = cln.addInvoice();
    await feed.shows(hashOf(row), 'pending');
    cln.pay(hashOf(row));
    await feed.shows(hashOf(row), 'completed');
    const part = cln.addPart(OWN);
    await feed.shows(HASH, 'pending');
    cln.endPart(part, { status: 'complete', payment_preimage: 'cd'.repeat(32) });
    await feed.shows(HASH, 'completed');
  });

  test('gives a payment with all its parts, wherever they stand in the list', async () => {
    const first = cln.addPart(OWN);
    const feed = await caughtUp();
    const second = cln.addPart({ ...OWN, partid: 2 });
    cln.endPart(first, { status: 'complete', payment_preimage: 'cd'.repeat(32) });
    cln.endPart(second, { status: 'complete', payment_preimage: 'cd'.repeat(32) });
    await until(() => stored(feed, HASH).amountMsat === 2000n, 'both parts were counted');
    expect(stored(feed, HASH)).toMatchObject({ status: 'completed', feesMsat: 2n });
  });

  test('gives what this process reports before what it reads', async () => {
    const feed = await caughtUp();
    const seen = { payment: { ...stored(await withOwnPart(), HASH) }, attempt: null };
    wallet.local.publish([seen]);
    await until(() => feed.observations.includes(seen), 'the report was passed on');
    const batch = feed.batches.find(({ observations }) => observations.includes(seen));
    expect(batch).toMatchObject({ cursor: null, caughtUp: false });
  });

  test('goes on when a waiting request is cut, and misses nothing', async () => {
    const feed = await caughtUp();
    await until(() => cln.invoices.waiting.length === 3, 'the feed waits');
    const row = cln.addInvoice();
    cln.cutWaits();
    await feed.shows(hashOf(row), 'pending');
    await until(() => cln.sendpays.waiting.length === 2, 'the feed waits again');
    cln.pay(hashOf(row));
    await feed.shows(hashOf(row), 'completed');
  });

  test('ends with an error when the node is away', async () => {
    const feed = await caughtUp();
    await cln.stop();
    expect(isApiError(await feed.over, 'unreachable')).toBe(true);
  });

  test('ends with an error when the node does not accept the rune any more', async () => {
    const feed = await caughtUp();
    cln.on('wait', () => refusal(1503, 'Not authorized: Blacklisted rune', 401));
    cln.cutWaits();
    expect(isApiError(await feed.over, 'unauthenticated')).toBe(true);
  });
});

async function withOwnPart(): Promise<Following> {
  cln.addPart(OWN);
  return caughtUp();
}

describe('a feed that goes on at a cursor', () => {
  test('reads nothing where the numbers have not grown', async () => {
    cln.addInvoice();
    const cursor = (await caughtUp()).cursor();
    cln.asked.length = 0;
    await caughtUp(cursor);
    expect(cln.of('listinvoices')).toEqual([]);
    expect(cln.of('listsendpays')).toEqual([]);
  });

  test('gives what changed in between, and nothing else', async () => {
    const [row] = [cln.addInvoice(), cln.addInvoice()];
    const first = await caughtUp();
    await first.end();
    cln.pay(hashOf(row));
    const fresh = cln.addInvoice();
    const feed = await caughtUp(first.cursor());
    expect(feed.observations.map(({ payment }) => [payment.hash, payment.status])).toEqual([
      [hashOf(row), 'completed'],
      [hashOf(fresh), 'pending'],
    ]);
  });

  test('asks for each unfinished send again, since what its end proves is not in the lists', async () => {
    const first = await withOwnPart();
    const send = stored(first, HASH);
    await first.end();
    cln.asked.length = 0;
    await caughtUp(first.cursor(), [send]);
    expect(cln.of('listsendpays')).toEqual([{ payment_hash: HASH }]);
  });

  test('reads everything again when the node goes on with an older database', async () => {
    const row = cln.addInvoice();
    const cursor = JSON.stringify({ 'invoices.created': 9, 'invoices.updated': 9 });
    const feed = await caughtUp(cursor);
    expect(statusesOf(feed, hashOf(row))).toEqual(['pending']);
    expect(cursorOf(feed)).toEqual({
      'invoices.updated': 0,
      'invoices.created': 1,
      'chainmoves.created': 0,
    });
  });
});

describe('an open invoice that the node has deleted', () => {
  test('is canceled', async () => {
    const row = cln.addInvoice();
    const first = await caughtUp();
    const feed = await caughtUp(first.cursor(), [stored(first, hashOf(row))]);
    cln.deleteInvoice(hashOf(row));
    const { payment } = await feed.shows(hashOf(row), 'failed');
    expect(payment).toMatchObject({
      statusMsg: 'canceled',
      finalizedAtMs: wallet.times.nowMs,
      invoice: row.bolt11,
    });
  });

  test('has expired when its time is over, as when expired invoices are cleaned away', async () => {
    const row = cln.addInvoice({ expiry: 30 });
    const first = await caughtUp();
    cln.deleteInvoice(hashOf(row));
    const feed = open(first.cursor(), [stored(first, hashOf(row))]);
    const { payment } = await feed.shows(hashOf(row), 'failed');
    expect(payment).toMatchObject({
      statusMsg: 'expired',
      finalizedAtMs: (NODE_SECS + 30) * 1000,
    });
  });
});

describe('a send whose parts have all failed', () => {
  test('is pending until the time of all tries is over', async () => {
    const feed = await caughtUp();
    const part = cln.addPart(OWN);
    cln.endPart(part, { status: 'failed' });
    await feed.shows(HASH, 'pending');
    wallet.times.elapsedMs += 75_000;
    wallet.local.requestLook();
    const { payment } = await feed.shows(HASH, 'failed');
    expect(payment.statusMsg).toBe('not delivered');
  });

  test('has failed when this process was told so', async () => {
    const feed = await caughtUp(null, [stored(await withOwnPart(), HASH)]);
    const [part = {}] = cln.sendpays.rows;
    cln.endPart(part, { status: 'failed' });
    await until(() => lookedAt() > 0 && statusesOf(feed, HASH).length > 1, 'the feed has read it');
    expect(statusesOf(feed, HASH)).not.toContain('failed');
    wallet.endings.gaveUp(HASH, 1, 'no route');
    wallet.local.requestLook();
    expect((await feed.shows(HASH, 'failed')).payment.statusMsg).toBe('no route');
  });

  test('is not the end of another payment of its hash that the wallet has open', async () => {
    const own = stored(await withOwnPart(), HASH);
    // The node has not begun it.
    cln.sendpays.rows.length = 0;
    const long = { created_at: NODE_SECS - 200_000, completed_at: NODE_SECS - 200_000 };
    cln.addPart({ payment_hash: HASH, status: 'failed', ...long });
    const feed = await caughtUp(null, [own]);
    expect(feed.observations).toEqual([]);
  });

  test('is not told while one of its parts cannot be read', async () => {
    cln.addPart({ ...OWN, status: 'failed' });
    cln.addPart({ ...OWN, partid: 2, status: 'melted' });
    const feed = await caughtUp();
    expect(feed.observations).toEqual([]);
  });
});

test('a rune that may not wait has its lists read all the same', async () => {
  cln.on('wait', () => refusal(1502, 'Not permitted: method not equal to x', 401));
  const row = cln.addInvoice();
  const feed = await caughtUp();
  expect(statusesOf(feed, hashOf(row))).toEqual(['pending']);
  expect(cursorOf(feed)).toMatchObject({ 'invoices.created': 1, 'sendpays.created': 0 });
});

test('what a rune may not read is left out', async () => {
  cln.on('listinvoices', () => refusal(1502, 'Not permitted: method not equal to x', 401));
  cln.addInvoice();
  cln.addPart(OWN);
  const feed = await caughtUp();
  expect(feed.observations.map(({ payment }: Observation) => payment.hash)).toEqual([HASH]);
});
