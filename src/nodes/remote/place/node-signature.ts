import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** The prefix that nodes put before every message that they sign. */
const PREFIX = utf8ToBytes('Lightning Signed Message:');
const COMPACT_BYTES = 65;
/** The first byte of a compact signature is this number plus the recovery number, plus 4 for a compressed key. */
const COMPACT_HEADER = 27;

/** Whether the signature (z-base-32, as `signmessage` answers) is the node's over the message; key in hex. */
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

const ALPHABET = 'ybndrfg8ejkmcpqxot1uwisza345h769';

/** Decodes z-base-32 without padding. Throws RangeError for invalid input, also for leftover bits. */
function decodeZbase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let value = 0;
  let bits = 0;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) throw new RangeError('not z-base-32');
    value = (value << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(value >> bits);
    value &= (1 << bits) - 1;
  }
  if (value !== 0 || bits >= 5) throw new RangeError('not z-base-32');
  return Uint8Array.from(bytes);
}
