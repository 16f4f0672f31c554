import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hash160 } from '@scure/btc-signer/utils.js';

/** A script to which the other side of a channel pays what is ours when it closes the channel by force. */
export interface ClosedOutput {
  readonly script: Uint8Array;
  /** What is signed for: the script of P2WSH, or that of the key's hash. */
  readonly scriptCode: Uint8Array;
  readonly secretKey: Uint8Array;
  readonly publicKey: Uint8Array;
  /** Whether it is the form of channels with anchors, which can be spent a block after it is confirmed. */
  readonly isAnchored: boolean;
}

/** LDK chooses one of so many keys for each channel (`STATIC_PAYMENT_KEY_COUNT` of rust-lightning 0.2). */
const KEYS = 1000;
/** The branch of these keys, hardened (`STATIC_PAYMENT_KEY_INDEX`). */
const BRANCH = 8;
const HARDENED = 0x80000000;
const OP = { pushHash: 0x14, pushKey: 0x21, dup: 0x76, hash160: 0xa9, equalVerify: 0x88 } as const;
const CHECK = { sig: 0xac, sigVerify: 0xad, sequence: 0xb2, one: 0x51 } as const;

/**
 * Returns every script to which a channel of the node can be closed by its other side. LDK derives them from the node's
 * seed alone (rust-lightning 0.2, `possible_v2_counterparty_closed_balance_spks`; ldk-node 0.7.1 asks for these keys
 * from the first channel on), so they are found again without the node's state.
 */
export function closedOutputs(nodeSeed: Uint8Array): ClosedOutput[] {
  const branch = hardenedChild(master(master(nodeSeed).key), BRANCH);
  return Array.from({ length: KEYS }, (_, index) => hardenedChild(branch, index).key).flatMap(
    (secretKey) => {
      const publicKey = secp256k1.getPublicKey(secretKey, true);
      return [keyHash(secretKey, publicKey), anchored(secretKey, publicKey)];
    },
  );
}

/** `to_remote` of BOLT 3 with option_static_remotekey. */
function keyHash(secretKey: Uint8Array, publicKey: Uint8Array): ClosedOutput {
  const hash = hash160(publicKey);
  const script = concatBytes(Uint8Array.of(0, OP.pushHash), hash);
  const scriptCode = concatBytes(
    Uint8Array.of(OP.dup, OP.hash160, OP.pushHash),
    hash,
    Uint8Array.of(OP.equalVerify, CHECK.sig),
  );
  return { script, scriptCode, secretKey, publicKey, isAnchored: false };
}

/** `to_remote` of BOLT 3 with option_anchors. */
function anchored(secretKey: Uint8Array, publicKey: Uint8Array): ClosedOutput {
  const scriptCode = concatBytes(
    Uint8Array.of(OP.pushKey),
    publicKey,
    Uint8Array.of(CHECK.sigVerify, CHECK.one, CHECK.sequence),
  );
  const script = concatBytes(Uint8Array.of(0, 0x20), sha256(scriptCode));
  return { script, scriptCode, secretKey, publicKey, isAnchored: true };
}

interface ExtendedKey {
  readonly key: Uint8Array;
  readonly chainCode: Uint8Array;
}

/** BIP 32, Master key generation. */
function master(seed: Uint8Array): ExtendedKey {
  return split(hmac(sha512, utf8ToBytes('Bitcoin seed'), seed));
}

/** BIP 32, CKDpriv of a hardened child. */
function hardenedChild({ key, chainCode }: ExtendedKey, index: number): ExtendedKey {
  const number = new Uint8Array(4);
  new DataView(number.buffer).setUint32(0, HARDENED + index);
  const data = concatBytes(Uint8Array.of(0), key, number);
  const child = split(hmac(sha512, chainCode, data));
  const { Fn } = secp256k1.Point;
  const sum = Fn.add(Fn.fromBytes(child.key), Fn.fromBytes(key));
  return { key: Fn.toBytes(sum), chainCode: child.chainCode };
}

function split(bytes: Uint8Array): ExtendedKey {
  return { key: bytes.slice(0, 32), chainCode: bytes.slice(32) };
}
