import { expect, test } from 'bun:test';
import { decodeAddress } from '../../../src/codecs/address.ts';
import type { Payment } from '../../../src/model/payment.ts';
import {
  miningFeeId,
  paymentId,
  paymentIndex,
  receiveId,
} from '../../../src/model/payment-index.ts';
import { onchainOutcome } from '../../../src/nodes/cln/follow/outcome.ts';
import { bumpFee } from '../../../src/nodes/cln/onchain/bump.ts';
import { publishSend, signSend } from '../../../src/nodes/cln/onchain/onchain.ts';
import { onchainLook, onchainPayment } from '../../../src/nodes/cln/onchain/onchain-history.ts';
import { publishedSend } from '../../../src/nodes/remote/orders/onchain-send.ts';
import { questionOf } from '../../contracts/node/steps.ts';
import { type FakeChain, fakeChain, OURS, THEIR_ADDRESS, THEIR_SCRIPT } from './fake-chain.ts';
import { addressOf, idOf, spendingTransaction } from './transactions.ts';

const command = {
  index: paymentIndex(1_800_000_000_000, paymentId('os', 'cd'.repeat(32))),
  createdAtMs: 1_800_000_000_000,
  amountMsat: 50_000_000n,
  personalNote: null,
  externalId: null,
  address: decodeAddress(THEIR_ADDRESS),
  priority: 'normal' as const,
  maxFeeMsat: null,
};

const look = (
  chain: FakeChain,
  { after = 0, open = [] }: { after?: number; open?: readonly Payment[] } = {},
) => onchainLook(chain, { after, open: async () => open });

const payments = (found: { observations: readonly { payment: Payment }[] }) =>
  found.observations.map(({ payment }) => payment);

async function published(chain: FakeChain) {
  const signed = await signSend(chain, command);
  await publishSend(chain, command, signed);
  return { signed, payment: publishedSend({ ...command, address: THEIR_ADDRESS }, signed).payment };
}

test('a payment from others is pending from its first block, and complete at six confirmations', async () => {
  const chain = fakeChain();
  const raw = chain.receive(70_000n);
  const found = await look(chain);
  const [receipt] = payments(found);
  expect(receipt).toMatchObject({
    rail: 'onchain',
    direction: 'inbound',
    status: 'pending',
    statusMsg: 'broadcasted',
    amountMsat: 70_000_000n,
    txid: idOf(raw),
    createdAtMs: 1_800_000_000_000,
  });
  expect(receipt?.index).toBe(paymentIndex(1_800_000_000_000, receiveId(idOf(raw), 0)));
  if (!receipt) throw new Error('no receipt');
  chain.state.height += 4;
  const [fifth] = (await look(chain, { after: found.reached, open: [receipt] })).observations;
  expect(fifth).toMatchObject({ payment: { status: 'pending' }, inBlock: true });
  chain.state.height += 1;
  const sixth = payments(await look(chain, { after: found.reached, open: [receipt] }));
  expect(sixth).toMatchObject([{ status: 'completed', finalizedAtMs: 1_800_000_500_000 }]);
});

test('a receipt whose block was taken back stays pending until a block has it again', async () => {
  const chain = fakeChain();
  chain.receive(70_000n);
  const [receipt] = payments(await look(chain));
  if (!receipt) throw new Error('no receipt');
  chain.state.height += 10;
  chain.unmine(receipt.txid ?? '');
  const [seen] = (await look(chain, { after: 1, open: [receipt] })).observations;
  expect(seen).toMatchObject({ payment: { status: 'pending' }, inBlock: false });
});

test('an unfinished look with nothing new asks for nothing more than the record', async () => {
  const chain = fakeChain();
  chain.receive(70_000n);
  const { reached } = await look(chain);
  chain.calls.length = 0;
  expect(await look(chain, { after: reached })).toEqual({ observations: [], reached });
  expect(chain.calls.map(({ method }) => method)).toEqual(['listchainmoves']);
});

test('an own send is followed to six confirmations, and its change is no receipt', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { reached } = await look(chain);
  const { signed, payment } = await published(chain);
  chain.mine(signed.txHex);
  const found = await look(chain, { after: reached, open: [payment] });
  expect(found.observations).toMatchObject([{ payment: { index: command.index }, inBlock: true }]);
  chain.state.height += 5;
  const done = payments(await look(chain, { after: found.reached, open: [payment] }));
  expect(done).toMatchObject([
    { index: command.index, status: 'completed', feesMsat: BigInt(signed.feeMsat) },
  ]);
});

