import { expect, test } from 'bun:test';
import { foreignText } from '../../src/net/foreign-text.ts';

test('text of a service outside loses what is not meant to be seen, and keeps scripts and emoji', () => {
  const hidden = [
    '\u0000', // null
    '\u001b', // escape of terminals
    '\u007f', // delete
    '\u009b', // control sequence introducer
    '\u00ad', // soft hyphen
    '\u200b', // zero width space
    '\u202a\u202b\u202c\u202d\u202e', // bidirectional embeddings and overrides
    '\u2066\u2067\u2068\u2069', // bidirectional isolates
    '\u2028\u2029', // line and paragraph separators
    '\ud800', // lone surrogates
    '\udc00',
    '\ue000', // private use
    '\ufeff', // byte order mark
    '\u{e0041}', // tag letters
    '\n\t\r',
  ];
  for (const one of hidden) {
    expect(foreignText(`${one}a${one}${one}b${one}`, { maxCharacters: 10 })).toBe('a b');
  }
  for (const kept of [
    'Grüße',
    'می\u200cخواهم',
    '👩\u200d👩\u200d👧',
    'שלום',
    '漢字',
    '🇨🇭',
    'a\u0301',
  ]) {
    expect(foreignText(kept, { maxCharacters: 20 })).toBe(kept);
  }
});

test('a text that is too long ends in an ellipsis, and is never cut within a character', () => {
  expect(foreignText('abcd', { maxCharacters: 4 })).toBe('abcd');
  expect(foreignText('abcde', { maxCharacters: 4 })).toBe('abc…');
  expect(foreignText('😀😀😀', { maxCharacters: 2 })).toBe('😀…');
  expect(foreignText('ääää', { maxCharacters: 10, maxBytes: 8 })).toBe('ääää');
  expect(foreignText('äääää', { maxCharacters: 10, maxBytes: 8 })).toBe('ää…');
  expect(foreignText('😀😀😀', { maxCharacters: 10, maxBytes: 8 })).toBe('😀…');
});

test('what is no text is empty', () => {
  for (const value of [null, undefined, 7, {}, [], { toString: 1 }, ['x']]) {
    expect(foreignText(value, { maxCharacters: 10 })).toBe('');
  }
});
