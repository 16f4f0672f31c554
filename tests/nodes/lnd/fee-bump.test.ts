import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { labelBumps, standing, withSendLabels } from '../../../src/nodes/lnd/reads/fee-bump.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

const ID = '5e'.repeat(32);
const LABEL = `ws:${ID}`;
const COIN = `${'ab'.repeat(32)}:1`;
const ADDRESS = 'bcrt1qpayee';
const send = {
  payment: {
    index: paymentIndex(1, paymentId('os', ID)),
    address: ADDRESS.toUpperCase(),
    amountMsat: 30_000_000n,
  },
  txid: '01'.repeat(32),
  outpoints: [COIN],
};
const output = (address: string, amount: bigint) => ({
  address,
  output_index: 0,
  amount,
  is_our_address: false,
});
const listed = (tx_hash: string, change: object = {}) => ({
  tx_hash,
  amount: -1n,
  num_confirmations: 0,
  block_height: 0,
  time_stamp: 1,
  total_fees: 0n,
  raw_tx_hex: '',
  label: '',
  output_details: [output(ADDRESS, 30_000n)],
  previous_outpoints: [{ outpoint: COIN, is_our_output: true }],
  ...change,
});
const BUMP = '02'.repeat(32);

describe('a transaction is the fee bump of a send', () => {
  const labelAs = (change: object) =>
    withSendLabels([listed(BUMP, change)], [send]).map(({ label }) => label);

  test('when it spends a coin of it and pays the same receiver as much', () => {
    expect(labelAs({})).toEqual([LABEL]);
    expect(labelAs({ label: 'by hand' })).toEqual([LABEL]);
  });

  test('and is not when it pays less, pays another, spends other coins or is another send', () => {
    expect(labelAs({ output_details: [output(ADDRESS, 29_999n)] })).toEqual(['']);
    expect(labelAs({ output_details: [output('bcrt1qother', 30_000n)] })).toEqual(['']);
    expect(labelAs({ previous_outpoints: [] })).toEqual(['']);
    const another = `ws:${'77'.repeat(32)}`;
    expect(labelAs({ label: another })).toEqual([another]);
  });
});

test('a bump that is the transaction of the payment already keeps the label of the send', () => {
  const bumped = { ...send, txid: BUMP, outpoints: [] };
  expect(withSendLabels([listed(BUMP)], [bumped]).map(({ label }) => label)).toEqual([LABEL]);
});

test('a send that was made without the sidecar stays without a label', () => {
  const outside = { ...send.payment, index: paymentIndex(1, paymentId('os', send.txid)) };
  const labeled = withSendLabels([listed(send.txid)], [{ ...send, payment: outside }]);
  expect(labeled.map(({ label }) => label)).toEqual(['']);
});

test('of the transactions of one send the confirmed one stands, else the latest', () => {
  const first = listed('0a'.repeat(32), { label: LABEL });
  const bump = listed(BUMP, { label: LABEL, time_stamp: 2 });
  const others = [listed('0b'.repeat(32)), listed('0c'.repeat(32))];
  expect(standing([first, ...others, bump])).toEqual([...others, bump]);
  const mined = { ...first, num_confirmations: 1 };
  expect(standing([mined, ...others, bump])).toEqual([mined, ...others]);
});

