import { expect, test } from 'bun:test';
import { ed25519 as noble } from '@noble/curves/ed25519.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import fc from 'fast-check';
import { ed25519 } from '../../src/lib/secrets/ed25519.ts';

/** RFC 8032, section 7.1, tests 1 and 2. */
const VECTORS = [
  {
    secretKey: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    secretKey: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
];

test('keys and signatures are those of RFC 8032', () => {
  for (const vector of VECTORS) {
    const [secretKey, publicKey] = [hex.decode(vector.secretKey), hex.decode(vector.publicKey)];
    const [message, signature] = [hex.decode(vector.message), hex.decode(vector.signature)];
    expect(hex.encode(ed25519.publicKeyOf(secretKey))).toBe(vector.publicKey);
    expect(hex.encode(ed25519.sign(message, secretKey))).toBe(vector.signature);
    expect(ed25519.verify(signature, message, publicKey)).toBe(true);
    expect(ed25519.verify(signature, utf8ToBytes('another'), publicKey)).toBe(false);
  }
});

test('the public key of any secret key is that of another library, since wallets are known by it', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (secretKey) => {
      expect(hex.encode(ed25519.publicKeyOf(secretKey))).toBe(
        hex.encode(noble.getPublicKey(secretKey)),
      );
    }),
    { numRuns: 100 },
  );
});
