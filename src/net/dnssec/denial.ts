import { createHash } from 'node:crypto';
import { base32hexnopad } from '@scure/base';
import {
  compareNames,
  type DnsName,
  type DnsRecord,
  encodeDnsName,
  isSameName,
  isWithin,
  type Nsec,
  type Nsec3,
  readNsec,
  readNsec3,
  TYPE,
} from '../../codecs/dns/index.ts';
import { joinBytes } from '../../codecs/tlv.ts';

/** The most hash iterations that are accepted, as in other validators. RFC 9276 asks zones to use none. */
const MAX_ITERATIONS = 50;
const SHA1 = 1;

/**
 * Returns whether an NSEC or NSEC3 record of `zone`, which must be proven already, proves that `name` does not exist,
 * and no name below it, so that no more specific wildcard exists either (RFC 4035 section 5.3.4, RFC 5155 section 8.8).
 */
export function denies(record: DnsRecord, name: DnsName, zone: DnsName): boolean {
  return record.type === TYPE.NSEC
    ? nsecDenies(record.name, readNsec(record.data), name)
    : nsec3Denies(record.name, readNsec3(record.data), { name, zone });
}

function nsecDenies(owner: DnsName, { next, types }: Nsec, name: DnsName): boolean {
  // A zone cannot deny names below a delegation or a DNAME (RFC 6840 section 4.1, RFC 6672 section 5.3.4.1).
  const isElsewhere = types.has(TYPE.DNAME) || (types.has(TYPE.NS) && !types.has(TYPE.SOA));
  if (isElsewhere && isWithin(name, owner)) return false;
  // A name without records exists if a name below it exists.
  if (isWithin(next, name)) return false;
  const isLast = compareNames(owner, next) >= 0;
  return compareNames(owner, name) < 0 && (isLast || compareNames(name, next) < 0);
}

function nsec3Denies(
  owner: DnsName,
  nsec3: Nsec3,
  { name, zone }: { readonly name: DnsName; readonly zone: DnsName },
): boolean {
  const { hashAlgorithm, flags, iterations, nextHash } = nsec3;
  // With the opt-out flag an unsigned delegation may lie between, so nothing is proven (RFC 5155 section 9.2).
  if (hashAlgorithm !== SHA1 || flags !== 0 || iterations > MAX_ITERATIONS) return false;
  const [from = '', ...parent] = owner;
  if (!isSameName(parent, zone)) return false;
  const to = asLabel(nextHash);
  const hash = asLabel(hashOf(name, nsec3));
  if (from.length !== hash.length || to.length !== hash.length) return false;
  return from < to ? from < hash && hash < to : from < hash || hash < to;
}

/** Returns the hash of a name (RFC 5155 section 5). */
function hashOf(name: DnsName, { salt, iterations }: Nsec3): Uint8Array {
  let hash = encodeDnsName(name);
  for (let round = 0; round <= iterations; round++) {
    hash = createHash('sha1')
      .update(joinBytes([hash, salt]))
      .digest();
  }
  return hash;
}

/** Returns a hash as a label. Labels of this encoding sort in the same order as the bytes. */
function asLabel(hash: Uint8Array): string {
  return base32hexnopad.encode(hash).toLowerCase();
}
