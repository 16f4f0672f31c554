import { describe, expect, test } from 'bun:test';
import { ClnRefusal, refusalError } from '../../../src/nodes/cln/refusal.ts';

const told = (code: number | null, text: string) =>
  refusalError(new ClnRefusal(code, text), { method: 'listfunds', outcomeUnknown: false });

describe('a rune', () => {
  test('that has a rate and was used too soon has lost no permission, and the error says what to do', () => {
    for (const text of [
      'Not permitted: too soon',
      'Not permitted: method is not equal to xpay AND too soon',
    ]) {
      const error = told(1502, text);
      expect(error.kind).toBe('overCapacity');
      expect(error.outcomeUnknown).toBe(false);
      expect(error.message).toContain('run `connect cln` with a rune that has no rate');
    }
  });

  test('that does not allow a command lacks the permission', () => {
    expect(told(1502, 'Not permitted: method is not equal to xpay').kind).toBe('forbidden');
    expect(told(205, 'it came too soon').kind).toBe('refused');
  });

  test.each([
    [1501, 'Not authorized: Not derived from master rune'],
    [1503, 'Not authorized: Blacklisted rune'],
    [1502, 'Not permitted: time is greater or equal to 1700000000'],
  ])('that has ended is no credential any more: %d', (code, text) => {
    expect(told(code, text).kind).toBe('unauthenticated');
  });
});

test('what is shown of a long message is cut, and what it says is read whole', () => {
  const refusal = new ClnRefusal(209, `${'many words '.repeat(100)}and the end`);
  expect(refusal.text.length).toBeLessThan(310);
  expect(refusal.says(/and the end$/)).toBe(true);
  expect(refusal.says(/another end/)).toBe(false);
});
