import { describe, expect, test } from 'bun:test';
import { decodeBip321 } from '../../src/codecs/bip321.ts';
import { CodecError } from '../../src/codecs/codec-error.ts';
import { parsePaymentString } from '../../src/wallet/strings/payment-string.ts';
import bip321 from '../vectors/bip321-uris.json';
import { expectInvalid } from './expect-invalid.ts';

/** Whether a URI may be used: it can be read, and every parameter that it requires is supported. */
const isUsable = (uri: string) => {
  try {
    return decodeBip321(uri).requiredUnknown.length === 0;
  } catch (error) {
    if (error instanceof CodecError) return false;
    throw error;
  }
};

describe('every URI of BIP 321 is taken or refused as the document says', () => {
  for (const { uri, description, valid_syntax } of bip321.uris) {
    test(description, () => {
      expect(isUsable(uri)).toBe(valid_syntax);
      if (!valid_syntax) return;
      const query = new URLSearchParams(uri.split('?')[1]);
      const { amountMsat, label, message, offers } = decodeBip321(uri);
      expect(amountMsat).toBe(query.has('amount') ? btc(query.get('amount') ?? '') : null);
      expect({ label, message }).toEqual({
        label: query.get('label'),
        message: query.get('message'),
      });
      expect(offers).toEqual(query.getAll('lno'));
      // The addresses are invalid on purpose. That removes payment methods, but the URI can be read.
      expect(parsePaymentString(uri).methods).toEqual([]);
    });
  }
});

/** Converts the amounts of the document's examples, which have at most one decimal, to millisatoshis. */
const btc = (amount: string) => BigInt(Number(amount) * 10) * 10_000_000_000n;

describe('every proof of payment of BIP 321 is ignored, or stops the payment where it is required', () => {
  for (const { id, uri, stated } of bip321.proof_of_payment) {
    test(id, () => {
      expect(isUsable(uri)).toBe(stated === undefined);
      const { requiredUnknown } = parsePaymentString(uri);
      expect(requiredUnknown).toEqual(stated === 'must not pay' ? ['req-pop'] : []);
    });
  }
});

describe('every amount of BIP 321', () => {
  for (const { id, amount, stated } of bip321.amounts) {
    test(id, () => {
      const read = () => decodeBip321(`bitcoin:?amount=${amount}`).amountMsat;
      if (stated === 'invalid') return expectInvalid(read, 'bip321', 'its amount is not a decimal');
      expect(`${Number(read()) / 1e11} BTC`).toBe(stated);
    });
  }
});

test('amounts of BIP 321 are decimal bitcoins', () => {
  expect(decodeBip321('bitcoin:?amount=20.3').amountMsat).toBe(2_030_000_000_000n);
  expect(decodeBip321('bitcoin:?amount=.5').amountMsat).toBe(50_000_000_000n);
  expect(decodeBip321('bitcoin:?amount=0.00000001').amountMsat).toBe(1000n);
  for (const amount of [
    '-1',
    '+1',
    '1e3',
    '',
    '.',
    '1.2.3',
    '0x1',
    ' 1',
    '\u0661',
    '0.000000001',
    '0',
    '21000000.00000001',
  ]) {
    expectInvalid(() => decodeBip321(`bitcoin:?amount=${amount}`), 'bip321', 'its amount is');
  }
});

test('an upper-case URI with further addresses in parameters names all its methods', () => {
  const old = bip321.uris.find((entry) => 'uri_previous_revision' in entry);
  const { methods, unreadable } = parsePaymentString(old?.uri_previous_revision ?? '');
  expect(methods).toMatchObject([
    { kind: 'onchain', address: { canonical: 'bc1qufgy354j3kmvuch987xe4s40836x3h0lg8f5n2' } },
    { kind: 'onchain', address: { kind: 'p2tr' } },
  ]);
  expect(unreadable).toEqual([]);
});
