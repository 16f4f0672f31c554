import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Network } from '../../../codecs/network.ts';
import { DERIVATION_LABELS } from '../../../model/root-seed.ts';

/** The node's seed: 64 bytes, another one on each network, so that no key is used on two. */
export function nodeSeed(rootSeed: Uint8Array, network: Network): Uint8Array {
  const info = utf8ToBytes(`${DERIVATION_LABELS.ldkNode}/${network}`);
  return hkdf(sha256, rootSeed, undefined, info, 64);
}
