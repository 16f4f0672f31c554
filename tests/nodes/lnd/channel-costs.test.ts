import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { RawTx } from '@scure/btc-signer';
import { ApiError } from '../../../src/model/errors.ts';
import { channelIdOf } from '../../../src/nodes/channel-id.ts';
import { closeChannel, closeFeeBoundMsat } from '../../../src/nodes/lnd/channels/channel-close.ts';
import { openChannel } from '../../../src/nodes/lnd/channels/channel-open.ts';
import { openedAs } from '../../../src/nodes/lnd/reads/channels.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { memoryState } from '../../support/memory-state.ts';
import { rejection } from '../../support/rejection.ts';
import { infoOf, nodeKey, refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
const owner = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => '0e' });

const wallet = {
  rows: memoryState(),
  userPk: '',
  elapsedMs: () => 0,
  closed: new AbortController().signal,
};

const FUNDING = 'ab'.repeat(32);
const POINT = `${FUNDING}:1`;
const CLOSING = 'cd'.repeat(32);
const PEER = nodeKey(2).pk;
const channelId = channelIdOf(POINT);
const userChannelId = 'e7'.repeat(16);
const NO_LIMIT = { forced: false, maxFeeMsat: null };
const LIMIT = { forced: false, maxFeeMsat: 10_000_000n };

/** A closing transaction with these output amounts, in satoshis. */
function closingHex(...amounts: bigint[]): string {
  return hex.encode(
    RawTx.encode({
      version: 2,
      segwitFlag: false,
      lockTime: 0,
      inputs: [
        {
          txid: hex.decode(FUNDING),
          index: 1,
          finalScriptSig: new Uint8Array(),
          sequence: 0xffffffff,
        },
      ],
      outputs: amounts.map((amount) => ({ amount, script: new Uint8Array([0x51]) })),
    }),
  );
}

const transaction = (tx_hash: string, total_fees: string, raw_tx_hex: string) => ({
  tx_hash,
  amount: '0',
  num_confirmations: 0,
  block_height: 0,
  time_stamp: '1800000000',
  total_fees,
  raw_tx_hex,
  label: '',
  output_details: [],
  previous_outpoints: [],
});

const closed = (open_initiator: string) => ({
  channels: [
    { channel_point: POINT, closing_tx_hash: CLOSING, capacity: '100000', open_initiator },
  ],
});

beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v1/getinfo', infoOf(nodeKey(1).pk));
  lnd.on('GET /v1/channels', { channels: [] });
  lnd.on('GET /v1/channels/pending', { pending_open_channels: [], waiting_close_channels: [] });
  lnd.on('GET /v2/wallet/estimatefee', { sat_per_kw: '1000' });
});

describe('a closing that both sides have agreed on', () => {
  const waiting = (initiator: string) => ({
    pending_open_channels: [],
    waiting_close_channels: [
      {
        channel: { channel_point: POINT, capacity: '100000', initiator },
        closing_txid: CLOSING,
      },
    ],
  });

  test('is not asked for again, and costs its opener what the outputs lack of the capacity', async () => {
    lnd.on('GET /v1/channels/pending', waiting('INITIATOR_LOCAL'));
    lnd.on('GET /v1/transactions', {
      transactions: [transaction(CLOSING, '0', closingHex(40_000n, 59_000n))],
    });
    expect(await closeChannel({ rest: owner, owner }, channelId, LIMIT)).toEqual({
      feeMsat: 1_000_000n,
      isNew: false,
    });
    expect(lnd.requests.some(({ method }) => method === 'DELETE')).toBe(false);
    expect(await closeFeeBoundMsat(owner, channelId, { forced: false })).toBeGreaterThan(0n);
  });

  test('costs the other side nothing', async () => {
    lnd.on('GET /v1/channels/pending', waiting('INITIATOR_REMOTE'));
    expect(await closeChannel({ rest: owner, owner }, channelId, LIMIT)).toEqual({
      feeMsat: 0n,
      isNew: false,
    });
  });

  test('has a cost that is not known while LND does not list the transaction', async () => {
    lnd.on('GET /v1/channels/closed', closed('INITIATOR_LOCAL'));
    lnd.on('GET /v1/transactions', { transactions: [] });
    expect(await closeChannel({ rest: owner, owner }, channelId, LIMIT)).toEqual({
      feeMsat: null,
      isNew: false,
    });
  });
});

test('a cost that nobody counts is not looked up', async () => {
  lnd.on('GET /v1/channels/closed', closed('INITIATOR_LOCAL'));
  const answer = { feeMsat: null, isNew: false };
  expect(await closeChannel({ rest: owner, owner }, channelId, NO_LIMIT)).toEqual(answer);
  expect(lnd.requests.some(({ path }) => path.startsWith('/v1/transactions'))).toBe(false);
});

const open = {
  active: false,
  channel_point: POINT,
  remote_pubkey: PEER,
  capacity: '100000',
  local_balance: '90000',
  remote_balance: '0',
  commit_fee: '1000',
  fee_per_kw: '253',
  initiator: true,
  local_constraints: { chan_reserve_sat: '1000' },
  remote_constraints: { chan_reserve_sat: '1000' },
};

test('a close together with a peer that is away is refused, with what to do', async () => {
  lnd.on('GET /v1/channels', { channels: [open] });
  lnd.on('GET /v1/channels/pending', { pending_open_channels: [] });
  lnd.on('GET /v1/channels/closed', { channels: [] });
  lnd.on('GET /v2/wallet/estimatefee/', { sat_per_kw: '500' });
  lnd.on('DELETE /v1/channels/', () =>
    refusal(
      500,
      2,
      'unable to gracefully close channel while peer is offline (try force closing it instead): channel link not found',
    ),
  );
  expect(await rejection(closeChannel({ rest: owner, owner }, channelId, NO_LIMIT))).toMatchObject({
    kind: 'refused',
    outcomeUnknown: false,
    message:
      'The other side of this channel is not connected, so it cannot agree to close: try again when it is, or close with force, which needs no agreement and gives the coins back days later.',
  });
});

