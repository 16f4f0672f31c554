import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import fc from 'fast-check';
import { table } from '../../../src/cli/terminal/table.ts';
import { grouped, sats } from '../../../src/cli/terminal/words.ts';
import { printable, printableJson } from '../../../src/lib/printable.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

describe('amounts', () => {
  const cases: Readonly<Record<string, string>> = {
    '0': '0',
    '999': '999',
    '1000': '1,000',
    '0.001': '0.001',
    '1234567.125': '1,234,567.125',
    '2100000000000000': '2,100,000,000,000,000',
    '-1000': '-1,000',
  };
  for (const [amount, words] of Object.entries(cases)) {
    test(`${amount} is written ${words}`, () => expect(grouped(amount)).toBe(words));
  }

  test('one satoshi is a sat', () => {
    expect([sats('1'), sats('0.5'), sats('2')]).toEqual(['1 sat', '0.5 sats', '2 sats']);
  });
});

describe('text that others chose', () => {
  test('JSON keeps its value and loses every character that a terminal could obey', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
        const json = JSON.stringify({ value, text });
        const shown = printableJson(json);
        expect(JSON.parse(shown)).toEqual(JSON.parse(json));
        expect(shown).not.toMatch(/\p{C}/u);
      }),
    );
  });

  test('harmless text stays as it is', () => {
    for (const text of ['Café ₿ 😀', '{"a":"ü"}']) {
      expect(printable(text)).toBe(text);
      expect(printableJson(text)).toBe(text);
    }
  });

  test('a table keeps its columns, however wide the characters, and shortens long text', () => {
    const columns = [
      { title: 'Note', of: (row: readonly string[]) => row[0] ?? '', most: 8 },
      { title: 'N', of: (row: readonly string[]) => row[1] ?? '', right: true },
    ];
    expect(
      table(columns, [
        ['日本', '1'],
        ['a\tlong one', '22'],
        ['', '333'],
      ]),
    ).toEqual(['Note        N', '日本        1', 'a\\u{9}l…   22', '          333']);
  });
});
