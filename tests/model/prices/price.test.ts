import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import { formatDecimal, parseDecimal } from '../../../src/model/prices/decimal.ts';
import {
  decimalsOf,
  msatOfPrice,
  priceInput,
  wholePrice,
} from '../../../src/model/prices/price.ts';
import { randomFrom } from '../../support/random.ts';
import { rounds } from '../../support/rounds.ts';

const ROUNDS = rounds(4000, 40_000);
const SEED = Number(process.env.PRICE_SEED ?? 197);

/** A decimal text as a whole number of 10^-30, read another way than the product does. */
function exact(text: string): bigint {
  const point = text.indexOf('.');
  const fraction = point < 0 ? '' : text.slice(point + 1);
  return BigInt(text.replace('.', '')) * 10n ** BigInt(30 - fraction.length);
}

const eur = (amount: string) => ({ currency: 'EUR', amount });

describe('the amount of a price', () => {
  test('is the smallest number of msat that is worth the price, and for a payer the most sats that are not more', () => {
    const next = randomFrom(SEED);
    const below = (most: number) => Math.floor(next() * most);
    const digits = (count: number) => Array.from({ length: count }, () => below(10)).join('');
    for (let round = 0; round < ROUNDS; round++) {
      const currency = ['EUR', 'JPY', 'KWD', 'CLF'][below(4)] ?? 'EUR';
      const decimals = decimalsOf(currency) ?? 0;
      const whole = `${below(9) + 1}${digits(below(5))}`;
      const amount = decimals === 0 || next() < 0.2 ? whole : `${whole}.${digits(decimals)}`;
      const rate = `${below(9) + 1}${digits(3 + below(6))}${next() < 0.5 ? '' : `.${digits(1 + below(15))}`}`;
      const price = wholePrice({ currency, amount });
      const msatPerBtc = 10n ** 11n;
      const cost = exact(amount) * msatPerBtc;
      const asked = msatOfPrice(price, rate, 'payee');
      // Less than a sat cannot be paid.
      const paid = cost < 1000n * exact(rate) ? 0n : msatOfPrice(price, rate, 'payer');
      const right = {
        enough: asked * exact(rate) >= cost,
        notMore: (asked - 1n) * exact(rate) < cost,
        affordable: paid * exact(rate) <= cost && paid % 1000n === 0n,
        most: (paid + 1000n) * exact(rate) > cost,
      };
      expect([round, amount, rate, right]).toEqual([
        round,
        amount,
        rate,
        { enough: true, notMore: true, affordable: true, most: true },
      ]);
    }
  }, 600_000);

  test('is exact where it can be', () => {
    for (const by of ['payee', 'payer'] as const) {
      expect(msatOfPrice(eur('12.50'), '50000', by)).toBe(25_000_000n);
      expect(msatOfPrice(eur('0.01'), '100000.00', by)).toBe(10_000n);
      expect(msatOfPrice({ currency: 'JPY', amount: '1' }, '10000000', by)).toBe(10_000n);
    }
  });

  test('is rounded once, to one msat for a payee and to one sat for a payer', () => {
    expect(msatOfPrice(eur('0.01'), '30000', 'payee')).toBe(33_334n);
    expect(msatOfPrice(eur('0.01'), '30000', 'payer')).toBe(33_000n);
  });

  test('is never nothing, and never more than there is', () => {
    const rejected = (amount: string, rate: string) => {
      try {
        msatOfPrice(eur(amount), rate, 'payer');
      } catch (error) {
        return error instanceof ApiError && error.kind;
      }
      return null;
    };
    expect(rejected('0.01', '1000000.01')).toBe('rejected');
    expect(rejected('0.01', '1000000')).toBe(null);
    expect(rejected('999999.00', '0.01')).toBe('rejected');
    expect(rejected('21000000.00', '1')).toBe(null);
    expect(rejected('21000000.01', '1')).toBe('rejected');
  });
});

describe('a price in a request', () => {
  const problem = (price: object) => {
    const { success, error } = priceInput().safeParse(price);
    return success ? null : error.issues.map(({ path }) => path.join('.')).join();
  };

  test('has at most the decimals of its currency', () => {
    for (const [currency, amount, at] of [
      ['EUR', '12.5', null],
      ['EUR', '12.50', null],
      ['EUR', '12.501', 'amount'],
      ['JPY', '1200', null],
      ['JPY', '1200.0', 'amount'],
      ['KWD', '1.005', null],
    ] as const) {
      expect([currency, amount, problem({ currency, amount })]).toEqual([currency, amount, at]);
    }
  });

  test('names a currency that exists, although Intl formats others too', () => {
    for (const currency of ['ABC', 'eur', 'BTC', 'EU', '']) {
      expect([currency, problem({ currency, amount: '1' })]).toEqual([currency, 'currency']);
    }
  });

  test('is a decimal text above zero, without sign and exponent', () => {
    for (const amount of ['0', '0.00', '-1', '+1', '1e3', '1,5', '.5', '1.', '01', ' 1', '']) {
      expect([amount, problem(eur(amount))]).toEqual([amount, 'amount']);
    }
    expect(problem({ currency: 'EUR', amount: 12.5 })).toBe('amount');
    expect(problem(eur('1'.repeat(16)))).toBe('amount');
  });

  test('is kept with all decimals of its currency', () => {
    expect(wholePrice(eur('12.5'))).toEqual(eur('12.50'));
    expect(wholePrice(eur('12'))).toEqual(eur('12.00'));
    expect(wholePrice({ currency: 'JPY', amount: '12' })).toEqual({
      currency: 'JPY',
      amount: '12',
    });
  });
});

test('a decimal is written as it was read, without zeros at its end', () => {
  for (const [text, written] of [
    ['58123.50000', '58123.5'],
    ['0.000001', '0.000001'],
    ['10', '10'],
    ['10.0', '10'],
  ] as const) {
    const read = parseDecimal(text);
    expect(read && formatDecimal(read)).toBe(written);
  }
});
