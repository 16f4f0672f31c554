import { expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { dustLimitSat } from '../../../src/codecs/dust.ts';
import { type PaymentIndex, paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { nextUnusedAddress } from '../../../src/nodes/cln/onchain/addresses.ts';
import { bumpFee, bumpFeeBoundMsat } from '../../../src/nodes/cln/onchain/bump.ts';
import {
  estimateFeeMsat,
  lockedOutpoints,
  mostSendable,
  publishSend,
  signSend,
} from '../../../src/nodes/cln/onchain/onchain.ts';
import {
  extendReservations,
  releaseReservations,
} from '../../../src/nodes/cln/onchain/reservations.ts';
import { rateFor } from '../../../src/nodes/cln/reads/fee-rate.ts';
import { Cut, type FakeChain, FakeError, failed, fakeChain, THEIR_ADDRESS } from './fake-chain.ts';
import { inputsOf } from './transactions.ts';

const INDEX: PaymentIndex = paymentIndex(1_800_000_000_000, paymentId('os', 'cd'.repeat(32)));
const command = (amountSat: bigint, more: object = {}) => ({
  index: INDEX,
  createdAtMs: 1_800_000_000_000,
  amountMsat: amountSat * 1000n,
  personalNote: null,
  externalId: null,
  address: decodeAddress(THEIR_ADDRESS),
  priority: 'normal' as const,
  maxFeeMsat: null,
  ...more,
});

const sign = (chain: FakeChain, amountSat: bigint, more: object = {}) =>
  signSend(chain, command(amountSat, more));

test('a send is prepared of chosen coins, checked, signed and complete', async () => {
  const chain = fakeChain();
  chain.receive(10_000n);
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  expect(inputsOf(hex.decode(signed.txHex))).toEqual([`${chain.coins[1]?.txid}:0`]);
  expect(lockedOutpoints(signed)).toEqual([`${chain.coins[1]?.txid}:0`]);
  // 42 + 124 for the output, 271 for the input, 172 for the change, at 253 satoshis per 1,000.
  expect(signed.feeMsat).toBe(`${Math.floor(((42 + 124 + 271 + 172) * 253) / 1000)}000`);
  expect(chain.called('sendpsbt')).toHaveLength(0);
  expect(chain.coins[1]?.reservedTo).toBe(chain.state.height + 72);
});

test('the estimate is the fee that the same send then has, and reserves nothing', async () => {
  const chain = fakeChain();
  for (const sat of [40_000n, 30_000n, 20_000n]) chain.receive(sat);
  for (const amountSat of [1000n, 39_500n, 65_000n, 89_000n]) {
    const estimated = await estimateFeeMsat(chain, command(amountSat));
    expect(chain.coins.every(({ reservedTo }) => reservedTo === 0)).toBe(true);
    const signed = await sign(chain, amountSat);
    expect(signed.feeMsat).toBe(`${estimated}`);
    await releaseReservations(chain.rpc, lockedOutpoints(signed));
  }
});

test('a fee above the limit is refused before a coin is reserved', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const error = await failed(sign(chain, 50_000n, { maxFeeMsat: 100_000n }));
  expect(error.kind).toBe('refused');
  expect(chain.called('txprepare')).toHaveLength(0);
});

test('a transaction that is dearer than the limit is not signed, and its coins are released', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const prepare = chain.answers.txprepare;
  chain.on('txprepare', (params) => prepare?.({ ...params, feerate: '50000perkw' }));
  const error = await failed(sign(chain, 50_000n, { maxFeeMsat: 200_000n }));
  expect(error.kind).toBe('refused');
  expect(chain.called('signpsbt')).toHaveLength(0);
  expect(chain.coins[0]?.reservedTo).toBe(0);
});

test('a transaction that pays somebody else is not signed', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const prepare = chain.answers.txprepare;
  chain.on('txprepare', (params) =>
    prepare?.({ ...params, outputs: [{ [THEIR_ADDRESS]: '1sat' }] }),
  );
  expect((await failed(sign(chain, 50_000n))).kind).toBe('unreadable');
  expect(chain.called('signpsbt')).toHaveLength(0);
  expect(chain.coins[0]?.reservedTo).toBe(0);
});

