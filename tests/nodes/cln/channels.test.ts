import { expect, test } from 'bun:test';
import { closeChannel, closeFeeBoundMsat } from '../../../src/nodes/cln/channels/channel-close.ts';
import {
  listChannels,
  openChannel,
  openFeeBoundMsat,
} from '../../../src/nodes/cln/channels/channel-open.ts';
import {
  Cut,
  type FakeChain,
  FakeError,
  failed,
  fakeChain,
  OURS,
  THEIR_SCRIPT,
} from './fake-chain.ts';
import { idOf, spendingTransaction } from './transactions.ts';

const PEER = { pubkey: `02${'cc'.repeat(32)}`, host: '127.0.0.1:9735' };
const ID = 'ab'.repeat(16);

const open = (
  chain: FakeChain,
  {
    valueSat = 60_000n,
    maxFeeMsat = null,
    peer = PEER,
    userChannelId = ID,
  }: {
    valueSat?: bigint;
    maxFeeMsat?: bigint | null;
    peer?: typeof PEER;
    userChannelId?: string;
  } = {},
) => {
  const command = { valueMsat: valueSat * 1000n, userChannelId, peer, maxFeeMsat };
  return openChannel(chain, null, command);
};
const close = (chain: FakeChain, id: string, forced = false, maxFeeMsat: bigint | null = null) =>
  closeChannel(chain, id, { forced, maxFeeMsat });

/** Has `fundchannel` open channels. */
function withPeer(chain: FakeChain) {
  const fund = (params: Record<string, unknown>) => {
    const utxos = params.utxos as string[];
    const amount = BigInt(String(params.amount).replace('sat', ''));
    const raw = spendingTransaction(utxos, [
      { script: THEIR_SCRIPT, amount },
      { script: OURS, amount: 100_000n - amount - 500n },
    ]);
    chain.publish(raw);
    for (const coin of chain.coins) {
      if (utxos.includes(`${coin.txid}:${coin.output}`))
        coin.reservedTo = chain.state.height + 2016;
    }
    const channel_id = idOf(raw);
    chain.state.channels.push(channelOf({ channel_id, funding_txid: idOf(raw), amount }));
    return { channel_id };
  };
  chain.on('fundchannel', fund);
  return fund;
}

const channelOf = ({
  channel_id = 'dd'.repeat(32),
  funding_txid = 'ee'.repeat(32),
  amount = 60_000n,
}) => ({
  peer_id: PEER.pubkey,
  peer_connected: true,
  state: 'CHANNELD_AWAITING_LOCKIN',
  opener: 'local',
  channel_id,
  funding_txid,
  funding_outnum: 0,
  total_msat: Number(amount * 1000n),
  to_us_msat: Number(amount * 1000n),
});

test('a channel is opened once for a user channel id, of chosen coins', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  withPeer(chain);
  const boundMsat = await openFeeBoundMsat(chain, 60_000_000n);
  const first = await open(chain, { maxFeeMsat: boundMsat });
  expect(first).toMatchObject({ userChannelId: ID, feeMsat: 500_000n, isNew: true });
  expect(chain.called('fundchannel')[0]?.params).toMatchObject({
    id: PEER.pubkey,
    amount: '60000sat',
    feerate: '253perkw',
    utxos: [`${chain.coins[0]?.txid}:0`],
  });
  expect(await open(chain)).toEqual({ ...first, feeMsat: null, isNew: false });
  expect(chain.called('fundchannel')).toHaveLength(1);
  expect(await listChannels(chain)).toMatchObject([
    { channelId: first.channelId, userChannelId: ID, channelValueMsat: 60_000_000n },
  ]);
});

test('the Bitcoin node is not asked about unconfirmed coins, which fund no channel', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.receive(70_000n);
  const [first] = chain.coins;
  chain.publish(spendingTransaction([`${first?.txid}:0`], [{ script: OURS, amount: 90_000n }]));
  await openFeeBoundMsat(chain, 60_000_000n);
  expect(chain.called('getutxout')).toHaveLength(0);
});

test('the same user channel id with another value or another peer is refused', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  withPeer(chain);
  await open(chain);
  expect((await failed(open(chain, { valueSat: 50_000n }))).message).toContain('another value');
  const peer = { ...PEER, pubkey: `03${'cc'.repeat(32)}` };
  expect((await failed(open(chain, { peer }))).message).toContain('another peer');
});

