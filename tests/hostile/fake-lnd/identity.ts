import { createHash, randomBytes } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { RpcMethod } from './rpc.ts';

/** A node's key pair. */
export interface Identity {
  readonly secretKey: Uint8Array;
  /** The public key: hex, compressed. */
  readonly pubkey: string;
}

/** A node's key, random by default. */
export function newIdentity(secretKey: Uint8Array = randomBytes(32)): Identity {
  const pubkey = Buffer.from(secp256k1.getPublicKey(secretKey, true)).toString('hex');
  return { secretKey, pubkey };
}

/** LND's SignMessage: the compact recoverable signature of the prefixed message, in z-base-32. */
export function signMessage(
  { secretKey }: Identity,
  message: Uint8Array,
  singleHash = false,
): string {
  const prefixed = Buffer.concat([Buffer.from('Lightning Signed Message:'), message]);
  const once = createHash('sha256').update(prefixed).digest();
  const digest = singleHash ? once : createHash('sha256').update(once).digest();
  const [recovery = 0, ...signature] = secp256k1.sign(digest, secretKey, {
    prehash: false,
    format: 'recovered',
  });
  // The first byte is 27 plus the recovery number, plus 4 for a compressed key.
  return zbase32(Uint8Array.from([31 + recovery, ...signature]));
}

/** The REST method SignMessage. */
export function signMethod(identity: Identity): RpcMethod {
  return {
    http: 'POST',
    path: '/v1/signmessage',
    rpc: '/lnrpc.Lightning/SignMessage',
    needs: ['message:write'],
    answer: ({ input }) => ({
      signature: signMessage(identity, input.bytes('msg'), input.bool('single_hash')),
    }),
  };
}

function zbase32(bytes: Uint8Array): string {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  bits = bits.padEnd(Math.ceil(bits.length / 5) * 5, '0');
  return (bits.match(/.{5}/g) ?? [])
    .map((five) => 'ybndrfg8ejkmcpqxot1uwisza345h769'[Number.parseInt(five, 2)])
    .join('');
}
