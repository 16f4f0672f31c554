import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import {
  ClnRefusal,
  CODES,
  codeOf,
  refusalError,
  refusalIn,
} from '../../../src/nodes/cln/words/refusal.ts';

const told = (code: number | null, text: string, outcomeUnknown = false) =>
  refusalError(new ClnRefusal(code, text), { method: 'listfunds', outcomeUnknown });

test('the codes on which something depends are those of common/jsonrpc_errors.h', () => {
  expect(CODES).toEqual({
    unknownCommand: -32601,
    invalidParameters: -32602,
    pluginError: -3,
    alreadyPaid: 219,
    labelTaken: 900,
    hashTaken: 901,
    invoiceNotFound: 905,
    invoiceStatus: 906,
    issuerSilent: 1005,
    noRune: 1501,
    notPermitted: 1502,
    blacklisted: 1503,
  });
});

test.each<[number | null, string, boolean]>([
  [1502, 'Not permitted: too soon', false],
  [1502, 'Not permitted: method is not equal to xpay', false],
  [-32601, 'Unknown command', false],
  [null, 'no socket', true],
  [205, 'Something went wrong', true],
  [205, 'Something went wrong', false],
])('an answer with code %p (%s) is the cause of its error, for the log', (code, text, unknown) => {
  expect(told(code, text, unknown).cause).toMatchObject({ code, text });
});

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
    for (const text of ['Not permitted: too sooner', 'Not permitted: intoo soon']) {
      expect(told(1502, text).kind).toBe('forbidden');
    }
  });

  test('has not ended by a time in other words', () => {
    expect(told(1502, 'Not permitted: pnum1 AND Not permitted: time is later').kind).toBe(
      'forbidden',
    );
    expect(told(205, 'The time is over').kind).toBe('refused');
  });

  test.each([
    [1501, 'Not authorized: Not derived from master rune'],
    [1503, 'Not authorized: Blacklisted rune'],
    [1502, 'Not permitted: time is greater or equal to 1700000000'],
  ])('that has ended is no credential any more: %d', (code, text) => {
    expect(told(code, text).kind).toBe('unauthenticated');
  });
});

describe('the error of this API says', () => {
  test.each([
    [
      1502,
      'Not permitted: no',
      'forbidden',
      'Core Lightning refused: the rune does not allow listfunds (Not permitted: no).',
    ],
    [
      -32601,
      "Unknown command 'listfunds'",
      'unsupported',
      'This Core Lightning has no command listfunds: enable the plugin that has it, or use release 26.06 or newer.',
    ],
    [
      null,
      'no socket',
      'unreachable',
      'clnrest could not ask Core Lightning: no socket. Check that lightningd is running, and try again.',
    ],
    [-32602, 'bad amount', 'refused', 'Core Lightning refused: bad amount.'],
    [9999, 'new', 'refused', 'Core Lightning refused: new.'],
  ] as const)('of code %p', (code, text, kind, message) => {
    expect(told(code, text)).toMatchObject({ kind, message, outcomeUnknown: false });
  });

  test('which node has no such command', () => {
    expect(told(-32601, 'no').data).toEqual({ node: 'cln' });
  });

  test('whether the node may have done it, whatever code it gave', () => {
    for (const code of [209, -1, -4, 9999]) {
      expect(told(code, 'it broke', true)).toMatchObject({
        kind: 'unreadable',
        message:
          'The answer of Core Lightning does not say whether it carried out the request: it broke.',
        outcomeUnknown: true,
      });
    }
    expect(told(null, 'no socket', true)).toMatchObject({
      kind: 'unreachable',
      outcomeUnknown: true,
    });
  });
});

test('an answer is found in an error of the connector, or alone, and nowhere else', () => {
  const refusal = new ClnRefusal(219, 'Already paid');
  const error = new ApiError('refused', 'x', { cause: refusal });
  expect([refusalIn(refusal), refusalIn(error)]).toEqual([refusal, refusal]);
  expect([codeOf(refusal), codeOf(error)]).toEqual([219, 219]);
  for (const foreign of [
    new Error('Already paid', { cause: refusal }),
    new ApiError('refused', 'x', { cause: { code: 219 } }),
    new ApiError('refused', 'x'),
    { code: 219 },
    null,
  ]) {
    expect([refusalIn(foreign), codeOf(foreign)]).toEqual([null, null]);
  }
});

describe('what is shown of an answer', () => {
  test('names the code for the log, and not the words that were left out', () => {
    const refusal = new ClnRefusal(null, `secret ${'ab'.repeat(40)}`);
    expect([refusal.name, refusal.message]).toEqual([
      'ClnRefusal',
      'Core Lightning answered null: secret ...',
    ]);
  });
});

test('what is shown of a long message is cut, and what it says is read whole', () => {
  const refusal = new ClnRefusal(209, `${'many words '.repeat(100)}and the end`);
  expect(refusal.text.length).toBeLessThan(310);
  expect(refusal.says(/and the end$/)).toBe(true);
  expect(refusal.says(/another end/)).toBe(false);
});
