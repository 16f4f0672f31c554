import { describe, expect, test } from 'bun:test';
import { encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import {
  describedBy,
  isOlderJson,
  keptDescription,
  storedPayment,
} from '../../src/model/description.ts';
import { encodePayment } from '../../src/model/payment.ts';
import { samplePayment } from '../support/sample-payment.ts';

const invoiceOf = (words: { description: string } | { descriptionHash: string }) =>
  encodeBolt11(
    {
      network: 'regtest',
      amountMsat: 1000n,
      timestampSecs: 1_700_000_000,
      paymentHash: 'ab'.repeat(32),
      paymentSecret: 'cd'.repeat(32),
      expirySecs: 60,
      features: [8, 14],
      ...words,
    },
    new Uint8Array(32).fill(3),
  );

describe('the description of an invoice (docs/decisions.md 183)', () => {
  test('is its text, and null for an empty one, a hash, no invoice, and what cannot be read', () => {
    for (const description of [
      'Tea',
      'ナンセンス 1杯',
      '\ufeffx\u0000\u001b[31m',
      'x'.repeat(639),
    ]) {
      expect(describedBy(invoiceOf({ description }))).toBe(description);
      expect(describedBy(invoiceOf({ description }).toUpperCase())).toBe(description);
    }
    for (const invoice of [
      invoiceOf({ description: '' }),
      invoiceOf({ descriptionHash: 'ef'.repeat(32) }),
      null,
      '',
      'lnbcrt1',
      'lni1qqqq',
      invoiceOf({ description: 'Tea' }).slice(0, 60),
      'lnbcrt1é',
    ]) {
      expect(describedBy(invoice)).toBeNull();
    }
  });

  test('longer than an invoice holds is cut at a character', () => {
    expect(keptDescription('é'.repeat(319))).toBe('é'.repeat(319));
    expect(keptDescription('é'.repeat(320))).toBe(`${'é'.repeat(318)}…`);
    expect(keptDescription('x'.repeat(70_000))).toBe(`${'x'.repeat(636)}…`);
    expect(keptDescription('a\ud800')).toBe('a\ufffd');
    expect(keptDescription('')).toBeNull();
  });
});

describe('a payment that an older version stored', () => {
  const payment = samplePayment(1, {
    invoice: invoiceOf({ description: 'Tea' }),
    message: '"refund_of":"x","price":{}',
  });
  const {
    price: _,
    rate: __,
    rate_at: ___,
    rate_source: ____,
    ...unpriced
  } = encodePayment(payment);
  const { description: _d, external_id: _e, refund_of: _r, refunded: _s, ...older } = unpriced;

  test('is read with the description in its invoice, and without an own id or a refund', () => {
    expect(isOlderJson(JSON.stringify(older))).toBe(true);
    expect(storedPayment(JSON.stringify(older))).toEqual({ ...payment, description: 'Tea' });
  });

  test('is read without a price, with what it had', () => {
    const had = { ...unpriced, description: null, external_id: 'order-1' };
    expect(isOlderJson(JSON.stringify(had))).toBe(true);
    expect(storedPayment(JSON.stringify(had))).toEqual({ ...payment, externalId: 'order-1' });
  });

  test('is told from one of now, whose null stays null', () => {
    const json = JSON.stringify(encodePayment(payment));
    expect(isOlderJson(json)).toBe(false);
    expect(storedPayment(json)).toEqual(payment);
  });
});