test('a fee above the limit is refused before the peer is asked', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  const error = await failed(open(chain, { maxFeeMsat: 1000n }));
  expect(error.kind).toBe('refused');
  expect(chain.called('connect')).toHaveLength(0);
});

test('a channel whose answer was lost is found again, also by a later process', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.state.channels.push(channelOf({ channel_id: '11'.repeat(32) }));
  const fund = withPeer(chain);
  chain.on('fundchannel', (params) => {
    fund(params);
    throw new Cut();
  });
  chain.on('listpeerchannels', async () => {
    if (chain.called('fundchannel').length > 0) throw new Cut();
    return { channels: chain.state.channels };
  });
  expect((await failed(open(chain))).outcomeUnknown).toBe(true);
  chain.off('listpeerchannels');
  const found = await open(chain);
  expect(found).toMatchObject({ channelId: chain.state.channels[1]?.channel_id, isNew: false });
  expect(chain.called('fundchannel')).toHaveLength(1);
});

test('while an earlier request may still open the channel, no other is opened', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.on('fundchannel', () => {
    for (const coin of chain.coins) coin.reservedTo = chain.state.height + 2016;
    throw new Cut();
  });
  await failed(open(chain));
  const error = await failed(open(chain));
  expect(error).toMatchObject({ kind: 'timeout', outcomeUnknown: true });
  for (const coin of chain.coins) coin.reservedTo = 0;
  withPeer(chain);
  expect(await open(chain)).toMatchObject({ isNew: true });
});

test('a repeat spends the coins of the earlier request, which may be late, so that one channel opens', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.on('fundchannel', () => {
    throw new Cut();
  });
  await failed(open(chain));
  chain.receive(900_000n);
  withPeer(chain);
  await open(chain);
  const [first, repeat] = chain.called('fundchannel').map(({ params }) => params.utxos);
  expect(repeat).toEqual(first);
});

test('a repeat spends other coins where those of the earlier request are gone', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.on('fundchannel', () => {
    throw new Cut();
  });
  await failed(open(chain));
  for (const coin of chain.coins) coin.isSpent = true;
  chain.receive(100_000n);
  withPeer(chain);
  expect(await open(chain)).toMatchObject({ isNew: true });
});

test('a refusal of the peer may be tried again, and a failed broadcast is not one', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.on('fundchannel', () => {
    throw new FakeError(-1, 'They sent ERROR: channel too small');
  });
  expect(await failed(open(chain))).toMatchObject({ kind: 'refused', outcomeUnknown: false });
  chain.on('fundchannel', () => {
    throw new FakeError(-1, 'Error broadcasting transaction: error code: -26');
  });
  expect((await failed(open(chain))).outcomeUnknown).toBe(true);
  withPeer(chain);
  expect(await open(chain)).toMatchObject({ isNew: true });
});

test('coins that another program has reserved meanwhile do not fund a channel, and others do', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.receive(100_000n);
  const fund = withPeer(chain);
  chain.on('fundchannel', (params) => {
    const [outpoint] = params.utxos as string[];
    const coin = chain.coins.find(({ txid }) => outpoint === `${txid}:0`);
    if (chain.called('fundchannel').length > 1) return fund(params);
    if (coin) coin.reservedTo = chain.state.height + 72;
    throw new FakeError(-32602, `UTXO ${outpoint} already reserved`);
  });
  expect(await open(chain)).toMatchObject({ isNew: true });
  const [first, second] = chain.called('fundchannel').map(({ params }) => params.utxos);
  expect(second).not.toEqual(first);
});

test('after a refusal a repeat opens the channel, though another program has reserved its coins', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.on('fundchannel', () => {
    throw new FakeError(-1, 'They sent ERROR: channel too small');
  });
  expect((await failed(open(chain))).kind).toBe('refused');
  for (const coin of chain.coins) coin.reservedTo = chain.state.height + 72;
  chain.receive(100_000n);
  withPeer(chain);
  expect(await open(chain)).toMatchObject({ isNew: true });
});

test('coins of a request that may be under way are not replaced where they are reserved', async () => {
  const chain = fakeChain();
  chain.receive(100_000n);
  chain.on('fundchannel', () => {
    throw new Cut();
  });
  await failed(open(chain));
  chain.receive(100_000n);
  chain.on('fundchannel', (params) => {
    const [outpoint] = params.utxos as string[];
    // The earlier request has reached the node by now.
    for (const coin of chain.coins.slice(0, 1)) coin.reservedTo = chain.state.height + 2016;
    throw new FakeError(-32602, `UTXO ${outpoint} already reserved`);
  });
  expect((await failed(open(chain))).kind).toBe('refused');
  expect((await failed(open(chain))).outcomeUnknown).toBe(true);
  expect(chain.called('fundchannel')).toHaveLength(2);
});

