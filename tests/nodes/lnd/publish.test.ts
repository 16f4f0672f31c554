import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base64, hex } from '@scure/base';
import { p2wpkh, Transaction } from '@scure/btc-signer';
import { decodeAddress, encodeAddress } from '../../../src/codecs/address.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { keyedLock } from '../../../src/lib/keyed-lock.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { publishSend, signSend } from '../../../src/nodes/lnd/onchain/onchain.ts';
import { CoinLocks } from '../../../src/nodes/lnd/reads/coin-locks.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { LabelGrace } from '../../../src/nodes/lnd/words/label-grace.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { OddRows } from '../../../src/nodes/remote/calls/odd-rows.ts';
import { Recent } from '../../../src/nodes/remote/calls/recent.ts';
import { LocalChanges } from '../../../src/nodes/remote/place/local-changes.ts';
import { Sendable } from '../../../src/nodes/remote/place/sendable.ts';
import { memoryState } from '../../support/memory-state.ts';
import { rejection } from '../../support/rejection.ts';
import { infoOf, nodeKey, refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
const rest = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => 'c1' });
const owner = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => '0e' });
const node = nodeKey(1);
const coinLocks = new CoinLocks('mark', () => 0);
const wallet = {
  userPk: '',
  nodePk: node.pk,
  network: 'regtest' as const,
  clock: systemClock,
  elapsedMs: () => 0,
  random: (bytes: number) => new Uint8Array(bytes).fill(7),
  coinLocks,
  rows: memoryState(),
  locks: keyedLock(),
  local: new LocalChanges(),
  labels: new LabelGrace(() => 0),
  oddRows: new OddRows('LND', []),
  publicChannel: new Recent<boolean>(() => 0),
  sendable: new Sendable(() => 0),
  sending: new Set<string>(),
  closed: new AbortController().signal,
};

const SECRET = new Uint8Array(32).fill(3);
const ours = p2wpkh(secp256k1.getPublicKey(SECRET, true)).script;
const theirs = p2wpkh(secp256k1.getPublicKey(new Uint8Array(32).fill(4), true)).script;
const COIN = 'ab'.repeat(32);
const address = encodeAddress(theirs, 'regtest') ?? '';
const clientPaymentId = '5e'.repeat(32);
const command = {
  index: paymentIndex(1_700_000_000_123, paymentId('os', clientPaymentId)),
  createdAtMs: 1_700_000_000_123,
  amountMsat: 60_000_000n,
  personalNote: null,
  externalId: null,
  address: decodeAddress(address),
  priority: 'normal' as const,
  maxFeeMsat: 1_000_000n,
};
const LOCK = hex.decode(coinLocks.idOf(command));

function transaction(paidSat: bigint, changeSat: bigint): Transaction {
  const made = new Transaction();
  made.addInput({ txid: COIN, index: 1, witnessUtxo: { script: ours, amount: 100_000n } });
  made.addOutput({ script: theirs, amount: paidSat });
  made.addOutput({ script: ours, amount: changeSat });
  return made;
}
function finalized(made: Transaction): Uint8Array {
  made.sign(SECRET);
  made.finalize();
  return made.extract();
}
const lease = (id: Uint8Array) => ({
  id: base64.encode(id),
  outpoint: { txid_str: COIN, output_index: 1 },
});
const FUND = 'POST /v2/wallet/psbt/fund';
const FINALIZE = 'POST /v2/wallet/psbt/finalize';
const PUBLISH = 'POST /v2/wallet/tx';
const funds = (made: Transaction, id = LOCK) =>
  lnd.on(FUND, { funded_psbt: base64.encode(made.toPSBT()), locked_utxos: [lease(id)] });
const paths = () => lnd.requests.map(({ path }) => path);

beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v1/getinfo', infoOf(node.pk));
  lnd.on('GET /v1/transactions', { transactions: [] });
  lnd.on('GET /v2/wallet/estimatefee', { sat_per_kw: '500' });
  lnd.on('GET /v1/balance/blockchain', {
    total_balance: '0',
    confirmed_balance: '0',
    unconfirmed_balance: '0',
    reserved_balance_anchor_chan: '10000',
  });
  lnd.on('POST /v2/wallet/utxos/', {});
  lnd.on('POST /v2/wallet/utxos/leases', { locked_utxos: [] });
  funds(transaction(60_000n, 39_000n));
  lnd.on(FINALIZE, { raw_final_tx: base64.encode(finalized(transaction(60_000n, 39_000n))) });
});

