import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { base64urlnopad } from '@scure/base';

/**
 * Ed25519 (RFC 8032) by the runtime's own library: it needs no tables, which would be computed at each start and kept
 * in memory. Keys and signatures are bytes: 32 of a secret or public key, 64 of a signature.
 */
export const ed25519 = {
  publicKeyOf(secretKey: Uint8Array): Uint8Array {
    const { x = '' } = createPublicKey(privateKey(secretKey)).export({ format: 'jwk' });
    return base64urlnopad.decode(x);
  },
  sign: (message: Uint8Array, secretKey: Uint8Array): Uint8Array =>
    new Uint8Array(sign(null, message, privateKey(secretKey))),
  verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(publicKey) };
    return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
  },
};

/** What stands before the 32 bytes of a secret key in its PKCS #8 form (RFC 8410, section 7). */
const PKCS8_HEAD = Uint8Array.fromHex('302e020100300506032b657004220420');

function privateKey(secretKey: Uint8Array): KeyObject {
  const key = Buffer.concat([PKCS8_HEAD, secretKey]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}
