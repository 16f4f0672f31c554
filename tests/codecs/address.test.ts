import { describe, expect, test } from 'bun:test';
import { bech32, bech32m, hex } from '@scure/base';
import fc from 'fast-check';
import { decodeAddress, encodeAddress, encodeWitnessAddress } from '../../src/codecs/address.ts';
import { CodecError } from '../../src/codecs/codec-error.ts';
import bip173 from '../vectors/bip173-bech32.json';
import bip350 from '../vectors/bip350-bech32m.json';

/** The addresses of BIP 173 that are still valid under BIP 350. */
const stillValid = bip173.valid_segwit_addresses.filter(({ script_pubkey_hex }) =>
  script_pubkey_hex.startsWith('00'),
);

describe('every valid address of BIP 350, and of BIP 173 in version 0, pays to its script', () => {
  test('there are some of both', () => expect(stillValid.length).toBeGreaterThan(0));
  for (const { address, script_pubkey_hex } of [...bip350.valid_segwit_addresses, ...stillValid]) {
    test(address, () => {
      const decoded = decodeAddress(address);
      expect(hex.encode(decoded.scriptPubKey)).toBe(script_pubkey_hex);
      const [network = 'regtest'] = decoded.networks;
      expect(encodeAddress(decoded.scriptPubKey, network)).toBe(address.toLowerCase());
    });
  }
});

describe('every invalid address of BIP 350 and BIP 173 is refused', () => {
  for (const { address } of [
    ...bip350.invalid_segwit_addresses,
    ...bip173.invalid_segwit_addresses,
  ]) {
    test(address, () => expect(() => decodeAddress(address)).toThrow(CodecError));
  }
});

test('version 1 and higher in bech32, valid in BIP 173, is refused since BIP 350', () => {
  const old = bip173.valid_segwit_addresses.filter((vector) => !stillValid.includes(vector));
  expect(old.length).toBeGreaterThan(0);
  for (const { address } of old) expect(() => decodeAddress(address)).toThrow(/not of the kind/);
});

test('base58 addresses tell their kind and networks', () => {
  expect(decodeAddress('1RustyRX2oai4EYYDpQGWvEL62BBGqN9T')).toMatchObject({
    kind: 'p2pkh',
    networks: ['bitcoin'],
  });
  expect(decodeAddress('3EktnHQD7RiAE6uzMj2ZifT9YgRrkSgzQX')).toMatchObject({ kind: 'p2sh' });
  expect(decodeAddress('mk2QpYatsKicvFVuTAQLBryyccRXMUaGHP').networks).toEqual([
    'testnet',
    'signet',
    'regtest',
  ]);
});

test('reading gives back the witness program that was written', () => {
  const programs = fc.oneof(
    fc.tuple(fc.constant(0), fc.uint8Array({ minLength: 20, maxLength: 20 })),
    fc.tuple(fc.constant(0), fc.uint8Array({ minLength: 32, maxLength: 32 })),
    fc.tuple(fc.integer({ min: 1, max: 16 }), fc.uint8Array({ minLength: 2, maxLength: 40 })),
  );
  fc.assert(
    fc.property(programs, ([version, program]) => {
      const address = encodeWitnessAddress(version, program, 'regtest') ?? '';
      expect(decodeAddress(address)).toMatchObject({ witnessVersion: version, program });
    }),
  );
});

test('no string makes the reader throw anything but its own error', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `bc1${text}`),
      ),
      (text) => {
        try {
          decodeAddress(text);
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

describe('the bech32 library reads the checksums of BIP 173 and BIP 350', () => {
  const cases = [
    { codec: bech32, valid: bip173.valid_bech32, invalid: bip173.invalid_bech32 },
    { codec: bech32m, valid: bip350.valid_bech32m, invalid: bip350.invalid_bech32m },
  ];
  for (const { codec, valid, invalid } of cases) {
    for (const { string } of valid) {
      test(`reads ${string}`, () => expect(codec.decodeUnsafe(string)).toBeDefined());
    }
    for (const { string, reason } of invalid) {
      test(`refuses ${string}: ${reason}`, () =>
        expect(codec.decodeUnsafe(string)).toBeUndefined());
    }
  }
});