describe('signing a send on chain', () => {
  const sign = (change: object = {}) =>
    signSend({ rest, owner, wallet }, { ...command, ...change });

  test('funds, looks at the fee, signs, and publishes nothing', async () => {
    const signed = await sign();
    expect(signed.feeMsat).toBe('1000000');
    expect(signed.locks).toEqual([{ id: hex.encode(LOCK), outpoint: `${COIN}:1` }]);
    expect(paths()).not.toContain('/v2/wallet/tx');
  });

  const refusals: [string, Transaction, object][] = [
    ['a fee above the cap', transaction(60_000n, 39_000n), { maxFeeMsat: 999_999n }],
    ['a payment that is not the one asked for', transaction(59_000n, 40_000n), {}],
    [
      'what would leave less than LND keeps for its channels',
      transaction(60_000n, 9_000n),
      { maxFeeMsat: null },
    ],
  ];
  for (const [name, made, change] of refusals) {
    test(`${name} is not signed, and its coins are given back`, async () => {
      funds(made);
      expect(await rejection(sign(change))).toBeInstanceOf(Error);
      expect(paths()).not.toContain('/v2/wallet/psbt/finalize');
      const released = lnd.requests.filter(({ path }) => path === '/v2/wallet/utxos/release');
      expect(released.map(({ macaroon }) => macaroon)).toEqual(['0e']);
    });
  }

  test('another transaction than the funded one is not taken, and its coins are given back', async () => {
    lnd.on(FINALIZE, { raw_final_tx: base64.encode(finalized(transaction(60_000n, 29_000n))) });
    expect(await rejection(sign())).toMatchObject({ kind: 'unreadable' });
    expect(paths()).toContain('/v2/wallet/utxos/release');
  });

  test('an LND before 0.19 locks under its own id: the lock is changed into one that can be renewed', async () => {
    const internal = new Uint8Array(32).fill(9);
    const psbt = base64.encode(transaction(60_000n, 39_000n).toPSBT());
    lnd.on(FUND, ({ body }) =>
      'custom_lock_id' in body
        ? refusal(400, 3, 'proto: (line 1:80): unknown field "custom_lock_id"')
        : Response.json({ funded_psbt: psbt, locked_utxos: [lease(internal)] }),
    );
    const signed = await sign();
    expect(signed.locks).toEqual([{ id: hex.encode(LOCK), outpoint: `${COIN}:1` }]);
    const moves = lnd.requests
      .filter(({ path }) => /^\/v2\/wallet\/utxos\/(lease|release)$/.test(path))
      .map(({ path, body }) => [path, body.id]);
    expect(moves).toEqual([
      ['/v2/wallet/utxos/release', base64.encode(internal)],
      ['/v2/wallet/utxos/lease', base64.encode(LOCK)],
    ]);
  });
});

describe('publishing a signed send', () => {
  const raw = finalized(transaction(60_000n, 39_000n));
  const signed = {
    txid: Transaction.fromRaw(raw, { allowUnknownOutputs: true }).id,
    txHex: hex.encode(raw),
    feeMsat: '1000000',
    locks: [],
  };
  const publish = () => publishSend({ rest, owner, wallet }, command, signed);
  const listed = {
    tx_hash: signed.txid,
    amount: '-61000',
    num_confirmations: 0,
    block_height: 0,
    time_stamp: '1700000000',
    total_fees: '1000',
    raw_tx_hex: signed.txHex,
    label: `ws:${clientPaymentId}`,
    output_details: [],
    previous_outpoints: [{ outpoint: `${COIN}:1`, is_our_output: true }],
  };

  test('sends these very bytes with the payment as label, and knows the payment', async () => {
    lnd.on(PUBLISH, { publish_error: '' });
    expect(await publish()).toMatchObject({
      state: 'known',
      payment: { txid: signed.txid, feesMsat: 1_000_000n, index: command.index, address },
    });
    const sent = lnd.requests.find(({ path }) => path === '/v2/wallet/tx');
    expect(sent).toMatchObject({
      macaroon: 'c1',
      body: { tx_hex: base64.encode(raw), label: listed.label },
    });
  });

  test("another sidecar's transaction for the same client_payment_id is the payment, and nothing is published", async () => {
    const output = { address, output_index: '0', amount: '60000', is_our_address: false };
    const other = {
      ...listed,
      tx_hash: '0e'.repeat(32),
      output_details: [output],
      previous_outpoints: [{ outpoint: `${'cd'.repeat(32)}:0`, is_our_output: true }],
    };
    lnd.on('GET /v1/transactions?', { transactions: [other] });
    expect(await publish()).toMatchObject({
      state: 'known',
      payment: { txid: other.tx_hash, index: command.index, address },
    });
    for (const change of [{ amount: '60001' }, { address: 'bcrt1qother' }]) {
      const transactions = [{ ...other, output_details: [{ ...output, ...change }] }];
      lnd.on('GET /v1/transactions?', { transactions });
      expect(await publish()).toMatchObject({
        state: 'refused',
        error: { message: expect.stringContaining('client_payment_id') },
      });
    }
    expect(paths()).not.toContain('/v2/wallet/tx');
  });

  test('nothing is published where the list cannot be read before', async () => {
    lnd.on('GET /v1/transactions?', () => new Response('<html>', { status: 502 }));
    expect((await publish()).state).toBe('refused');
    expect(paths()).not.toContain('/v2/wallet/tx');
  });

  const unclear: [string, () => Response][] = [
    ['a publish error', () => Response.json({ publish_error: 'mempool full' })],
    ['already spent', () => refusal(500, 2, 'transaction rejected: output already spent')],
    ["a proxy's page", () => new Response('<html>', { status: 502 })],
  ];
  for (const [name, answer] of unclear) {
    test(`after "${name}" the wallet's list decides: known there, unknown otherwise`, async () => {
      lnd.on(PUBLISH, answer);
      expect((await publish()).state).toBe('unknown');
      lnd.on('GET /v1/transactions?', { transactions: [listed] });
      expect(await publish()).toMatchObject({ state: 'known', payment: { txid: signed.txid } });
    });
  }

  test('is refused only where it was not looked at', async () => {
    lnd.on(PUBLISH, () => refusal(500, 2, 'permission denied'));
    expect((await publish()).state).toBe('refused');
  });
});
