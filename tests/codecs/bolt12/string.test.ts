import { describe, expect, test } from 'bun:test';
import {
  bolt12PrefixOf,
  decodeBolt12String,
  decodeOffer,
  encodeBolt12String,
  invalidDocument,
} from '../../../src/codecs/bolt12/index.ts';
import vectors from '../../vectors/bolt12-format-string-test.json';
import { expectInvalid } from '../expect-invalid.ts';

const invalid = invalidDocument('bolt12', 'offer', 'try again');
const read = (text: string) => decodeBolt12String(text, 'lno', invalid);

describe('format-string-test.json', () => {
  const valid = vectors.filter((vector) => vector.valid);
  test.each(valid)('$comment', ({ string }) => {
    const first = valid[0]?.string ?? '';
    expect(decodeOffer(string).text).toBe(first);
  });

  const reasons = [
    'mixes upper and lower case',
    'ends in a "+"',
    'ends in a "+"',
    'is not between two characters',
  ];
  test.each(
    vectors.filter((vector) => !vector.valid).map((v, i) => ({ ...v, reason: reasons[i] })),
  )('$comment: $reason', ({ string, reason }) => {
    expectInvalid(() => decodeOffer(string), 'bolt12', reason ?? 'every case has its reason');
  });
});

describe('BOLT 12 strings', () => {
  test('bytes of every length read back', () => {
    for (let length = 0; length < 20; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => 255 - i * 7);
      expect(read(encodeBolt12String('lno', bytes))).toEqual(bytes);
    }
  });

  test.each([
    ['lni1qq', 'does not start with "lno1"'],
    ['lno', 'does not start with "lno1"'],
    ['', 'does not start with "lno1"'],
    ['lno1q', 'more padding'],
    ['lno1qqq', 'more padding'],
    ['lno1qp', 'padding is not zero'],
    ['lno1qb', 'a character that is not allowed'],
    ['lno1q q', 'write "+" as %2B'],
    ['l no1qq', 'does not start with "lno1"'],
    ['lno1q +q', 'write "+" as %2B'],
    ['lno1qé', 'a character that is not allowed'],
    ['LNO1Q\u212a', 'a character that is not allowed'],
    ['lno1qq ', 'write "+" as %2B'],
    ['+lno1qq', 'is not between two characters'],
    [' +lno1qq', 'does not start with "lno1"'],
    ['l++no1qq', 'is not between two characters'],
    ['lno1qq+', 'ends in a "+"'],
    ['lno1qq+ \n', 'ends in a "+"'],
    ['lno1q++q', 'is not between two characters'],
    ['lno1q+ +q', 'is not between two characters'],
    ['lNo1qq', 'mixes upper and lower case'],
  ])('refuses "%s": %s', (text, reason) => {
    expectInvalid(() => read(text), 'bolt12', reason);
  });

  test.each(['l+no1', 'l+n+o+1', 'ln+ \r\n\to1', 'LNO+1', 'lno1+ '])(
    'a join may stand in the prefix too: %j',
    (prefix) => {
      const data = prefix === prefix.toUpperCase() ? 'QQPQY' : 'qqpqy';
      expect(read(`${prefix}${data}`)).toEqual(read('lno1qqpqy'));
      expect(bolt12PrefixOf(`${prefix}${data}`)).toBe('lno');
    },
  );

  test.each(['lnx1q', 'lnbc1', 'l no1q', '+lno1', 'lno', 'xlno1', ''])(
    'is none of its documents: %j',
    (text) => expect(bolt12PrefixOf(text)).toBeNull(),
  );

  test('the error names the document and the next step', () => {
    expectInvalid(() => read('x'), 'bolt12', 'This offer is not valid: it does not start');
    expectInvalid(() => read('x'), 'bolt12', '; try again.');
  });
});
