import { describe, expect, test } from 'bun:test';
import { RawTx } from '@scure/btc-signer';
import { encodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { examplePayment } from '../../../src/http/examples.ts';
import { openLog } from '../../../src/lib/log.ts';
import { miningFeeId } from '../../../src/model/payment-index.ts';
import {
  invoiceObservations,
  invoicePayment,
  outboundObservation,
  outboundPayment,
  sendLabel,
  transactionPayments,
} from '../../../src/nodes/lnd/words/translate.ts';
import { invoiceShape, paymentShape, transactionShape } from '../../../src/nodes/lnd/words/wire.ts';
import { observationRules } from '../../../src/wallet/follow/observe.ts';

const rules = observationRules({
  log: openLog({ level: 'silent', format: 'text', write: () => undefined }),
  deliver: () => null,
});

const NOW_MS = 1_800_000_000_000;
const HASH = 'd1'.repeat(32);
const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64');

/** An invoice in LND's form, with the changes that a test makes. */
const invoice = (changes: object = {}) =>
  invoiceShape.parse({
    memo: 'coffee',
    r_preimage: base64('aa'.repeat(32)),
    r_hash: base64(HASH),
    value: '1234',
    value_msat: '1234567',
    creation_date: '1795235185',
    settle_date: '0',
    payment_request: 'lnbcrt1',
    expiry: '3600',
    add_index: '101',
    settle_index: '0',
    amt_paid_msat: '0',
    state: 'OPEN',
    htlcs: [],
    is_keysend: false,
    is_amp: false,
    ...changes,
  });
const payment = (changes: object = {}) =>
  paymentShape.parse({
    payment_hash: HASH,
    value_msat: '1234567',
    fee_msat: '21',
    creation_time_ns: '1795235185221188581',
    payment_preimage: 'bb'.repeat(32),
    payment_request: 'lnbcrt1',
    status: 'SUCCEEDED',
    failure_reason: 'FAILURE_REASON_NONE',
    payment_index: '1',
    htlcs: [{ resolve_time_ns: '1795235186000000000' }],
    ...changes,
  });
const RAW = Buffer.from(
  RawTx.encode({
    version: 2,
    segwitFlag: true,
    inputs: [{ txid: new Uint8Array(32), index: 1, finalScriptSig: new Uint8Array(), sequence: 0 }],
    outputs: [{ amount: 30_000n, script: Uint8Array.of(0x51) }],
    witnesses: [[Uint8Array.of(1, 2)]],
    lockTime: 0,
  }),
).toString('hex');
const transaction = (changes: object = {}) =>
  transactionShape.parse({
    tx_hash: 'c3'.repeat(32),
    amount: '-40975',
    num_confirmations: 0,
    block_height: 0,
    time_stamp: '1795235344',
    total_fees: '10975',
    raw_tx_hex: RAW,
    label: '',
    output_details: [
      { address: 'bcrt1qtheirs', output_index: '0', amount: '30000', is_our_address: false },
      { address: 'bcrt1qours', output_index: '1', amount: '5000', is_our_address: true },
    ],
    previous_outpoints: [{ outpoint: `${'e5'.repeat(32)}:1`, is_our_output: true }],
    ...changes,
  });

const FIELDS = {
  network: 'regtest',
  amountMsat: null,
  timestampSecs: 1_700_000_000,
  paymentHash: HASH,
  paymentSecret: HASH,
  description: '',
  features: [8, 14],
} as const;

describe('invoices', () => {
  test('an open one is pending, without the preimage that LND already tells', () => {
    expect(invoicePayment(invoice(), NOW_MS)).toMatchObject({
      index: `0001795235185000-ln_${HASH}`.padStart(19 + 68, '0'),
      status: 'pending',
      statusMsg: 'invoice generated',
      preimage: null,
      amountMsat: 1_234_567n,
      expiresAtMs: 1_795_238_785_000,
      finalizedAtMs: null,
    });
  });

  test.each([
    ['what the invoice encodes, whatever LND says', { expirySecs: 60 }, 1_700_000_060_000],
    ['an hour where the invoice encodes nothing', {}, 1_700_003_600_000],
  ])('expire at %s', (_, fields, expiresAtMs) => {
    const payment_request = encodeBolt11({ ...FIELDS, ...fields }, new Uint8Array(32).fill(1));
    const observed = [
      invoicePayment(invoice({ payment_request, expiry: '86400' }), NOW_MS),
      outboundPayment(payment({ payment_request }), NOW_MS),
      outboundPayment(payment({ payment_request, status: 'FAILED' }), NOW_MS),
    ];
    expect(observed.map((one) => one?.expiresAtMs)).toEqual(Array(3).fill(expiresAtMs));
  });

  test('one whose HTLC is held is pending still', () => {
    expect(invoicePayment(invoice({ state: 'ACCEPTED' }), NOW_MS)?.status).toBe('pending');
  });

  test('a settled one is completed with what was paid', () => {
    const settled = invoice({
      state: 'SETTLED',
      value_msat: '0',
      amt_paid_msat: '77001',
      settle_date: '1795235190',
    });
    expect(invoicePayment(settled, NOW_MS)).toMatchObject({
      status: 'completed',
      amountMsat: 77_001n,
      preimage: 'aa'.repeat(32),
      finalizedAtMs: 1_795_235_190_000,
    });
  });

  test('a canceled one is expired when its time is over, and canceled before', () => {
    const canceled = invoice({ state: 'CANCELED' });
    expect(invoicePayment(canceled, 1_795_235_186_000)?.statusMsg).toBe('canceled');
    expect(invoicePayment(canceled, NOW_MS)).toMatchObject({
      statusMsg: 'expired',
      finalizedAtMs: 1_795_238_785_000,
    });
  });

  test('a keysend needs its record, is nothing until it settles, and bears its message', () => {
    const keysend = {
      payment_request: '',
      is_keysend: true,
      value_msat: '5000',
      amt_paid_msat: '5000',
      settle_date: '1795235190',
    };
    const records = (custom_records: object) => [{ custom_records }];
    expect(invoicePayment(invoice({ ...keysend, state: 'OPEN' }), NOW_MS)).toBeNull();
    expect(invoicePayment(invoice({ ...keysend, state: 'SETTLED' }), NOW_MS)).toBeNull();
    const htlcs = records({ '5482373484': 'AA==', '34349334': base64('68c3a9') });
    expect(invoicePayment(invoice({ ...keysend, state: 'SETTLED', htlcs }), NOW_MS)).toMatchObject({
      rail: 'spontaneous',
      message: 'hé',
      invoice: null,
      expiresAtMs: null,
    });
    const noText = records({ '5482373484': 'AA==', '34349334': base64('ff') });
    expect(
      invoicePayment(invoice({ ...keysend, state: 'SETTLED', htlcs: noText }), NOW_MS)?.message,
    ).toBeNull();
  });
});

describe('an AMP receipt', () => {
  const SET = '5e'.repeat(32);
  const part = (fill: string, state: string, set = SET) => ({
    state,
    custom_records: { '34349334': base64(Buffer.from('hi').toString('hex')) },
    amp: {
      set_id: base64(set),
      hash: base64(fill.repeat(32)),
      preimage: state === 'SETTLED' ? base64(`${fill.slice(1)}0`.repeat(32)) : '',
    },
  });
  /** An AMP invoice as LND v0.21.2-beta shows it: without hash, preimage and date. */
  const received = (changes: object = {}) =>
    invoice({
      is_amp: true,
      payment_request: '',
      r_hash: '',
      r_preimage: '',
      state: 'SETTLED',
      amt_paid_msat: '9000',
      htlcs: [part('a1', 'SETTLED'), part('b2', 'CANCELED'), part('c3', 'SETTLED')],
      amp_invoice_state: {
        [SET]: { state: 'SETTLED', settle_time: '1795235200', amt_paid_msat: '9000' },
      },
      ...changes,
    });

  test('is named after its set, has no preimage of its own, and brings those of its settled parts', () => {
    const [seen, ...more] = invoiceObservations(received(), NOW_MS);
    expect(more).toEqual([]);
    expect(seen?.payment).toMatchObject({
      index: `0000001795235185000-ln_${SET}`,
      rail: 'spontaneous',
      status: 'completed',
      hash: SET,
      preimage: null,
      amountMsat: 9000n,
      finalizedAtMs: 1_795_235_200_000,
      message: 'hi',
    });
    expect(seen?.ampParts).toEqual([
      { hash: 'a1'.repeat(32), preimage: '10'.repeat(32) },
      { hash: 'c3'.repeat(32), preimage: '30'.repeat(32) },
    ]);
  });

  test('is one for each set that settled', () => {
    const other = '6f'.repeat(32);
    const settled = { state: 'SETTLED', settle_time: '1795235200', amt_paid_msat: '1000' };
    const both = received({
      htlcs: [part('a1', 'SETTLED'), part('d4', 'SETTLED', other)],
      amp_invoice_state: {
        [SET]: settled,
        [other]: settled,
        ['70'.repeat(32)]: { ...settled, state: 'ACCEPTED' },
      },
    });
    const seen = invoiceObservations(both, NOW_MS);
    expect(seen.map(({ payment, ampParts }) => [payment.hash, ampParts?.length])).toEqual([
      [SET, 1],
      [other, 1],
    ]);
  });

  test('of an invoice expires with it', () => {
    const request = { ...FIELDS, expirySecs: 60 };
    const payment_request = encodeBolt11(request, new Uint8Array(32).fill(1));
    const [seen] = invoiceObservations(received({ payment_request }), NOW_MS);
    expect(seen?.payment).toMatchObject({ rail: 'invoice', expiresAtMs: 1_700_000_060_000 });
  });

  test('is none while nothing has settled, and never ends the feed', () => {
    expect(invoiceObservations(received({ amp_invoice_state: {}, state: 'OPEN' }), NOW_MS)).toEqual(
      [],
    );
  });

  test('has parts that no other payment has', () => {
    expect(invoiceObservations(invoice({ state: 'SETTLED' }), NOW_MS)[0]?.ampParts).toBeNull();
  });
});

test('an observation of an outgoing payment bears the time of the attempt in microseconds', () => {
  const attempt = (creation_time_ns: string) =>
    outboundObservation(payment({ payment_index: '42', creation_time_ns }), NOW_MS).attempt;
  // A PostgreSQL database of LND cuts the time, so the nanoseconds do not count.
  expect(attempt('1795235185221188999')).toBe(1_795_235_185_221_188);
  expect(attempt('1795235185221188000')).toBe(1_795_235_185_221_188);
  expect(attempt('1795235185221189000')).toBe(1_795_235_185_221_189);
});

test('the fees of a payment whose list has no hops are what its routes carry beyond its amount', () => {
  const htlc = (status: string, total_amt_msat: string) => ({
    status,
    resolve_time_ns: '0',
    route: { total_amt_msat, hops: [] },
  });
  const parts = [
    htlc('SUCCEEDED', '600004'),
    htlc('FAILED', '400009'),
    htlc('SUCCEEDED', '400003'),
  ];
  const fees = (change: object) =>
    outboundPayment(payment({ value_msat: '1000000', fee_msat: '0', ...change }), NOW_MS).feesMsat;
  expect(fees({ htlcs: parts })).toBe(7n);
  expect(fees({ htlcs: parts, fee_msat: '5' })).toBe(5n);
  expect(fees({ htlcs: [htlc('SUCCEEDED', '1000000')] })).toBe(0n);
  expect(fees({ htlcs: parts, status: 'FAILED' })).toBe(0n);
  expect(fees({ htlcs: [htlc('IN_FLIGHT', '1000007')], status: 'IN_FLIGHT' })).toBe(0n);
});

describe('outgoing payments', () => {
  test('only the status decides: a reason may stand beside any of them', () => {
    const reason = { failure_reason: 'FAILURE_REASON_TIMEOUT' };
    expect(outboundPayment(payment(reason), NOW_MS)).toMatchObject({
      status: 'completed',
      preimage: 'bb'.repeat(32),
      feesMsat: 21n,
      finalizedAtMs: 1_795_235_186_000,
    });
    expect(outboundPayment(payment({ ...reason, status: 'IN_FLIGHT' }), NOW_MS)).toMatchObject({
      status: 'pending',
      preimage: null,
      finalizedAtMs: null,
    });
    expect(outboundPayment(payment({ ...reason, status: 'FAILED' }), NOW_MS)).toMatchObject({
      status: 'failed',
      statusMsg: 'timed out',
      preimage: null,
      feesMsat: 0n,
    });
  });

  test('a state that is not known is pending, and never an end', () => {
    for (const status of ['UNKNOWN', 'INITIATED']) {
      expect(outboundPayment(payment({ status }), NOW_MS).status).toBe('pending');
    }
  });
});

describe('transactions', () => {
  test('what the wallet sent is one payment, its change and fee left out', () => {
    expect(transactionPayments(transaction(), NOW_MS)).toMatchObject([
      {
        direction: 'outbound',
        status: 'pending',
        statusMsg: 'broadcasted',
        amountMsat: 30_000_000n,
        feesMsat: 10_975_000n,
        address: 'bcrt1qtheirs',
      },
    ]);
  });

  test('a send of the sidecar bears its client_payment_id in the label', () => {
    const id = '4f'.repeat(32);
    const [sent] = transactionPayments(transaction({ label: sendLabel(id) }), NOW_MS);
    expect(sent?.index.slice(20)).toBe(`os_${id}`);
  });

  test('what others sent is one payment for each output of ours', () => {
    const received = transactionPayments(
      transaction({
        amount: '5000',
        total_fees: '0',
        previous_outpoints: [{ outpoint: `${'e5'.repeat(32)}:1`, is_our_output: false }],
      }),
      NOW_MS,
    );
    expect(received).toMatchObject([
      { direction: 'inbound', amountMsat: 5_000_000n, address: 'bcrt1qours', feesMsat: 0n },
    ]);
    expect(received[0]?.index.slice(20, 23)).toBe('or_');
  });

  test('six confirmations finish it, five do not', () => {
    const at = (num_confirmations: number) =>
      transactionPayments(transaction({ num_confirmations }), NOW_MS)[0]?.status;
    expect([at(5), at(6), at(700)]).toEqual(['pending', 'completed', 'completed']);
  });

  test('a transaction that cannot be read in full is a payment all the same', () => {
    expect(transactionPayments(transaction({ raw_tx_hex: '00' }), NOW_MS)[0]?.tx).toBeNull();
    expect(transactionPayments(transaction(), NOW_MS)[0]?.tx?.output).toEqual([
      { value: 30_000, script_pubkey: '51' },
    ]);
  });

  test("LND's own work on channels is no payment; what it costs in the wallet's coins alone has a row", () => {
    const foreign = [{ outpoint: `${'e5'.repeat(32)}:1`, is_our_output: false }];
    const swept = { amount: '5000', total_fees: '0', previous_outpoints: foreign };
    const anchor = [...foreign, { outpoint: `${'e6'.repeat(32)}:0`, is_our_output: true }];
    const raised = { amount: '-3000', total_fees: '0', previous_outpoints: anchor };
    for (const label of ['0:openchannel', '0:closechannel:shortchanid-1', '0:sweep']) {
      for (const change of [swept, raised]) {
        const listed = transaction({ label, num_confirmations: 6, ...change });
        expect(transactionPayments(listed, NOW_MS)).toEqual([]);
      }
      const opened = transaction({ label, num_confirmations: 6 });
      expect(transactionPayments(opened, NOW_MS)).toMatchObject([
        {
          direction: 'info',
          amountMsat: 0n,
          feesMsat: opened.total_fees * 1000n,
          status: 'completed',
          txid: opened.tx_hash,
        },
      ]);
      expect(transactionPayments({ ...opened, num_confirmations: 0 }, NOW_MS)).toEqual([]);
    }
  });

  describe('what the wallet pays miners for moving its own coins has a row', () => {
    const coin = `${'e5'.repeat(32)}:1`;
    const child = (change: object = {}) =>
      transactionPayments(
        transaction({ label: '0:sweep', amount: '-10975', num_confirmations: 1, ...change }),
        NOW_MS,
      );

    test("for information, the child of LND's fee bump and any other alike", () => {
      for (const label of ['0:sweep', '', 'external']) {
        expect(child({ label })).toMatchObject([
          {
            rail: 'onchain',
            kind: 'onchain',
            direction: 'info',
            status: 'pending',
            amountMsat: 0n,
            feesMsat: 10_975_000n,
            txid: 'c3'.repeat(32),
            address: null,
          },
        ]);
      }
      expect(child({ num_confirmations: 6 })[0]?.status).toBe('completed');
    });

    test('whose index follows from the first outpoint that it spends', () => {
      const more = { outpoint: `${'e6'.repeat(32)}:0`, is_our_output: true };
      const previous_outpoints = [{ outpoint: coin, is_our_output: true }, more];
      const id = miningFeeId('e5'.repeat(32), 1);
      expect(child()[0]?.index.slice(20)).toBe(id);
      expect(child({ tx_hash: 'c4'.repeat(32), previous_outpoints })[0]?.index.slice(20)).toBe(id);
    });

    test('once a block has it, since another may replace it until then', () => {
      expect(child({ num_confirmations: 0 })).toEqual([]);
    });

    test('not where a coin is not its own or nothing was paid', () => {
      const both = [
        { outpoint: coin, is_our_output: true },
        { outpoint: `${'e6'.repeat(32)}:0`, is_our_output: false },
      ];
      expect(child({ previous_outpoints: both })).toEqual([]);
      expect(child({ amount: '0', total_fees: '0' })).toEqual([]);
    });

    test('not where a client asked for the payment to an own address', () => {
      const [sent] = child({ label: sendLabel('4f'.repeat(32)) });
      expect(sent).toMatchObject({ direction: 'outbound', feesMsat: 10_975_000n });
    });
  });
});

test('what other programs of LND make gets the description in its invoice (docs/decisions.md 183)', () => {
  const changes = { payment_request: examplePayment.invoice, status: 'IN_FLIGHT' };
  const seen = [
    outboundObservation(payment(changes), NOW_MS),
    ...invoiceObservations(invoice({ payment_request: examplePayment.invoice }), NOW_MS),
  ];
  expect(seen.map(({ payment: { description } }) => description)).toEqual([null, null]);
  expect(seen.map((one) => rules.transition(null, one)?.description)).toEqual(['Coffee', 'Coffee']);
});
