import { hex } from '@scure/base';
import type { Ds } from '../../codecs/dns/index.ts';

const RSA_SHA256 = 8;
const SHA256 = 2;

/**
 * The keys of the DNS root, at which every DNSSEC proof begins: those of 2017 and 2024, as IANA publishes them
 * (https://data.iana.org/root-anchors/root-anchors.xml). No setting can replace them: it would let a changed
 * configuration redirect payments.
 */
export const ROOT_ANCHORS: readonly Ds[] = [
  anchor(20326, 'e06d44b80b8f1d39a95c0b0d7c65d08458e880409bbc683457104237c7f8ec8d'),
  anchor(38696, '683d2d0acb8c9b712a1948b27f741219298d0a450d612c483af444a4c0fb2b16'),
];

function anchor(keyTag: number, digest: string): Ds {
  return { keyTag, algorithm: RSA_SHA256, digestType: SHA256, digest: hex.decode(digest) };
}