test('a cooperative close has no time limit at the node and a highest rate', async () => {
  const chain = fakeChain();
  const channel_id = 'dd'.repeat(32);
  chain.state.channels.push({ ...channelOf({ channel_id }), state: 'CHANNELD_NORMAL' });
  const closing = spendingTransaction(
    ['ee'.repeat(32).concat(':0')],
    [{ script: OURS, amount: 59_800n }],
  );
  chain.on('close', () => ({ type: 'mutual', txs: [closing], txids: [idOf(closing)] }));
  expect(await close(chain, channel_id)).toEqual({ feeMsat: 200_000n, isNew: true });
  expect(chain.called('close')[0]?.params).toEqual({
    id: channel_id,
    unilateraltimeout: 0,
    feerange: ['minimum', '253perkw'],
  });
  await close(chain, channel_id, true);
  expect(chain.called('close')[1]?.params).toEqual({ id: channel_id, unilateraltimeout: 1 });
});

test('a close is refused where it may cost too much, the peer is away, or there is no channel', async () => {
  const chain = fakeChain();
  const channel_id = 'dd'.repeat(32);
  chain.state.channels.push({ ...channelOf({ channel_id }), state: 'CHANNELD_NORMAL' });
  const boundMsat = await closeFeeBoundMsat(chain, channel_id, { forced: false });
  expect((await failed(close(chain, channel_id, false, boundMsat - 1n))).kind).toBe('refused');
  expect((await failed(closeFeeBoundMsat(chain, channel_id, { forced: true }))).kind).toBe(
    'refused',
  );
  expect((await failed(close(chain, '22'.repeat(32)))).kind).toBe('notFound');
  Object.assign(chain.state.channels[0] ?? {}, { peer_connected: false });
  expect((await failed(close(chain, channel_id))).message).toContain('not connected');
  expect(chain.called('close')).toHaveLength(0);
});

test('a close whose answer was lost is done when the two sides have agreed, else unknown', async () => {
  const chain = fakeChain();
  const channel_id = 'dd'.repeat(32);
  const channel = { ...channelOf({ channel_id }), state: 'CHANNELD_NORMAL' };
  chain.state.channels.push(channel);
  chain.on('close', () => {
    channel.state = 'CHANNELD_SHUTTING_DOWN';
    throw new Cut();
  });
  expect((await failed(close(chain, channel_id))).outcomeUnknown).toBe(true);
  chain.on('close', () => {
    channel.state = 'CLOSINGD_COMPLETE';
    throw new Cut();
  });
  expect(await close(chain, channel_id)).toEqual({ feeMsat: null, isNew: true });
  expect(await close(chain, channel_id)).toEqual({ feeMsat: null, isNew: false });
  expect(chain.called('close')).toHaveLength(2);
});

test('a close that the node refuses before it asks the peer is refused, and every other error leaves it open', async () => {
  const chain = fakeChain();
  const channel_id = 'dd'.repeat(32);
  chain.state.channels.push({ ...channelOf({ channel_id }), state: 'CHANNELD_NORMAL' });
  for (const [code, text, outcomeUnknown] of [
    [-1, 'Channel is in state CHANNELD_SHUTTING_DOWN', false],
    [-32602, 'id: should be a channel ID', false],
    [-1, 'Peer sent an error', true],
    [-4, 'Plugin terminated', true],
    [null, 'Peer has no active channel', true],
  ] as const) {
    chain.on('close', () => {
      throw new FakeError(code, text);
    });
    expect([text, (await failed(close(chain, channel_id))).outcomeUnknown]).toEqual([
      text,
      outcomeUnknown,
    ]);
  }
});

test('an answer that names no kind of close does not prove that the channel is closed', async () => {
  const chain = fakeChain();
  const channel_id = '11'.repeat(32);
  chain.state.channels.push(channelOf({ channel_id }));
  chain.on('close', () => ({}));
  expect(await failed(close(chain, channel_id))).toMatchObject({
    kind: 'unreadable',
    outcomeUnknown: true,
  });
});
