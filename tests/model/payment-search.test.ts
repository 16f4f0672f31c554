import { describe, expect, test } from 'bun:test';
import type { Payment } from '../../src/model/payment.ts';
import { searchWordsOf, soughtWords } from '../../src/model/payment-search.ts';
import { samplePayment } from '../support/sample-payment.ts';

/** Whether a payment has the words of a search, as the stores compare them. */
function finds(change: Partial<Payment>, search: string): boolean {
  const words = ` ${searchWordsOf(samplePayment(1, change))}`;
  return soughtWords(search).every((word) => word.some((part) => words.includes(` ${part}`)));
}

const TXID = '9a'.repeat(32);
const PAYMENT: Partial<Payment> = {
  description: 'Table 13, "large"\nfor two',
  personalNote: 'Café Straße ΟΔΟΣ ☕️',
  message: '=HYPERLINK("http://x")',
  payerName: 'Zoë@example.com',
  externalId: 'ORDER-17/b_2',
  amountMsat: 1_781_500n,
  txid: TXID,
};
const { index, hash } = samplePayment(1);

describe('a payment', () => {
  test.each([
    'table',
    'TABLE large',
    'for tab',
    'cafe',
    'CAFÉ',
    'cafe\u0301',
    'strasse',
    'οδος',
    '☕',
    'hyperlink http://x',
    'zoe@example',
    'order-17',
    'b 2',
    '1,781',
    '1781',
    '1781.5',
    '1,781.5',
    '1,7',
    '+1,781.5 sats',
    '1781 SAT table',
    index,
    index.toUpperCase().replace('LN_', 'ln_'),
    index.slice(20),
    `${hash}`,
    `${hash?.slice(0, 4)}`,
    TXID.slice(0, 12),
    ' - ',
  ])('is found by %p', (search) => {
    expect(finds(PAYMENT, search)).toBe(true);
  });

  test.each([
    'tea',
    'table tea',
    'able',
    'personal_note',
    'order-18',
    '781',
    '81.5',
    '1781.6',
    '17815',
    // Too short for a hash, in the middle of one, and one that goes on otherwise.
    TXID.slice(0, 3),
    `${hash?.slice(1, 12)}`,
    `${hash?.slice(0, 63)}g`,
    'a9a9a9',
    'pending',
    'sats',
    '1,781 satsuma',
  ])('is not found by %p', (search) => {
    expect(finds(PAYMENT, search)).toBe(false);
  });

  test('is not found by digits of a table in its hash', () => {
    expect(
      finds({ ...PAYMENT, description: 'Table 5', txid: `13${TXID.slice(2)}` }, 'table 13'),
    ).toBe(false);
  });

  test('is found by a number in a text as it stands there, and by its parts', () => {
    for (const search of ['1,7', '7', '2.5', '5', '2026-11', '1000']) {
      expect([
        search,
        finds({ description: 'tables 1,7: 2.5 kg 2026-11-23 for 1,000' }, search),
      ]).toEqual([search, true]);
    }
  });

  test('is found by characters of a script without spaces, wherever they stand', () => {
    expect(finds({ description: 'ラーメン特盛' }, '特盛')).toBe(true);
    expect(finds({ description: 'ラーメン特盛' }, '特上')).toBe(false);
  });

  test('without an amount or texts has the words of its ids alone', () => {
    expect(searchWordsOf(samplePayment(1, { amountMsat: null }))).toBe(`#${hash?.slice(0, 16)}`);
  });
});

describe('a payment with a price', () => {
  const price = {
    ...{ currency: 'EUR', amount: '1781.50', rate: '58000' },
    ...{ rateAtMs: 1, rateSource: 'kraken' },
  };
  test.each(['€1,781.50', '1781.5', '1781,50', '1,781', 'eur', '1,781.50 EUR', 'table eur 1781'])(
    'is found by the price as it is shown, or typed: %p',
    (search) => {
      expect(finds({ description: 'Table 13', amountMsat: 3_071_552_000n, price }, search)).toBe(
        true,
      );
    },
  );
  test.each(['$1,781.50 USD', '1781.6', '1781,6', '781.50'])('is not found by %p', (search) => {
    expect(finds({ amountMsat: 3_071_552_000n, price }, search)).toBe(false);
  });
});

test('a refund is found by the index of what it refunds', () => {
  const refundOf = samplePayment(2).index;
  expect(finds({ refundOf }, refundOf)).toBe(true);
  expect(finds({}, refundOf)).toBe(false);
});

test('words have one space between them and none around them, whatever the texts say', () => {
  const of = (description: string) =>
    searchWordsOf(samplePayment(1, { description })).replace(/#.*$/, '#');
  expect(of('  tab,\tTable -- x')).toBe('tab table x 1 #');
  expect(of(' -- é ')).toBe('e 1 #');
  for (const none of ['', ' -', '\u0301 ']) expect(of(none)).toBe('1 #');
});

test('a word that is longer than any hash is cut where it is kept and where it is sought', () => {
  const long = 'x'.repeat(300);
  expect(searchWordsOf(samplePayment(1, { description: long })).length).toBeLessThan(150);
  expect(finds({ description: long }, long)).toBe(true);
  expect(finds({ description: long }, 'x'.repeat(64))).toBe(true);
});

test('a long word of characters beyond 16 bits is cut to text that a store keeps as it is', () => {
  const long = `a${'\u{1e922}'.repeat(40)}`;
  const [sought = []] = soughtWords(long);
  expect(sought.every((part) => part.isWellFormed())).toBe(true);
  const words = searchWordsOf(samplePayment(1, { description: long }));
  expect(Buffer.from(words).toString()).toContain(sought[0] ?? 'nothing');
});
