import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Network } from '../../codecs/network.ts';

/** Which wallet a place speaks for. */
export interface LndIdentity {
  /** Hex node key. */
  readonly nodePk: string;
  readonly network: Network;
}

/** The wallet's name here; LND itself knows only its node key. */
export function userPkOf(nodePk: string): string {
  return hex.encode(ed25519.getPublicKey(sha256(utf8ToBytes(`wallet-sidecar/lnd-user/${nodePk}`))));
}