test('a send whose publishing is not known yet is no payment of another tool', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { reached } = await look(chain);
  const { signed, payment } = await published(chain);
  chain.mine(signed.txHex);
  const begun = { ...payment, txid: null, tx: null };
  expect(payments(await look(chain, { after: reached, open: [begun] }))).toEqual([]);
});

test('a send of another tool is a payment under its txid, and is found by its id', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { signed } = await published(chain);
  chain.mine(signed.txHex);
  const sent = payments(await look(chain, { after: 1 }));
  expect(sent).toMatchObject([
    { direction: 'outbound', address: THEIR_ADDRESS, amountMsat: 50_000_000n, status: 'pending' },
  ]);
  const id = paymentId('os', signed.txid);
  const found = await onchainPayment(chain, id);
  expect(found?.payment.txid).toBe(signed.txid);
  const other = paymentId('os', '00'.repeat(32));
  expect(await onchainPayment(chain, other)).toBeNull();
});

test('what the wallet moves within itself and its channels is no payment, but what its own coins cost has a row', async () => {
  const chain = fakeChain();
  const paid = chain.receive(100_000n);
  const { reached } = await look(chain);
  const funding = spendingTransaction(
    [`${idOf(paid)}:0`],
    [
      { script: THEIR_SCRIPT, amount: 60_000n },
      { script: OURS, amount: 39_000n },
    ],
  );
  const outpoint = `${idOf(funding)}:0`;
  chain.state.closed = [
    { channel_id: 'aa'.repeat(32), funding_txid: idOf(funding), funding_outnum: 0 },
  ];
  const commitment = spendingTransaction([outpoint], [{ script: THEIR_SCRIPT, amount: 59_000n }], {
    lockTime: 0x20000001,
    sequence: 0x80000001,
  });
  const sweep = spendingTransaction([`${idOf(commitment)}:0`], [{ script: OURS, amount: 58_000n }]);
  const within = spendingTransaction([`${idOf(sweep)}:0`], [{ script: OURS, amount: 57_000n }]);
  for (const raw of [funding, commitment, sweep, within]) chain.mine(raw);
  const found = payments(await look(chain, { after: reached }));
  expect(found.filter(({ direction }) => direction !== 'info')).toEqual([]);
  // Of the others the node does not know what they cost the wallet.
  expect(found).toMatchObject([
    { txid: idOf(funding), amountMsat: 0n, feesMsat: 1_000_000n },
    { txid: idOf(within), amountMsat: 0n, feesMsat: 1_000_000n },
  ]);
});

test('the child of a fee bump has a row of what it cost, from its first block to the sixth', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { state } = chain;
  const { signed, payment } = await published(chain);
  state.perkw.estimates = [{ blockcount: 2, feerate: 2000 }];
  const order = { txid: signed.txid, priority: 'high', maxFeeMsat: null } as const;
  const { feeMsat } = await bumpFee(chain, order);
  expect(payments(await look(chain, { after: 1, open: [payment] }))).toMatchObject([
    { direction: 'outbound' },
  ]);
  const listed = chain.answers.listtransactions?.({}) as { transactions: { rawtx: string }[] };
  const child = listed.transactions.at(-1)?.rawtx ?? '';
  chain.mine(signed.txHex, child);
  const found = payments(await look(chain, { after: 1, open: [payment] }));
  const row = found.find(({ direction }) => direction === 'info');
  expect(row).toMatchObject({
    rail: 'onchain',
    kind: 'onchain',
    status: 'pending',
    txid: idOf(child),
    amountMsat: 0n,
    address: null,
  });
  expect(row?.feesMsat).toBe(feeMsat ?? 0n);
  const change = chain.coins.findIndex(({ txid }) => txid === signed.txid);
  const id = miningFeeId(signed.txid, chain.coins[change]?.output ?? -1);
  expect(row?.index).toBe(paymentIndex(1_800_000_000_000, id));
  expect((await onchainPayment(chain, id))?.payment.txid).toBe(idOf(child));
  if (row === undefined) throw new Error('no row');
  state.height += 5;
  const open = found;
  const ended = payments(await look(chain, { after: chain.moves.length, open }));
  expect(ended.map(({ direction, status }) => [direction, status])).toEqual([
    ['outbound', 'completed'],
    ['info', 'completed'],
  ]);
  // What was received, less what the rows say, is what the coins hold.
  const costMsat = ended.reduce((sum, one) => sum + (one.amountMsat ?? 0n) + one.feesMsat, 0n);
  const heldSat = chain.coins.reduce((sum, { isSpent, sat }) => sum + (isSpent ? 0n : sat), 0n);
  expect(100_000_000n - costMsat).toBe(heldSat * 1000n);
});