test('coins are released when the answer to preparing is lost, and not when it is a refusal', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const prepare = chain.answers.txprepare;
  chain.on('txprepare', (params) => {
    prepare?.(params);
    throw new Cut();
  });
  await failed(sign(chain, 50_000n));
  expect(chain.coins[0]?.reservedTo).toBe(0);
  chain.on('txprepare', () => {
    throw new FakeError(-32602, 'UTXO already reserved');
  });
  await failed(sign(chain, 50_000n));
  expect(chain.called('unreserveinputs')).toHaveLength(1);
  // clnrest itself could not ask the node, or not read its answer.
  chain.on('txprepare', (params) => {
    prepare?.(params);
    throw new FakeError(null, 'no answer');
  });
  await failed(sign(chain, 50_000n));
  expect(chain.called('unreserveinputs')).toHaveLength(2);
  expect(chain.coins[0]?.reservedTo).toBe(0);
});

/** Has other programs do something just before the node carries out a command, each time. */
function meanwhile(chain: FakeChain, method: 'txprepare' | 'utxopsbt', act: (nth: number) => void) {
  const answer = chain.answers[method];
  let calls = 0;
  chain.on(method, (params) => {
    calls += 1;
    act(calls);
    return answer?.(params);
  });
}

test('coins that another program has reserved or spent meanwhile are replaced by others', async () => {
  const chain = fakeChain();
  for (const sat of [90_000n, 80_000n, 70_000n]) chain.receive(sat);
  const [reserved, spent, left] = chain.coins;
  meanwhile(chain, 'txprepare', (nth) => {
    if (nth === 1 && reserved) reserved.reservedTo = chain.state.height + 72;
    if (nth === 2 && spent) spent.isSpent = true;
  });
  const signed = await sign(chain, 50_000n);
  expect(lockedOutpoints(signed)).toEqual([`${left?.txid}:0`]);
  // What the other program has reserved stays its own.
  expect(reserved?.reservedTo).toBe(chain.state.height + 72);
  expect(chain.called('unreserveinputs')).toHaveLength(0);
});

test('coins are chosen again within the limit of the fee, and no more than three times', async () => {
  const chain = fakeChain();
  for (const sat of [90_000n, 30_000n, 30_000n]) chain.receive(sat);
  meanwhile(chain, 'txprepare', () => {
    const [large] = chain.coins;
    if (large) large.reservedTo = chain.state.height + 72;
  });
  const error = await failed(sign(chain, 50_000n, { maxFeeMsat: 160_000n }));
  expect(error).toMatchObject({ kind: 'refused', outcomeUnknown: false });
  expect(chain.called('txprepare')).toHaveLength(1);
  for (let at = 0; at < 6; at++) chain.receive(90_000n);
  meanwhile(chain, 'txprepare', (nth) => {
    const coin = chain.coins[nth + 2];
    if (coin) coin.reservedTo = chain.state.height + 72;
  });
  expect((await failed(sign(chain, 50_000n))).message).toContain('already reserved');
  expect(chain.called('txprepare')).toHaveLength(1 + 3);
});

test('the most that can be sent leaves out what another program has reserved meanwhile', async () => {
  const chain = fakeChain();
  for (const sat of [40_000n, 30_000n]) chain.receive(sat);
  const answer = chain.answers.utxopsbt;
  chain.on('utxopsbt', (params) => {
    const [first] = chain.coins;
    if (first?.reservedTo !== 0) return answer?.(params);
    first.reservedTo = chain.state.height + 72;
    throw new FakeError(-32602, `UTXO ${first.txid}:0 already reserved`);
  });
  const most = await mostSendable(chain, command(0n));
  expect(most.amountMsat + most.feeMsat).toBe(30_000_000n);
});

test('the most that can be sent is then sent, and leaves nothing', async () => {
  const chain = fakeChain();
  for (const sat of [40_000n, 30_000n, 20n]) chain.receive(sat);
  const most = await mostSendable(chain, command(0n));
  const signed = await sign(chain, most.amountMsat / 1000n);
  expect(BigInt(signed.feeMsat)).toBe(most.feeMsat);
  expect(most.amountMsat + most.feeMsat).toBe(70_000_000n);
});

