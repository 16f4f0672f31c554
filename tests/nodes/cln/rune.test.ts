import { describe, expect, test } from 'bun:test';
import { base64urlnopad } from '@scure/base';
import { allowsMethod, commentsOf, ratesOf, readRune } from '../../../src/nodes/cln/words/rune.ts';

/** A rune of these restrictions, whose signature is of zeros: only the node checks it. */
function runeOf(restrictions: string) {
  const text = new TextEncoder().encode(`${'\0'.repeat(32)}=7&${restrictions}`);
  const rune = readRune(base64urlnopad.encode(text));
  if (rune === null) throw new Error(`not a rune: ${restrictions}`);
  return rune;
}

describe('a rune is read', () => {
  test('without restrictions, as the documentation of createrune shows it', () => {
    const rune = readRune('zFMd1fjhrAYxUeFA54TjloZqOt8JrA_i_nYwIgXkag49MA==');
    expect(rune).toEqual({ uniqueId: '0', restrictions: [] });
    expect(readRune('zFMd1fjhrAYxUeFA54TjloZqOt8JrA_i_nYwIgXkag49MA')).toEqual(rune);
  });

  test('with restrictions, as the documentation of createrune shows the one for reading', () => {
    const rune = readRune(
      '_RWaZZRI7wAYU2hqlFBmYgC_dFczcpAdI_9O87YbDpg9MCZtZXRob2RebGlzdHxtZXRob2ReZ2V0fG1ldGhvZD1zdW1tYXJ5Jm1ldGhvZC9saXN0ZGF0YXN0b3Jl',
    );
    expect(rune?.restrictions).toEqual([
      [
        { field: 'method', condition: '^', value: 'list' },
        { field: 'method', condition: '^', value: 'get' },
        { field: 'method', condition: '=', value: 'summary' },
      ],
      [{ field: 'method', condition: '/', value: 'listdatastore' }],
    ]);
  });

  test('with separators in its values', () => {
    expect(runeOf('pnamelabel=a\\|b\\&c\\\\').restrictions).toEqual([
      [{ field: 'pnamelabel', condition: '=', value: 'a|b&c\\' }],
    ]);
  });

  test.each([
    '',
    'x',
    'AAAA',
    '0201036c6e64',
    // No unique id at the beginning.
    base64urlnopad.encode(new TextEncoder().encode(`${'\0'.repeat(32)}method=getinfo`)),
    base64urlnopad.encode(new TextEncoder().encode(`${'\0'.repeat(32)}=1&method`)),
  ])('and anything else is none: %p', (text) => {
    expect(readRune(text)).toBeNull();
  });
});

describe('what a rune allows', () => {
  test.each([
    ['method=xpay', 'xpay', true],
    ['method=xpay', 'pay', false],
    ['method=xpay|method=invoice', 'invoice', true],
    ['method^list&method/listdatastore', 'listfunds', true],
    ['method^list&method/listdatastore', 'listdatastore', false],
    ['method$pay', 'xpay', true],
    ['method~sendp', 'listsendpays', true],
    ['method}listf', 'listfunds', true],
    ['method{listf', 'listfunds', false],
  ])('%s: %s is %p', (restrictions, method, allowed) => {
    expect(allowsMethod(runeOf(restrictions), method)).toBe(allowed);
  });

  test('a comment and a limit of the rate forbid nothing', () => {
    expect(allowsMethod(runeOf('wallet_sidecar#abc&rate=60&per=1sec'), 'xpay')).toBe(true);
  });

  test.each([
    'pinvinvstring_amount<100000',
    'pnameamount_msat<1000',
    'pnum=0',
    'parr0=x',
    'pnamelabel!',
    'id=02aa',
    'unknown=1',
  ])('a method that is allowed only in part counts as not allowed: %s', (restriction) => {
    expect(allowsMethod(runeOf(restriction), 'xpay')).toBe(false);
  });

  test('a cap on one parameter beside a plain alternative holds for the other methods', () => {
    const rune = runeOf('method/xpay|pinvinvstring_amount<100000');
    expect(allowsMethod(rune, 'invoice')).toBe(true);
    expect(allowsMethod(rune, 'xpay')).toBe(false);
  });

  test('its rates are found, and not the comments that look like one', () => {
    expect(ratesOf(runeOf('rate=60'))).toEqual(['rate=60']);
    expect(ratesOf(runeOf('method=xpay&per=5sec|rate=3&note#rate=1'))).toEqual([
      'per=5sec',
      'rate=3',
    ]);
    expect(ratesOf(runeOf('method=xpay'))).toEqual([]);
    expect(ratesOf(runeOf('rate#none'))).toEqual([]);
  });

  test('comments are found by their field', () => {
    expect(commentsOf(runeOf('wallet_sidecar#one&other#two'), 'wallet_sidecar')).toEqual(['one']);
  });
});
