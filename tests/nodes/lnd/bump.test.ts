import { afterAll, beforeEach, expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { RawTx } from '@scure/btc-signer';
import { bumpFee, bumpFeeBoundMsat } from '../../../src/nodes/lnd/onchain/bump.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { txidOf } from '../../../src/nodes/remote/orders/psbt.ts';
import { rejection } from '../../support/rejection.ts';
import { infoOf, nodeKey, refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
const owner = new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => '0e' });

/** A transaction of 82 virtual bytes that spends one coin and makes one output. */
const RAW = hex.encode(
  RawTx.encode({
    version: 2,
    segwitFlag: false,
    lockTime: 0,
    inputs: [
      {
        txid: new Uint8Array(32).fill(1),
        index: 0,
        finalScriptSig: new Uint8Array(),
        sequence: 0xfffffffd,
      },
    ],
    outputs: [{ amount: 5000n, script: hex.decode(`0014${'00'.repeat(20)}`) }],
  }),
);
const VBYTES = 82n;
const txid = txidOf(RAW);
const outpoint = { txid_str: txid, output_index: 0 };
const parent = (change: object = {}) => ({
  transactions: [
    {
      tx_hash: txid,
      amount: '-6000',
      num_confirmations: 0,
      block_height: 0,
      time_stamp: '1800000000',
      total_fees: '82',
      raw_tx_hex: RAW,
      label: '',
      output_details: [],
      previous_outpoints: [],
      ...change,
    },
  ],
});
const BUMP = 'POST /v2/wallet/bumpfee';
const command = { txid, priority: 'high' as const };
const asked = () => lnd.requests.filter(({ path }) => path === '/v2/wallet/bumpfee');

beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v1/getinfo', infoOf(nodeKey(1).pk));
  lnd.on('GET /v1/transactions', parent());
  lnd.on('GET /v2/wallet/estimatefee/1', { sat_per_kw: '2500' });
  lnd.on('GET /v2/wallet/sweeps/pending', { pending_sweeps: [] });
  lnd.on('POST /v2/wallet/utxos', {
    utxos: [{ address_type: 'TAPROOT_PUBKEY', amount_sat: '5000', outpoint }],
  });
  lnd.on(BUMP, { status: 'registered' });
});

test('the child pays for both transactions at the rate of the priority, within a bound', async () => {
  const boundMsat = await bumpFeeBoundMsat(owner, command);
  // 10 sats for each virtual byte of both, less what the parent pays.
  const feeSat = 10n * (VBYTES + 122n) - 82n;
  expect(boundMsat).toBeGreaterThanOrEqual(feeSat * 1000n);
  expect(boundMsat).toBeLessThanOrEqual((feeSat + 2n * 122n) * 1000n);
  expect(await bumpFee(owner, { ...command, maxFeeMsat: boundMsat })).toMatchObject({
    isNew: true,
  });
  expect(asked().map(({ body }) => body)).toEqual([
    { outpoint, sat_per_vbyte: '17', budget: `${boundMsat / 1000n}`, immediate: true },
  ]);
});

test('what is allowed less is not asked for', async () => {
  const boundMsat = await bumpFeeBoundMsat(owner, command);
  const refused = bumpFee(owner, { ...command, maxFeeMsat: boundMsat - 1n });
  expect(await rejection(refused)).toMatchObject({ kind: 'refused' });
  expect(asked()).toEqual([]);
});

test('a child with as large a budget is not asked for again, one with a smaller budget is', async () => {
  const boundSat = (await bumpFeeBoundMsat(owner, command)) / 1000n;
  lnd.on('POST /v2/wallet/utxos', { utxos: [] });
  for (const [budget, isNew] of [
    [boundSat, false],
    [boundSat - 1n, true],
  ] as const) {
    const pending_sweeps = [{ outpoint, budget: `${budget}` }];
    lnd.on('GET /v2/wallet/sweeps/pending', { pending_sweeps });
    expect(await bumpFee(owner, { ...command, maxFeeMsat: null })).toMatchObject({ isNew });
    expect(asked()).toHaveLength(isNew ? 1 : 0);
  }
});

const unfit: [string, () => void][] = [
  ['is confirmed', () => lnd.on('GET /v1/transactions', parent({ num_confirmations: 1 }))],
  ['LND does not list', () => lnd.on('GET /v1/transactions', { transactions: [] })],
  ['pays that much already', () => lnd.on('GET /v1/transactions', parent({ total_fees: '820' }))],
  ['has no change left', () => lnd.on('POST /v2/wallet/utxos', { utxos: [] })],
];
for (const [name, change] of unfit) {
  test(`a send that ${name} is refused, and LND is asked for nothing`, async () => {
    change();
    expect(await rejection(bumpFee(owner, { ...command, maxFeeMsat: null }))).toMatchObject({
      kind: 'refused',
      outcomeUnknown: false,
    });
    expect(asked()).toEqual([]);
  });
}

test('an error of LND leaves the outcome unknown, unless it names a reason from before the sweep', async () => {
  const ask = () => bumpFee(owner, { ...command, maxFeeMsat: null }).catch((error) => error);
  lnd.on(BUMP, () => refusal(500, 2, 'something broke'));
  expect(await ask()).toMatchObject({ outcomeUnknown: true });
  lnd.on(BUMP, () => refusal(500, 2, 'unable to bump fee of a confirmed transaction'));
  expect(await ask()).toMatchObject({ outcomeUnknown: false });
});