test('unconfirmed change is spent only where confirmed coins do not suffice', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const first = await sign(chain, 20_000n);
  await publishSend(chain, command(20_000n), first);
  chain.receive(30_000n);
  const small = await sign(chain, 10_000n);
  expect(lockedOutpoints(small)).toEqual([`${chain.coins[2]?.txid}:0`]);
  await releaseReservations(chain.rpc, lockedOutpoints(small));
  const large = await sign(chain, 60_000n);
  expect(lockedOutpoints(large)).toContain(`${first.txid}:1`);
});

test('a coin whose transaction the Bitcoin node no longer has is not spent', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const first = await sign(chain, 20_000n);
  await publishSend(chain, command(20_000n), first);
  for (const coin of chain.coins) if (coin.txid === first.txid) coin.isThere = false;
  expect((await failed(sign(chain, 10_000n))).kind).toBe('refused');
});

test('publishing reserves the coins for about two weeks, and a repeat is harmless', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  for (const _ of [1, 2]) {
    const report = await publishSend(chain, command(50_000n), signed);
    expect(report.state).toBe('known');
  }
  expect(chain.coins[0]?.reservedTo).toBeGreaterThan(chain.state.height + 2016);
});

test('publishing a transaction that is in a block is known, though the node cannot publish it', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  chain.mine(signed.txHex);
  const { coins, state } = chain;
  for (const coin of coins) coin.reservedTo = 0;
  const report = await publishSend(chain, command(50_000n), signed);
  expect(report).toMatchObject({ state: 'known', payment: { status: 'pending' }, inBlock: true });
  state.height += 5;
  const later = await publishSend(chain, command(50_000n), signed);
  expect(later).toMatchObject({ state: 'known', payment: { status: 'completed' } });
});

test('no error of the Bitcoin node proves that a transaction was not published', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  chain.on('sendpsbt', () => {
    throw new FakeError(-1, 'Error broadcasting transaction: error code: -26. Unsent tx discarded');
  });
  const publish = () => publishSend(chain, command(50_000n), signed);
  expect((await publish()).state).toBe('unknown');
  chain.on('sendpsbt', () => {
    throw new FakeError(1502, 'Not permitted: method is not equal to sendpsbt');
  });
  expect((await publish()).state).toBe('refused');
  for (const [code, state] of [
    [-32602, 'refused'],
    [-32601, 'refused'],
    [-32600, 'unknown'],
    [-4, 'unknown'],
    [303, 'unknown'],
    [9999, 'unknown'],
    [null, 'unknown'],
  ] as const) {
    chain.on('sendpsbt', () => {
      throw new FakeError(code, 'it failed');
    });
    expect([code, (await publish()).state]).toEqual([code, state]);
  }
});

test('an answer that does not name the transaction does not prove that it was published', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  const publish = () => publishSend(chain, command(50_000n), signed);
  for (const answer of [{}, { tx: signed.txHex, txid: 'ee'.repeat(32) }]) {
    chain.on('sendpsbt', () => answer);
    expect((await publish()).state).toBe('unknown');
  }
});

test('a reservation is extended only when it ends soon, and release ends it', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  const outpoints = lockedOutpoints(signed);
  await extendReservations(chain.rpc, outpoints);
  expect(chain.called('reserveinputs')).toHaveLength(0);
  chain.state.height += 40;
  await extendReservations(chain.rpc, outpoints);
  expect(chain.coins[0]?.reservedTo).toBeGreaterThan(chain.state.height + 72);
  await releaseReservations(chain.rpc, outpoints);
  expect(chain.coins[0]?.reservedTo).toBe(0);
});

test('the address is the same until a payment to it is seen', async () => {
  const chain = fakeChain();
  const next = (type: 'segwit' | 'taproot') => nextUnusedAddress(chain, type);
  const first = await next('segwit');
  expect(await next('segwit')).toBe(first);
  expect(await next('taproot')).not.toBe(first);
  const { scriptPubKey } = decodeAddress(first);
  chain.coins.push({
    txid: 'ee'.repeat(32),
    output: 0,
    sat: 1000n,
    script: scriptPubKey,
    blockheight: 1,
    isSpent: true,
    reservedTo: 0,
    isThere: false,
  });
  expect(await next('segwit')).not.toBe(first);
});

