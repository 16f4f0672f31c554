import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Channel } from '../../src/model/channel.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { NodeInfo } from '../../src/model/node-info.ts';
import { awaitingApproval, type Payment } from '../../src/model/payment.ts';
import type { BookRow } from '../../src/wallet/read/book-row.ts';
import { books } from '../../src/wallet/read/books.ts';
import { throwing } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { WALLET } from '../support/store-steps.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { unreachable } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

const put = (payments: readonly Payment[]) =>
  world.store.cache.apply(WALLET, payments, null, 'node');
const DEFAULTS = {
  sinceMs: null,
  untilMs: null,
  sync: false,
  nowMs: () => 77,
  signal: new AbortController().signal,
};

async function pagesOf(
  change: Partial<typeof DEFAULTS | { untilMs: number; sinceMs: number }> = {},
) {
  const { owner } = await world.start();
  return books(owner, { ...DEFAULTS, ...change });
}

async function rowsOf(change: Parameters<typeof pagesOf>[0] = {}): Promise<BookRow[]> {
  return (await Array.fromAsync(await pagesOf(change))).flat();
}

/** Makes the node tell this balance, and what its channels hold back. */
function hasBalance(
  onchainBalanceMsat: bigint,
  held: readonly Pick<Channel, 'heldBackMsat'>[] = [],
): void {
  const { node } = world.fake;
  Object.assign(node, { channels: { listChannels: async () => held } });
  const told = { nodePk: node.descriptor.nodePk, lightningBalanceMsat: 5n, onchainBalanceMsat };
  node.info = async () => told as NodeInfo;
}

const inbound = (number: number, change: Partial<Payment> = {}) =>
  sampleDone(number, { direction: 'inbound', amountMsat: 3000n, ...change });

test('2,500 payments come in pages, each once and in the order of completion', async () => {
  const numbers = Array.from({ length: 2500 }, (_, at) => at + 1);
  // Completed in the reverse of the order in which they were made, three at a time.
  const at = (number: number) => 9_000 - Math.floor(number / 3);
  await put(numbers.map((number) => inbound(number, { finalizedAtMs: at(number) })));
  const pages = await Array.fromAsync(await pagesOf({ untilMs: 10_000 }));
  expect(Math.max(...pages.map((page) => page.length))).toBe(500);
  const rows = pages.flat();
  expect(rows.map(({ balanceMsat }) => balanceMsat)).toEqual(
    numbers.map((one) => BigInt(one) * 3000n),
  );
  const times = rows.map(({ entry }) => 'finalized_at' in entry && Number(entry.finalized_at));
  expect(times).toEqual(numbers.map(at).toSorted());
  expect(new Set(rows.map(({ entry }) => 'index' in entry && entry.index)).size).toBe(2500);
});

test('what the node has more or less is the last row, with what payments on their way make of it', async () => {
  await put([
    inbound(1),
    samplePayment(2, { feesMsat: 7n }),
    inbound(3, { status: 'pending', rail: 'onchain', txid: 'ab'.repeat(32), amountMsat: 500n }),
    // Neither has changed the balance of a node.
    inbound(4, { status: 'pending' }),
    awaitingApproval(samplePayment(5)),
  ]);
  hasBalance(2488n);
  expect((await rowsOf()).at(-1)).toEqual({
    entry: {
      kind: 'difference',
      atMs: 77,
      reason: 'Payments on their way (2) change the balance of the node by -0.507 sats.',
    },
    changeMsat: -507n,
    balanceMsat: 2493n,
  });
  hasBalance(2489n);
  const reason = expect.stringMatching(
    /by -0.507 sats. Not known why it differs by 0.001 sats more: /,
  );
  expect((await rowsOf()).at(-1)).toMatchObject({ entry: { reason }, changeMsat: -506n });
});

test('a difference that no payment makes is not explained, and none has no row', async () => {
  await put([inbound(1)]);
  hasBalance(2995n);
  expect((await rowsOf()).map(({ entry }) => entry.kind)).toEqual(['invoice']);
  hasBalance(2994n);
  expect((await rowsOf()).at(-1)).toMatchObject({
    entry: {
      kind: 'difference',
      reason: expect.stringMatching(/^The balance of the node is another/),
    },
    changeMsat: -1n,
    balanceMsat: 2999n,
  });
});

test('what open channels hold back for their closing is said, and is no unknown difference', async () => {
  await put([inbound(1)]);
  const held = [{ heldBackMsat: 3_470_000n }, {}, { heldBackMsat: 530_000n }];
  hasBalance(2995n - 4_000_000n, held);
  const said = 'Open channels hold back 4000 sats for their closing.';
  expect((await rowsOf()).at(-1)).toMatchObject({ entry: { kind: 'difference', reason: said } });
  hasBalance(2996n - 4_000_000n, held);
  const reason = expect.stringMatching(
    new RegExp(`^${said} Not known why it differs by 0.001 sats`),
  );
  expect((await rowsOf()).at(-1)).toMatchObject({ entry: { reason }, changeMsat: -3_999_999n });
});

test('a node that does not answer makes a row that says so, and no difference', async () => {
  await put([inbound(1)]);
  world.fake.node.info = async () => {
    throw unreachable();
  };
  expect((await rowsOf()).slice(1)).toMatchObject([
    {
      entry: { kind: 'unchecked', reason: expect.stringMatching(/^The sum was not compared/) },
      changeMsat: 0n,
      balanceMsat: 3000n,
    },
  ]);
  expect(await rowsOf({ untilMs: 10 })).toHaveLength(1);
  expect(await rowsOf({ untilMs: 9 })).toEqual([]);
});

test('what is completed while rows are read is among them', async () => {
  const { owner } = await world.start();
  await owner.feed.observe({ payment: inbound(1), attempt: null }, owner.node);
  hasBalance(5995n);
  const pages = books(owner, { ...DEFAULTS, sync: true });
  expect((await pages.next()).value).toHaveLength(1);
  await owner.feed.observe(
    { payment: inbound(2, { finalizedAtMs: 10 }), attempt: null },
    owner.node,
  );
  expect((await Array.fromAsync(pages)).flat()).toMatchObject([
    { entry: { kind: 'invoice' }, balanceMsat: 6000n },
  ]);
});

test('ends with the reason of a signal before the next page is read', async () => {
  await put(Array.from({ length: 501 }, (_, at) => inbound(at + 1)));
  const over = new AbortController();
  const pages = await pagesOf({ signal: over.signal });
  await pages.next();
  const read = world.store.cache.completed;
  world.store.cache.completed = () => Promise.reject(new Error('was read'));
  over.abort(new ApiError('unauthenticated', 'Revoked.'));
  expect(await throwing(pages.next())).toThrow('Revoked.');
  world.store.cache.completed = read;
});
