import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Network } from '../../../codecs/network.ts';
import { ed25519 } from '../../../lib/secrets/ed25519.ts';
import type { RealKind } from '../../../model/node-kind.ts';

/** The wallet that the node at a place holds. */
export interface NodeIdentity {
  /** Hex node key. */
  readonly nodePk: string;
  readonly network: Network;
}

/** The wallet's user_pk: an ed25519 key (hex) that follows from the node key, since such a node has only the latter. */
export function userPkOf(kind: RealKind, nodePk: string): string {
  const label = `wallet-sidecar/${kind}-user/${nodePk}`;
  return hex.encode(ed25519.publicKeyOf(sha256(utf8ToBytes(label))));
}