describe('transactions of one label that share no coin are two payments', () => {
  const coin = (name: string) => ({ outpoint: `${name.repeat(32)}:0`, is_our_output: true });
  const sent = (name: string, coins: readonly string[], change: object = {}) =>
    listed(name.repeat(32), { label: LABEL, previous_outpoints: coins.map(coin), ...change });
  const [first, second] = [sent('0a', ['a1']), sent('0b', ['b1'], { time_stamp: 2 })];
  const named = (transactions: readonly { tx_hash: string; label: string }[]) =>
    transactions.map(({ tx_hash, label }) => [tx_hash.slice(0, 2), label]);
  const ofTxid = (name: string) => `ws:${name.repeat(32)}`;
  const knownAs = (id: string, name: string, coins: readonly string[]) => ({
    payment: { ...send.payment, index: paymentIndex(1, paymentId('os', id)) },
    txid: name.repeat(32),
    outpoints: coins.map((one) => coin(one).outpoint),
  });

  test('the older one has the label where none is known, in any order of the list', () => {
    const apart = [
      ['0a', LABEL],
      ['0b', ofTxid('0b')],
    ];
    expect(named(standing([first, second]))).toEqual(apart);
    expect(named(standing([second, first]))).toEqual(apart.toReversed());
  });

  test('the one that the store knows has the label, also by a coin alone', () => {
    const apart = [
      ['0a', ofTxid('0a')],
      ['0b', LABEL],
    ];
    expect(named(standing([first, second], [knownAs(ID, '0b', ['b1'])]))).toEqual(apart);
    expect(named(standing([first, second], [knownAs(ID, '0f', ['b1'])]))).toEqual(apart);
  });

  test('neither has the label where the store knows a third one by it', () => {
    expect(named(standing([first, second], [knownAs(ID, '0f', ['c1'])]))).toEqual([
      ['0a', ofTxid('0a')],
      ['0b', ofTxid('0b')],
    ]);
  });

  test('one that was told by its txid keeps that name', () => {
    const told = knownAs('0b'.repeat(32), '0b', ['b1']);
    expect(named(standing([first, second], [told]))).toEqual([
      ['0a', LABEL],
      ['0b', ofTxid('0b')],
    ]);
    const bump = sent('0c', ['b1', 'b2'], { time_stamp: 3 });
    expect(named(standing([first, second, bump], [told]))).toEqual([
      ['0a', LABEL],
      ['0c', ofTxid('0b')],
    ]);
  });

  test('one that was told and is over has some name already, and no other takes it', () => {
    const isFirst = ({ tx_hash }: { tx_hash: string }) => tx_hash === first.tx_hash;
    expect(named(standing([first, second], [], isFirst))).toEqual([['0b', ofTxid('0b')]]);
    expect(named(standing([first], [], isFirst))).toEqual([['0a', LABEL]]);
  });

  test('one that spends the coins of another send is no bump of that one, whichever the store names first', () => {
    const rival = knownAs('5f'.repeat(32), '0f', ['a1']);
    const own = knownAs(ID, '0a', ['a1']);
    for (const sends of [[rival], [rival, own], [own, rival]]) {
      expect(named(standing([first], sends))).toEqual([['0a', LABEL]]);
    }
  });

  test('one that another program sent is not told as the payment that spent its coins, unless that pays the same', () => {
    const outside = knownAs('0f'.repeat(32), '0f', ['a1']);
    expect(named(standing([first], [outside]))).toEqual([['0a', ofTxid('0f')]]);
    const others = { output_details: [] };
    expect(named(standing([sent('0a', ['a1'], others)], [outside]))).toEqual([['0a', LABEL]]);
  });

  test('those that are linked by coins are one, of which one stands', () => {
    const link = sent('0c', ['a1', 'b1'], { time_stamp: 3 });
    expect(named(standing([first, second, link]))).toEqual([['0c', LABEL]]);
  });
});

describe('LND is told the label of a fee bump', () => {
  const lnd = scriptedLnd();
  afterAll(() => lnd.stop());
  beforeEach(() => lnd.reset());
  const rest = () =>
    new LndRest({
      endpoint: new RemoteEndpoint({ url: lnd.url, cert: lnd.cert }),
      token: () => null,
    });
  const label = (before: string) => {
    const read = [listed(BUMP, { label: before }), listed('0b'.repeat(32), { output_details: [] })];
    return labelBumps(rest(), read, withSendLabels(read, [send]));
  };

  test('where it has none, or the one that LND gives to what has none', async () => {
    lnd.on('POST /v2/wallet/tx/label', {});
    await label('by hand');
    expect(lnd.requests).toEqual([]);
    await label('');
    await label('external');
    const txid = Buffer.alloc(32, 2).toString('base64');
    expect(lnd.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/v2/wallet/tx/label', { txid, label: LABEL, overwrite: true }],
      ['/v2/wallet/tx/label', { txid, label: LABEL, overwrite: true }],
    ]);
  });

  test('and its refusal changes nothing', async () => {
    lnd.on('POST /v2/wallet/tx/label', () => refusal(500, 2, 'permission denied'));
    await label('');
    expect(lnd.requests.length).toBe(1);
  });
});
