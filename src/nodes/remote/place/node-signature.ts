import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { decodeZbase32 } from './zbase32.ts';

/** The prefix that nodes put before every message that they sign. */
const PREFIX = utf8ToBytes('Lightning Signed Message:');
const COMPACT_BYTES = 65;
/** The first byte of a compact signature is this number plus the recovery number, plus 4 for a compressed key. */
const COMPACT_HEADER = 27;

/**
 * Whether the signature, in z-base-32 as a node's `signmessage` answers it, was made over the message with the node's
 * key (hex).
 */
export function isSignedByNode(message: Uint8Array, signature: string, nodePk: string): boolean {
  try {
    const compact = decodeZbase32(signature);
    if (compact.length !== COMPACT_BYTES) return false;
    const recovered = Uint8Array.from(compact);
    recovered[0] = ((compact[0] ?? 0) - COMPACT_HEADER) & 3;
    const digest = sha256(sha256(concatBytes(PREFIX, message)));
    const key = secp256k1.recoverPublicKey(recovered, digest, { prehash: false });
    return hex.encode(key) === nodePk;
  } catch {
    return false;
  }
}
