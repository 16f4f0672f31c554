import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeBip321, encodeBip321 } from '../../src/codecs/bip321.ts';
import { CodecError } from '../../src/codecs/codec-error.ts';
import {
  decodeHumanBitcoinAddress,
  encodeHumanBitcoinAddress,
} from '../../src/codecs/human-bitcoin-address.ts';
import { decodeLightningAddress } from '../../src/codecs/lightning-address.ts';
import { decodeBech32, decodeLnurl, encodeLnurl } from '../../src/codecs/lnurl.ts';
import { parsePaymentString } from '../../src/wallet/payment-string.ts';
import bip321 from '../vectors/bip321-uris.json';
import lnurl from '../vectors/lnurl.json';
import instructions from '../vectors/payment-instructions.json';

describe('every URI of BIP 321 is taken or refused as the document says', () => {
  for (const { uri, description, valid_syntax } of bip321.uris) {
    test(description, () => {
      if (valid_syntax) expect(() => parsePaymentString(uri)).not.toThrow();
      else expect(() => parsePaymentString(uri)).toThrow(CodecError);
    });
  }
});

test('amounts of BIP 321 are decimal bitcoins', () => {
  expect(decodeBip321('bitcoin:?amount=50.00').amountMsat).toBe(5_000_000_000_000n);
  expect(decodeBip321('bitcoin:?amount=20.3').amountMsat).toBe(2_030_000_000_000n);
  expect(decodeBip321('bitcoin:?amount=0.00000001').amountMsat).toBe(1000n);
  for (const amount of [
    '50,000.00',
    '-1',
    '1e3',
    '',
    '.',
    '0.000000001',
    '0',
    '21000000.00000001',
  ]) {
    expect(() => decodeBip321(`bitcoin:?amount=${amount}`)).toThrow(CodecError);
  }
});

test('an upper-case URI with further addresses in parameters names all its methods', () => {
  const uri = bip321.uris.find((entry) => entry.uri.startsWith('BITCOIN:'))?.uri ?? '';
  expect(parsePaymentString(uri).methods.map(({ kind }) => kind)).toEqual(['onchain', 'onchain']);
});

describe('every payment instruction names its methods', () => {
  for (const { id, input, stated } of instructions.strings) {
    const methods = 'methods' in stated ? (stated.methods as string[]) : null;
    if (methods === null || methods.includes('lnurl')) continue;
    test(id, () => {
      const parsed = parsePaymentString(input);
      const kinds = new Set(parsed.methods.map(({ kind }) => kind));
      if (parsed.name) return expect(input).toStartWith('₿');
      if (input.toLowerCase().startsWith('bitcoin:')) {
        expect(kinds.has('onchain')).toBe(methods.includes('onchain'));
      }
      if (methods.includes('bolt11')) expect(kinds.has('invoice')).toBe(true);
      if (methods.includes('bolt12')) expect(kinds.has('offer')).toBe(true);
    });
  }
});

describe('every LNURL of the vectors is decoded and encoded', () => {
  for (const { id, lnurl: text, text: url } of lnurl.codec) {
    test(id, () => {
      expect(decodeBech32(text)).toBe(url);
      expect(encodeLnurl(url)).toBe(text.toLowerCase());
    });
  }
});

describe('an LNURL must lead to https, or to http at an onion service', () => {
  for (const { id, input, result, error } of lnurl.strict) {
    test(id, () => {
      if (error) expect(() => decodeLnurl(input)).toThrow(CodecError);
      else expect(decodeLnurl(input).url).toBe(new URL(result ?? '').href);
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

test('a web address that carries an LNURL leads to that service (LUD-01)', () => {
  const carried = encodeLnurl('https://service.example/pay');
  expect(decodeLnurl(`https://shop.example/?lightning=${carried.toUpperCase()}`).url).toBe(
    'https://service.example/pay',
  );
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
  ]) {
    expect(() => decodeLightningAddress(bad)).toThrow(CodecError);
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

test('reading gives back what was written', () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,10}$/);
  fc.assert(
    fc.property(name, name, (username, label) => {
      const address = { username, domain: `${label}.example` };
      const text = encodeHumanBitcoinAddress(address);
      expect(decodeHumanBitcoinAddress(text)).toMatchObject(address);
      expect(decodeLnurl(encodeLnurl(`https://${label}.example/${username}`)).url).toBe(
        `https://${label}.example/${username}`,
      );
    }),
  );
  fc.assert(
    fc.property(
      fc.bigInt(1n, 2_100_000_000_000_000n),
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      (sats, label, message) => {
        fc.pre(label.isWellFormed() && message.isWellFormed());
        const parts = {
          amountMsat: sats * 1000n,
          label,
          message,
          offer: 'lno1x',
          invoice: 'lnbc1y',
        };
        expect(decodeBip321(encodeBip321(parts))).toMatchObject({
          amountMsat: parts.amountMsat,
          label,
          message,
          offers: ['lno1x'],
          lightning: ['lnbc1y'],
        });
      },
    ),
  );
});

test('no string makes the parser throw anything but a codec error', () => {
  const prefixes = [
    '',
    'bitcoin:',
    'lightning:',
    'lnurl1',
    'lnurlp://',
    '₿',
    'a@',
    'https://',
    'lno1',
  ];
  const strings = fc
    .tuple(fc.constantFrom(...prefixes), fc.string({ unit: 'binary' }))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(strings, (text) => {
      try {
        parsePaymentString(text);
      } catch (error) {
        expect(error).toBeInstanceOf(CodecError);
      }
    }),
    { numRuns: 5000 },
  );
});
