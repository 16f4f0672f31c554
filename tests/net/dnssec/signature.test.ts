import { expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { type Dnskey, readDnskey } from '../../../src/codecs/dns/index.ts';
import { signatureProblem } from '../../../src/net/dnssec/signature.ts';
import { uint } from '../../support/dns-writer.ts';
import { makeKey } from '../../support/zone-keys.ts';

const RSA = 8;
const UNREADABLE = /cannot be read/;
const WEAK = /less than 1024 bits/;
const MESSAGE = Buffer.from('message');

/** A key that may sign is used for the check, which an empty signature cannot pass. */
const keyProblem = (found: Dnskey) => signatureProblem(found, MESSAGE, Buffer.alloc(0));
const GOOD_KEY = /signature that is wrong/;

const key = (algorithm: number, ...bytes: readonly Uint8Array[]) =>
  readDnskey(Buffer.concat([uint(2, 257), uint(1, 3, algorithm), ...bytes]));

/** Writes an RSA key of the given number of bits (RFC 3110). */
function rsa(bits: number, exponent: readonly number[] = [1, 0, 1]) {
  const modulus = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  modulus[0] = 0xff >> (modulus.length * 8 - bits);
  return key(RSA, uint(1, exponent.length), Buffer.from(exponent), modulus);
}

test('RSA keys are of 1024 to 4096 bits, however their number is padded', () => {
  for (const bits of [1024, 1025, 2048, 4096]) expect(keyProblem(rsa(bits))).toMatch(GOOD_KEY);
  for (const bits of [8, 512, 1023]) expect(keyProblem(rsa(bits))).toMatch(WEAK);
  for (const bits of [4097, 8192]) expect(keyProblem(rsa(bits))).toMatch(UNREADABLE);
  const padded = key(
    RSA,
    uint(1, 3),
    Buffer.from([1, 0, 1]),
    Buffer.alloc(64),
    Buffer.alloc(64, 1),
  );
  expect(keyProblem(padded)).toMatch(WEAK);
});

test('the exponent of an RSA key is odd, at least 3 and at most 5 bytes', () => {
  for (const good of [[3], [1, 0, 1], [1, 0, 0, 0, 1], [0, 0, 1, 0, 1]]) {
    expect(keyProblem(rsa(2048, good))).toMatch(GOOD_KEY);
  }
  for (const bad of [[1], [0], [2], [1, 0, 0], [1, 0, 0, 0, 0, 1]]) {
    expect(keyProblem(rsa(2048, bad))).toMatch(UNREADABLE);
  }
  const long = key(RSA, uint(1, 0), uint(2, 3), Buffer.from([1, 0, 1]), Buffer.alloc(256, 0xff));
  expect(keyProblem(long)).toMatch(GOOD_KEY);
});

test('points must be on their curve, and keys of their length', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = [x, y].map((part) => Buffer.from(part, 'base64url'));
  expect(keyProblem(key(13, ...point))).toMatch(GOOD_KEY);
  expect(keyProblem(key(13, Buffer.alloc(64, 1)))).toMatch(UNREADABLE);
  expect(keyProblem(key(13, Buffer.alloc(64)))).toMatch(UNREADABLE);
  expect(keyProblem(key(14, ...point))).toMatch(UNREADABLE);
  expect(keyProblem(key(13, ...point, Buffer.alloc(1)))).toMatch(UNREADABLE);
  expect(keyProblem(key(15, Buffer.alloc(31)))).toMatch(UNREADABLE);
  expect(keyProblem(key(15))).toMatch(UNREADABLE);
});

test('every algorithm but those trusted is refused, SHA-1 and MD5 among them', () => {
  const trusted = [8, 10, 13, 14, 15];
  for (let algorithm = 0; algorithm < 256; algorithm++) {
    if (trusted.includes(algorithm)) continue;
    expect(keyProblem(key(algorithm, Buffer.alloc(64)))).toMatch(/SHA-1|does not know/);
  }
});

test('no bytes of a key or signature make the check throw, or hold', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(fc.constantFrom(8, 10, 13, 14, 15), bytes, bytes, (algorithm, data, signature) => {
      const found = key(algorithm, data);
      expect(signatureProblem(found, MESSAGE, signature)).not.toBeNull();
    }),
  );
  const own = makeKey();
  const good = own.sign(MESSAGE);
  expect(signatureProblem(readDnskey(own.data), MESSAGE, good)).toBeNull();
  for (const bad of [good.subarray(1), Buffer.concat([good, good]), Buffer.alloc(0)]) {
    expect(signatureProblem(readDnskey(own.data), MESSAGE, bad)).toMatch(GOOD_KEY);
  }
});
