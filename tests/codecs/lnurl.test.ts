import { describe, expect, test } from 'bun:test';
import { CodecError } from '../../src/codecs/codec-error.ts';
import { decodeHumanBitcoinAddress } from '../../src/codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../../src/codecs/lightning-address.ts';
import {
  decodeBech32,
  decodeLnurl,
  encodeLnurl,
  lnurlInWebAddress,
} from '../../src/codecs/lnurl.ts';
import lnurl from '../vectors/lnurl.json';
import { expectInvalid } from './expect-invalid.ts';

describe('every LNURL of the vectors is decoded and encoded', () => {
  for (const { id, lnurl: text, text: url } of lnurl.codec) {
    test(id, () => {
      expect(decodeBech32(text)).toBe(url);
      expect(encodeLnurl(url)).toBe(text.toLowerCase());
    });
  }
});

/** Vectors that follow the policy of one library and have another result here, each with the rule for it. */
const STRICT_OTHERWISE: ReadonlyMap<string, string> = new Map([
  ['strict-https-https-lnurl-fiatjaf-co', 'a bare https URL is no payment string (section 13)'],
]);

describe('an LNURL must lead to https, or to http at an onion service', () => {
  for (const { id, input, result, error } of lnurl.strict) {
    const otherwise = STRICT_OTHERWISE.get(id);
    test(otherwise === undefined ? id : `${id}, but ${otherwise}`, () => {
      if (error || otherwise !== undefined) {
        expectInvalid(() => decodeLnurl(input), 'lnurl', 'The LNURL cannot be used');
      } else {
        expect(decodeLnurl(input).url).toBe(new URL(result ?? '').href);
      }
    });
  }
});

test('lnurlp and lnurlw say what they are for; logins and channel requests are refused', () => {
  expect(decodeLnurl('lnurlp://example.com/a').tagHint).toBe('pay');
  expect(decodeLnurl('lnurlw://example.com/a').tagHint).toBe('withdraw');
  expect(decodeLnurl('lnurlp://abc.onion/x').url).toBe('http://abc.onion/x');
  expect(() => decodeLnurl('keyauth://example.com')).toThrow(/logging in/);
  expect(() => decodeLnurl('lnurlc://example.com')).toThrow(/channel/);
});

test('a web address is read only for the one LNURL that it carries (LUD-01)', () => {
  const carried = encodeLnurl('https://service.example/pay');
  for (const [text, lnurlInside] of [
    [`https://shop.example/?lightning=${carried.toUpperCase()}`, carried.toUpperCase()],
    [`HTTPS://SHOP.EXAMPLE/?LIGHTNING=${carried}#x`, carried],
    [`http://shop.example/?lightning=${carried}`, null],
    [`http://abc.onion/?lightning=${carried}`, carried],
    [`http://127.0.0.1:5393/?lightning=${carried}`, carried],
    ['https://shop.example/', null],
    ['https://shop.example/?lightning=', null],
    ['https://shop.example/?lightning=lnurlp://service.example', null],
    ['https://shop.example/?lightning=https://service.example', null],
    [`https://shop.example/?x=${carried}`, null],
    [`https://shop.example/#lightning=${carried}`, null],
    [`https://shop.example/?lightning=${carried}&lightning=${carried}`, null],
    ['https://', null],
  ] as const) {
    expect(lnurlInWebAddress(text)).toBe(lnurlInside);
  }
});

describe('LUD examples of what this wallet does not do are refused for that reason', () => {
  const luds = (id: string) => lnurl.luds.find((vector) => vector.id === id);
  test('signing in (LUD-04, LUD-05), by scheme and by tag', () => {
    const { k1 } = luds('lud04-sign') ?? {};
    const { domain } = luds('lud05-path') ?? {};
    for (const text of [
      `keyauth://${domain}?tag=login&k1=${k1}`,
      encodeLnurl(`https://${domain}/?tag=login&k1=${k1}`),
    ]) {
      expectInvalid(() => decodeLnurl(text), 'lnurl', /logging in/);
    }
  });

  test('every LUD example is run somewhere', () => {
    expect(lnurl.luds.map(({ id }) => id)).toEqual([
      'lud04-sign',
      'lud05-path',
      'lud16-address',
      // These vectors are tested in tests/net/lnurl.test.ts.
      'lud18-description-hash-input',
      'lud09-message',
      'lud09-url',
    ]);
  });
});

test('a Lightning Address is the service that LUD-16 says', () => {
  const vector = lnurl.luds.find(({ id }) => id === 'lud16-address');
  expect(decodeLightningAddress(vector?.input ?? '').url).toBe(vector?.url ?? '');
  for (const bad of [
    '@example.com',
    'a@',
    'a@b@c',
    'a b@example.com',
    'a@exa mple.com',
    'a@-x.com',
    'a@bücher.example',
    '\u212a@example.com',
    'a@\u212a.example',
    '₿a@example.com',
  ]) {
    expectInvalid(() => decodeLightningAddress(bad), 'lightning-address', /@|xn--/);
    expectInvalid(() => decodeHumanBitcoinAddress(`₿${bad}`), 'human-bitcoin-address', /@|xn--/);
  }
  expect(decodeLightningAddress('A.b@XN--BCHER-KVA.Example')).toEqual({
    username: 'a.b',
    domain: 'xn--bcher-kva.example',
    url: 'https://xn--bcher-kva.example/.well-known/lnurlp/a.b',
  });
});

test('only a domain in other letters is told of its form that begins with xn--', () => {
  for (const domain of ['bücher.example', '\u212a.example', '🍕.example']) {
    expectInvalid(() => decodeLightningAddress(`a@${domain}`), 'lightning-address', /xn--/);
  }
  for (const domain of [
    'exa mple.com',
    'a\tb.com',
    'a\u00a0b.com',
    'bücher .example',
    'a\u0000b',
  ]) {
    expectInvalid(
      () => decodeLightningAddress(`a@${domain}`),
      'lightning-address',
      /the part after @ is not a domain/,
    );
  }
});

test('a Human Bitcoin Address names its DNS record (BIP 353)', () => {
  expect(decodeHumanBitcoinAddress('₿matt@mattcorallo.com')).toEqual({
    username: 'matt',
    domain: 'mattcorallo.com',
    dnsName: 'matt.user._bitcoin-payment.mattcorallo.com',
  });
  expect(() => decodeHumanBitcoinAddress('₿@x.com')).toThrow(CodecError);
});

test('what is no name before the @ is told what one holds', () => {
  expect(decodeLightningAddress('a_.+-9@example.com').username).toBe('a_.+-9');
  expectInvalid(
    () => decodeLightningAddress('a!@example.com'),
    'lightning-address',
    'must be 1 to 64 letters a-z, digits, dots, hyphens, underscores and plus signs',
  );
  expect(decodeHumanBitcoinAddress('a_.-9@example.com').username).toBe('a_.-9');
  expectInvalid(
    () => decodeHumanBitcoinAddress('a..b@example.com'),
    'human-bitcoin-address',
    'must be 1 to 63 letters a-z, digits, dots, hyphens and underscores, with a letter or digit at either end and no two dots in a row',
  );
});