test('a send to an address of the wallet itself has its fee in its own row alone', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const own = { ...command, address: decodeAddress(addressOf(OURS)) };
  const signed = await signSend(chain, own);
  await publishSend(chain, own, signed);
  const { payment } = publishedSend({ ...own, address: own.address.canonical }, signed);
  chain.mine(signed.txHex);
  for (const begun of [payment, { ...payment, txid: null, tx: null }]) {
    const found = payments(await look(chain, { after: 1, open: [begun] }));
    expect(found.filter(({ direction }) => direction === 'info')).toEqual([]);
  }
});

test('a transaction whose fee others have paid in part, as that of a channel, has no row of a fee', async () => {
  const chain = fakeChain();
  const paid = chain.receive(100_000n);
  const { reached } = await look(chain);
  const shared = [`${idOf(paid)}:0`, `${'ee'.repeat(32)}:1`];
  chain.mine(spendingTransaction(shared, [{ script: OURS, amount: 99_000n }]));
  expect(payments(await look(chain, { after: reached }))).toEqual([]);
});

test('the row of a child whose block was taken back stays one row, and waits for a block again', async () => {
  const chain = fakeChain();
  const paid = chain.receive(100_000n);
  const { reached } = await look(chain);
  const within = spendingTransaction([`${idOf(paid)}:0`], [{ script: OURS, amount: 99_000n }]);
  chain.mine(within);
  const [row] = payments(await look(chain, { after: reached }));
  if (row === undefined) throw new Error('no row');
  chain.unmine(idOf(within));
  chain.state.height += 9;
  const [back] = (await look(chain, { after: reached, open: [row] })).observations;
  expect(back).toMatchObject({ payment: { status: 'pending' } });
  chain.mine(within);
  chain.state.height += 5;
  const again = payments(await look(chain, { after: reached, open: [row] }));
  expect(again).toMatchObject([{ index: row.index, status: 'completed', feesMsat: 1_000_000n }]);
});

test('what a cooperative close pays out is no receipt, and what its outputs pay later is one', async () => {
  const chain = fakeChain();
  const funding = 'bb'.repeat(32);
  chain.state.closed = [{ channel_id: 'aa'.repeat(32), funding_txid: funding, funding_outnum: 1 }];
  const close = spendingTransaction(
    [`${funding}:1`],
    [
      { script: OURS, amount: 30_000n },
      { script: THEIR_SCRIPT, amount: 20_000n },
    ],
  );
  const payment = spendingTransaction([`${idOf(close)}:1`], [{ script: OURS, amount: 19_000n }]);
  chain.mine(close);
  chain.mine(payment);
  expect(payments(await look(chain))).toMatchObject([{ txid: idOf(payment) }]);
});

test('what a peer pays from its own part of a commitment transaction is a receipt', async () => {
  const chain = fakeChain();
  const funding = 'bb'.repeat(32);
  chain.state.closed = [{ channel_id: 'aa'.repeat(32), funding_txid: funding, funding_outnum: 1 }];
  const commitment = spendingTransaction(
    [`${funding}:1`],
    [
      { script: THEIR_SCRIPT, amount: 59_000n },
      { script: THEIR_SCRIPT, amount: 20_000n },
    ],
    { lockTime: 0x20000001, sequence: 0x80000001 },
  );
  // BOLT 3, to_remote with anchors: <key> OP_CHECKSIGVERIFY 1 OP_CHECKSEQUENCEVERIFY.
  const script = Uint8Array.of(0x21, 2, ...new Uint8Array(32), 0xad, 0x51, 0xb2);
  const outpoint = `${idOf(commitment)}:0`;
  const payment = spendingTransaction([outpoint], [{ script: OURS, amount: 30_000n }], { script });
  const sweep = spendingTransaction([`${idOf(commitment)}:1`], [{ script: OURS, amount: 19_000n }]);
  for (const raw of [commitment, payment, sweep]) chain.mine(raw);
  expect(payments(await look(chain))).toMatchObject([{ txid: idOf(payment) }]);
});