test('a rate lies between the estimates around it, and not below the floor', () => {
  const estimates = [
    { blockcount: 2, feerate: 4000 },
    { blockcount: 6, feerate: 2000 },
    { blockcount: 100, feerate: 100 },
  ];
  const rate = (blocks: number) => rateFor({ floor: 253, estimates }, blocks);
  expect(rate(1)).toBe(4000);
  expect(rate(3)).toBe(3500);
  expect(rate(6)).toBe(2000);
  expect(rate(1000)).toBe(253);
  expect(rateFor({ floor: 253, estimates: [] }, 3)).toBe(253);
});

test('where coins are worth money, nothing is sent without estimates of fees', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const wallet = { ...chain.wallet, network: 'bitcoin' as const };
  const error = await failed(signSend({ ...chain, wallet }, command(50_000n)));
  expect(error.kind).toBe('refused');
  expect(error.message).toContain('estimates');
});

test('a child raises the fee of a send to the rate asked for, once', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  await publishSend(chain, command(50_000n), signed);
  chain.state.perkw.estimates = [{ blockcount: 2, feerate: 2000 }];
  const question = { txid: signed.txid, priority: 'high' as const };
  const boundMsat = await bumpFeeBoundMsat(chain, question);
  const bump = (maxFeeMsat: bigint | null) => bumpFee(chain, { ...question, maxFeeMsat });
  expect((await failed(bump(boundMsat - 1n))).kind).toBe('refused');
  expect(await bump(boundMsat)).toEqual({ feeMsat: boundMsat, isNew: true });
  expect(await bump(null)).toEqual({ feeMsat: null, isNew: false });
  expect(await bumpFeeBoundMsat(chain, question)).toBe(0n);
  chain.state.perkw.estimates = [{ blockcount: 2, feerate: 4000 }];
  expect(await bump(null)).toMatchObject({ isNew: true });
});

test('change that another program has reserved raises no fee, and says so; it is free when the answer is lost', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const signed = await sign(chain, 50_000n);
  await publishSend(chain, command(50_000n), signed);
  chain.state.perkw.estimates = [{ blockcount: 2, feerate: 2000 }];
  const bump = () =>
    bumpFee(chain, {
      txid: signed.txid,
      priority: 'high',
      maxFeeMsat: null,
    });
  const change = chain.coins.find(({ txid }) => txid === signed.txid);
  meanwhile(chain, 'utxopsbt', () => {
    if (change) change.reservedTo = chain.state.height + 72;
  });
  expect((await failed(bump())).message).toContain('is reserved');
  expect(chain.called('utxopsbt')).toHaveLength(1);
  if (change) change.reservedTo = 0;
  const choose = chain.answers.utxopsbt;
  chain.on('utxopsbt', (params) => {
    choose?.(params);
    throw new FakeError(null, 'no answer');
  });
  expect((await failed(bump())).kind).toBe('unreachable');
  expect(change?.reservedTo).toBe(0);
  chain.off('utxopsbt');
  expect(await bump()).toMatchObject({ isNew: true });
});

test('the fee of a confirmed send, of a sufficient one and of one without change is not raised', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const most = await mostSendable(chain, command(0n));
  const signed = await sign(chain, most.amountMsat / 1000n);
  const bound = () => bumpFeeBoundMsat(chain, { txid: signed.txid, priority: 'high' });
  expect((await failed(bound())).message).toContain('does not list');
  await publishSend(chain, command(0n), signed);
  expect((await failed(bound())).message).toContain('already');
  chain.state.perkw.estimates = [{ blockcount: 2, feerate: 2000 }];
  expect((await failed(bound())).message).toContain('no change');
  chain.mine(signed.txHex);
  expect((await failed(bound())).message).toContain('confirmed');
});

test('what the network does not pass on is refused before a coin is reserved', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const leastSat = dustLimitSat(decodeAddress(THEIR_ADDRESS).scriptPubKey);
  expect((await failed(sign(chain, leastSat - 1n))).kind).toBe('refused');
  expect(chain.called('txprepare')).toHaveLength(0);
  await sign(chain, leastSat);
});
