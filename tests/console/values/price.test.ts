import { describe, expect, test } from 'bun:test';
import { aboutMsat, isUnclear, priceText, typedPrice } from '../../../src/console/values/price.ts';

describe('a price that a person typed', () => {
  for (const [typed, price] of [
    ['4.50', '4.50'],
    ['4,50', '4.50'],
    [' 12 ', '12'],
    ['1,000', '1000'],
    ['1,000.50', '1000.50'],
    ["1'000,5", '1000.5'],
    ['0.05', '0.05'],
  ] as const) {
    test(`"${typed}" is ${price}`, () => expect(typedPrice(typed)).toBe(price));
  }
  for (const typed of ['', '0', '0.00', '4.', '.5', '-1', '1e3', '1.000,50', '1.00001', 'ten']) {
    test(`"${typed}" is none`, () => expect(typedPrice(typed)).toBeNull());
  }
});

test('a price is shown with all decimals that it has, exactly', () => {
  expect(priceText({ currency: 'EUR', amount: '12.5' })).toBe('€12.50');
  expect(priceText({ currency: 'JPY', amount: '500' })).toBe('¥500');
  expect(priceText({ currency: 'KWD', amount: '1.234' })).toBe('KWD\u00a01.234');
  expect(priceText({ currency: 'JPY', amount: '0.5' })).toBe('¥0.5');
  expect(priceText({ currency: 'EUR', amount: '123456789012345.67' })).toBe(
    '€123,456,789,012,345.67',
  );
});

describe('a typed number', () => {
  test('that could be thousands or a part is unclear, by who reads it', () => {
    for (const [typed, unit] of [
      ['1.200', 'sats'],
      [' 12.500 ', 'sats'],
      ['1.781', 'EUR'],
      ['1,500', 'TND'],
      ['1.500', 'TND'],
    ] as const) {
      expect([typed, unit, isUnclear(typed, unit)]).toEqual([typed, unit, true]);
    }
  });
  test('that is one thing alone is not', () => {
    for (const [typed, unit] of [
      ['1,200', 'sats'],
      ['1200', 'sats'],
      ['0.125', 'sats'],
      ['1.2', 'sats'],
      ['1,200.125', 'sats'],
      ['1,781', 'EUR'],
      ['1781.50', 'EUR'],
      ['1.5', 'TND'],
      ['1500', 'TND'],
      ['', 'sats'],
    ] as const) {
      expect([typed, unit, isUnclear(typed, unit)]).toEqual([typed, unit, false]);
    }
  });
});

test('a price is worth about so many whole sats', () => {
  expect(aboutMsat('12.50', '30000')).toBe(41_667_000n);
  expect(aboutMsat('0.01', '58123.5')).toBe(17_000n);
});