test('a send is replaced for good only when a rival has six confirmations', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { reached } = await look(chain);
  const { signed, payment } = await published(chain);
  const ask = () => onchainOutcome(chain, questionOf(payment, { signed }));
  expect(await ask()).toMatchObject({ state: 'known', payment: { replacement: null } });
  const [lock] = signed.locks;
  const rival = spendingTransaction([lock?.outpoint ?? ''], [{ script: OURS, amount: 99_000n }]);
  chain.mine(rival);
  chain.state.height += 4;
  const replaced = { status: 'pending', replacement: idOf(rival) };
  expect(await ask()).toMatchObject({ state: 'known', payment: replaced });
  const outbound = ({ direction }: Payment) => direction === 'outbound';
  const followed = payments(await look(chain, { after: reached, open: [payment] }));
  expect(followed.filter(outbound)).toMatchObject([replaced]);
  chain.state.height += 1;
  expect(await ask()).toEqual({ state: 'never', reason: 'replaced' });
  const ended = payments(await look(chain, { after: reached, open: [payment] }));
  expect(ended.filter(outbound)).toMatchObject([{ status: 'failed', statusMsg: 'replaced' }]);
  // The rival pays nobody else, so that its fee alone has left the wallet.
  const fees = ended.filter((one) => !outbound(one));
  expect(fees).toMatchObject([{ direction: 'info', txid: idOf(rival), feesMsat: 1_000_000n }]);
});

test('the other coins of a send that was replaced for good are free again', async () => {
  const chain = fakeChain();
  for (const _ of [1, 2]) chain.receive(40_000n);
  const { signed, payment } = await published(chain);
  const [first, other] = signed.locks.map(({ outpoint }) => outpoint);
  const reservedTo = () => chain.coins.find(({ txid }) => other?.startsWith(txid))?.reservedTo;
  chain.mine(spendingTransaction([first ?? ''], [{ script: OURS, amount: 39_000n }]));
  chain.state.height += 4;
  await look(chain, { open: [payment] });
  expect(reservedTo()).toBeGreaterThan(chain.state.height);
  chain.state.height += 1;
  await look(chain, { open: [payment] });
  expect(reservedTo()).toBe(0);
});

test('a rival whose block was taken back does not end a send', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { signed, payment } = await published(chain);
  const rival = spendingTransaction(
    [signed.locks[0]?.outpoint ?? ''],
    [{ script: OURS, amount: 99_000n }],
  );
  chain.mine(rival);
  chain.unmine(idOf(rival));
  chain.state.height += 10;
  const question = questionOf(payment, { signed });
  expect(await onchainOutcome(chain, question)).toMatchObject({
    state: 'known',
    payment: { status: 'pending', replacement: null },
  });
});

test('another transaction that pays the receiver as much is the send itself', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const { signed, payment } = await published(chain);
  const bump = spendingTransaction(
    [signed.locks[0]?.outpoint ?? ''],
    [
      { script: THEIR_SCRIPT, amount: 50_000n },
      { script: OURS, amount: 40_000n },
    ],
  );
  chain.mine(bump);
  const question = questionOf(payment, { signed });
  expect(await onchainOutcome(chain, question)).toMatchObject({
    state: 'known',
    payment: { index: command.index, txid: idOf(bump), feesMsat: 10_000_000n },
  });
});

test('a send that the node does not list may still arrive, and one that only a block has is known', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await signSend(chain, command);
  const { payment } = publishedSend({ ...command, address: THEIR_ADDRESS }, signed);
  const question = questionOf(payment, { signed });
  expect(await onchainOutcome(chain, question)).toEqual({ state: 'unknown' });
  chain.mine(signed.txHex);
  chain.forget(signed.txid);
  expect(await onchainOutcome(chain, question)).toMatchObject({
    state: 'known',
    payment: { txid: signed.txid },
    inBlock: true,
  });
});