test('an error of LND leaves a close unknown, unless it names a reason from before the peer is asked', async () => {
  lnd.on('GET /v1/channels', { channels: [open] });
  lnd.on('GET /v1/channels/pending', { pending_open_channels: [] });
  lnd.on('GET /v1/channels/closed', { channels: [] });
  lnd.on('GET /v2/wallet/estimatefee/', { sat_per_kw: '500' });
  const answered = async (code: number, text: string) => {
    lnd.on('DELETE /v1/channels/', () => refusal(500, code, text));
    const error = await closeChannel({ rest: owner, owner }, channelId, NO_LIMIT).then(
      () => null,
      (caught: unknown) => caught,
    );
    return error instanceof ApiError ? error.outcomeUnknown : error;
  };
  expect(await answered(2, 'cannot close channel with state: ChanStatusRestored')).toBe(false);
  expect(await answered(2, 'the peer went away')).toBe(true);
  expect(await answered(13, 'cannot close channel with state: ChanStatusRestored')).toBe(true);
});

describe('a forced close', () => {
  const forced = { forced: true, maxFeeMsat: null };

  test('asks LND for it, without a fee rate, which LND would reject', async () => {
    lnd.on('GET /v1/channels', { channels: [open] });
    lnd.on('GET /v1/channels/pending', { pending_open_channels: [] });
    lnd.on('DELETE /v1/channels/', () => new Response('{"result":{"close_pending":{}}}\n'));
    lnd.on('GET /v1/channels/closed', { channels: [] });
    expect(await closeChannel({ rest: owner, owner }, channelId, forced)).toMatchObject({
      isNew: true,
    });
    const asked = lnd.requests.find(({ method }) => method === 'DELETE');
    expect(asked?.path).toBe(`/v1/channels/${FUNDING}/1?force=true`);
  });

  test('is found while its coins are not swept, and closes nothing twice', async () => {
    lnd.on('GET /v1/channels/pending', {
      pending_open_channels: [],
      waiting_close_channels: [],
      pending_force_closing_channels: [
        {
          channel: { channel_point: POINT, capacity: '100000', initiator: 'INITIATOR_REMOTE' },
          closing_txid: CLOSING,
        },
      ],
    });
    expect(await closeChannel({ rest: owner, owner }, channelId, forced)).toMatchObject({
      isNew: false,
    });
    expect(lnd.requests.some(({ method }) => method === 'DELETE')).toBe(false);
  });

  test('has no bound on its cost, so that a client with a budget cannot make one', async () => {
    const asked = closeFeeBoundMsat(owner, channelId, { forced: true }).catch((error) => error);
    expect(await asked).toMatchObject({ kind: 'refused' });
    expect(lnd.requests.some(({ method }) => method === 'DELETE')).toBe(false);
  });
});

test('a channel that was never there is not found', async () => {
  lnd.on('GET /v1/channels/closed', { channels: [] });
  const error = await closeChannel({ rest: owner, owner }, channelId, NO_LIMIT).catch(
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ kind: 'notFound' });
});

test('an opening that is known already tells its cost', async () => {
  lnd.on('GET /v1/channels/pending', {
    pending_open_channels: [
      {
        channel: {
          channel_point: POINT,
          capacity: '100000',
          remote_node_pub: PEER,
          local_balance: '90000',
          remote_balance: '0',
          memo: openedAs(userChannelId),
        },
      },
    ],
    waiting_close_channels: [],
  });
  lnd.on('GET /v1/transactions', { transactions: [transaction(FUNDING, '154', '')] });
  const command = { valueMsat: 100_000_000n, userChannelId, peer: null, maxFeeMsat: 10_000_000n };
  expect(await openChannel({ rest: owner, owner }, wallet, null, command)).toEqual({
    channelId,
    userChannelId,
    feeMsat: 154_000n,
    isNew: false,
  });
  const other = { ...command, peer: { pubkey: nodeKey(3).pk, host: '127.0.0.1:9735' } };
  const refusal = openChannel({ rest: owner, owner }, wallet, null, other).catch((error) => error);
  expect(await refusal).toMatchObject({ kind: 'refused' });
});

test('an opening that got no further than its peer leaves nothing open, and costs nothing', async () => {
  lnd.on('GET /v1/channels', { channels: [] });
  lnd.on('GET /v1/channels/pending', { pending_open_channels: [] });
  lnd.on('GET /v2/wallet/estimatefee/', { sat_per_kw: '500' });
  const outpoint = { txid_str: FUNDING, output_index: 0 };
  lnd.on('POST /v2/wallet/utxos', {
    utxos: [{ address_type: 'TAPROOT_PUBKEY', amount_sat: '200000', outpoint }],
  });
  lnd.on('POST /v1/peers', () => new Response('<html>502 Bad Gateway</html>', { status: 502 }));
  const peer = { pubkey: PEER, host: '127.0.0.1:9735' };
  const command = { valueMsat: 100_000_000n, userChannelId, peer, maxFeeMsat: 10_000_000n };
  const error = await openChannel({ rest: owner, owner }, wallet, null, command).catch(
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ kind: 'unreadable', outcomeUnknown: false });
  expect(lnd.requests.at(-1)?.path).toBe('/v1/peers');
});
