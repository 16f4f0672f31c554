import { describe, expect, test } from 'bun:test';
import { type Decimal, formatDecimal, parseDecimal } from '../../../src/model/prices/decimal.ts';
import { areTogether, medianOf } from '../../../src/model/prices/median.ts';
import { readRate } from '../../../src/model/prices/rate-answer.ts';
import { forCurrency, parseRateSource } from '../../../src/model/prices/rate-source.ts';

const decimals = (...texts: readonly string[]): Decimal[] =>
  texts.map((text) => {
    const read = parseDecimal(text);
    if (read === null) throw new Error(`${text} is no decimal`);
    return read;
  });

describe('the median', () => {
  test('is the middle value, or exactly between the two in the middle', () => {
    expect(medianOf(decimals('100.5'))).toBe('100.5');
    expect(medianOf(decimals('101', '99.25', '100.5'))).toBe('100.5');
    expect(medianOf(decimals('100', '101'))).toBe('100.5');
    const long = (last: string) => `1.${'0'.repeat(29)}${last}`;
    const middle = medianOf(decimals(long('1'), long('2')));
    expect(decimals(middle)).toEqual([{ digits: 10n ** 31n + 15n, decimals: 31 }]);
    expect(medianOf(decimals('100.01', '9', '100.02', '900'))).toBe('100.015');
  });

  test('needs all of them within 2 per cent of the lowest', () => {
    expect(areTogether(decimals('100'))).toBe(true);
    expect(areTogether(decimals('100', '102', '101'))).toBe(true);
    expect(areTogether(decimals('100', '102.000000000000001', '101'))).toBe(false);
    expect(areTogether(decimals('102.01', '100'))).toBe(false);
  });
});

describe('the number in an answer', () => {
  const rate = (json: string, pointer = '/price') => {
    const read = readRate(json, [pointer]);
    return read && formatDecimal(read);
  };

  test('is read from the text, with every digit', () => {
    expect(rate('{"price":58123.123456789012345}')).toBe('58123.123456789012345');
    expect(rate('{"price":"58123.50"}')).toBe('58123.5');
    expect(rate('[[1,2],[3,{"a/b":"4.5"}]]', '/1/1/a~1b')).toBe('4.5');
    expect(readRate('{"b":"7"}', ['/a', '/b'])).toEqual({ digits: 7n, decimals: 0 });
  });

  test('is nothing else than a decimal above zero', () => {
    for (const value of [
      '5.8e4',
      '58123E0',
      '"5.8e4"',
      '0',
      '0.000',
      '"0"',
      '-58123',
      '"-58123"',
      '"NaN"',
      '"Infinity"',
      '1e999',
      '1234567890123456',
      `1.${'1'.repeat(31)}`,
      '"0x10"',
      '"58,123.5"',
      '"58123 EUR"',
      'null',
      'true',
      '[58123]',
      '{"toString":"58123"}',
    ]) {
      expect([value, rate(`{"price":${value}}`)]).toEqual([value, null]);
    }
  });

  test('is nowhere in an answer of another form', () => {
    for (const json of [
      '',
      'oops',
      '<html>',
      '"price"',
      '[]',
      '{"Price":"1"}',
      '['.repeat(99_999),
    ]) {
      expect([json.slice(0, 20), rate(json)]).toEqual([json.slice(0, 20), null]);
    }
    expect(rate('[1,2]', '/length')).toBe(null);
    expect(rate('{}', '/__proto__/constructor/length')).toBe(null);
    expect(rate('{"a":"12"}', '/a/length')).toBe(null);
  });
});

describe('a source', () => {
  const source = (text: string) => {
    const parsed = parseRateSource(text);
    return 'value' in parsed ? parsed.value : null;
  };

  test('is one of four that are built in, or a URL with the place of the number', () => {
    const asked = ['kraken', 'coinbase', 'Bitstamp', 'bitfinex'].map((name) => {
      const found = source(name);
      return found && forCurrency(found, 'EUR');
    });
    expect(asked.map((one) => one?.url)).toEqual([
      'https://api.kraken.com/0/public/Ticker?pair=XBTEUR',
      'https://api.coinbase.com/v2/exchange-rates?currency=BTC',
      'https://www.bitstamp.net/api/v2/ticker/btceur/',
      'https://api-pub.bitfinex.com/v2/ticker/tBTCEUR',
    ]);
    const answers = [
      '{"error":[],"result":{"XXBTZEUR":{"a":["1","1","1"],"c":["58123.40000","0.1"]}}}',
      '{"data":{"currency":"BTC","rates":{"USD":"63000","EUR":"58123.455"}}}',
      '{"timestamp":"1764000000","last":"58120","bid":"1"}',
      '[58119,6.1,58121,5.2,-500,-0.0085,58122.5,120.1,59000,57000]',
    ];
    expect(asked.map((one, at) => one && readRate(answers[at] ?? '', one.pointers))).toEqual(
      decimals('58123.40000', '58123.455', '58120', '58122.5'),
    );
    const mine = source('https://Rates.example:8443/{currency}.json?k=v#/{currency}/price');
    expect(mine && forCurrency(mine, 'CHF')).toEqual({
      name: 'rates.example',
      url: 'https://Rates.example:8443/CHF.json?k=v',
      pointers: ['/CHF/price'],
    });
  });

  test('that names the currency in its answer gives none for another one', () => {
    const kraken = source('kraken');
    const other = '{"result":{"XXBTZUSD":{"c":["63000.0"]},"XBTCHF":{"c":["51000.0"]}}}';
    const read = (currency: string) =>
      kraken && readRate(other, forCurrency(kraken, currency).pointers);
    expect([read('EUR'), read('CHF')]).toEqual([null, { digits: 510_000n, decimals: 1 }]);
  });

  test('is rejected in every other form', () => {
    for (const text of [
      'binance',
      'https://rates.example/{currency}.json',
      'https://rates.example/eur.json#/price',
      'https://rates.example/{currency}.json#price',
      'https://rates.example/{currency}.json#/a~2',
      'https://rates.example/{currency}.json#/a#/b',
      'https://{currency}.example/#/price',
      'ftp://rates.example/{currency}#/price',
      'file:///{currency}#/price',
      '{currency}#/price',
    ]) {
      expect([text, source(text)]).toEqual([text, null]);
    }
  });
});
