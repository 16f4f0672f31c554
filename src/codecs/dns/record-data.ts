import { byteReader } from '../byte-reader.ts';
import { joinBytes } from '../tlv.ts';
import { invalidDns } from './invalid-dns.ts';
import { type DnsName, encodeDnsName, readDnsName } from './name.ts';

/** RRSIG (RFC 4034 section 3): a signature over all records of one name and type. */
export interface Rrsig {
  readonly typeCovered: number;
  readonly algorithm: number;
  /** How many labels the signed name has, without a leading `*`. A name made from a wildcard has more. */
  readonly labels: number;
  readonly originalTtlSecs: number;
  /** Seconds since 1970 modulo 2^32, as is `inceptionSecs`. */
  readonly expirationSecs: number;
  readonly inceptionSecs: number;
  readonly keyTag: number;
  readonly signer: DnsName;
  readonly signature: Uint8Array;
  /** The part of the RRSIG itself that the signature covers: everything before the signature. */
  readonly signedPart: Uint8Array;
}

/** Reads an RRSIG. Throws CodecError('dns'), as all readers of this file do. */
export function readRrsig(data: Uint8Array): Rrsig {
  const { at, uint } = byteReader(data, 'a signature', invalidDns);
  const head = {
    typeCovered: uint(2),
    algorithm: uint(1),
    labels: uint(1),
    originalTtlSecs: uint(4),
    expirationSecs: uint(4),
    inceptionSecs: uint(4),
    keyTag: uint(2),
  };
  const { name: signer, end } = readDnsName(data, at(), { pointers: false });
  return {
    ...head,
    signer,
    signature: data.subarray(end),
    signedPart: joinBytes([data.subarray(0, at()), encodeDnsName(signer)]),
  };
}

/** DNSKEY (RFC 4034 section 2): a public key of a zone. */
export interface Dnskey {
  /** Whether the key may sign the zone's records. */
  readonly isZoneKey: boolean;
  /** Whether its owner has revoked it (RFC 5011). */
  readonly isRevoked: boolean;
  readonly protocol: number;
  readonly algorithm: number;
  readonly publicKey: Uint8Array;
  readonly keyTag: number;
  /** The whole data, of which a DS holds a digest. */
  readonly data: Uint8Array;
}

const KEY_FLAGS = { zone: 0x0100, revoked: 0x0080 };

/** Reads a DNSKEY. */
export function readDnskey(data: Uint8Array): Dnskey {
  const { uint } = byteReader(data, 'a key', invalidDns);
  const flags = uint(2);
  return {
    isZoneKey: (flags & KEY_FLAGS.zone) !== 0,
    isRevoked: (flags & KEY_FLAGS.revoked) !== 0,
    protocol: uint(1),
    algorithm: uint(1),
    publicKey: data.subarray(4),
    keyTag: keyTagOf(data),
    data,
  };
}

/** Returns the key tag (RFC 4034 appendix B). */
function keyTagOf(data: Uint8Array): number {
  const sum = data.reduce((total, byte, at) => total + (at % 2 === 0 ? byte << 8 : byte), 0);
  return (sum + (sum >>> 16)) & 0xffff;
}

/** DS (RFC 4034 section 5): a digest, published by a zone, of a key of the zone below it. */
export interface Ds {
  readonly keyTag: number;
  readonly algorithm: number;
  readonly digestType: number;
  readonly digest: Uint8Array;
}

/** Reads a DS. */
export function readDs(data: Uint8Array): Ds {
  const { uint } = byteReader(data, 'a digest of a key', invalidDns);
  return { keyTag: uint(2), algorithm: uint(1), digestType: uint(1), digest: data.subarray(4) };
}

/** NSEC (RFC 4034 section 4): no name is between its owner and `next`. */
export interface Nsec {
  readonly next: DnsName;
  /** The types of records that its owner has. */
  readonly types: ReadonlySet<number>;
}

/** Reads an NSEC. */
export function readNsec(data: Uint8Array): Nsec {
  const { name, end } = readDnsName(data, 0, { pointers: false });
  return { next: name, types: readTypes(data.subarray(end)) };
}

/** NSEC3 (RFC 5155 section 3): no name has a hash between that of its owner and `nextHash`. */
export interface Nsec3 {
  readonly hashAlgorithm: number;
  /** 1 (opt-out): unsigned delegations may still exist between the two hashes. */
  readonly flags: number;
  readonly iterations: number;
  readonly salt: Uint8Array;
  readonly nextHash: Uint8Array;
}

/** Reads an NSEC3. */
export function readNsec3(data: Uint8Array): Nsec3 {
  const { uint, take } = byteReader(data, 'a denial', invalidDns);
  return {
    hashAlgorithm: uint(1),
    flags: uint(1),
    iterations: uint(2),
    salt: take(uint(1)),
    nextHash: take(uint(1)),
  };
}

/** Returns the character strings of a TXT record, joined without a separator (RFC 1035 section 3.3.14, BIP 353). */
export function readTxt(data: Uint8Array): Uint8Array {
  const reader = byteReader(data, 'a text', invalidDns);
  const strings: Uint8Array[] = [];
  while (!reader.done()) strings.push(reader.take(reader.uint(1)));
  return joinBytes(strings);
}

/** Returns the target of a CNAME or DNAME. */
export function readAlias(data: Uint8Array): DnsName {
  return readDnsName(data, 0, { pointers: false }).name;
}

/** Reads the bitmap of types (RFC 4034 section 4.1.2). */
function readTypes(bytes: Uint8Array): ReadonlySet<number> {
  const reader = byteReader(bytes, 'a list of types', invalidDns);
  const types = new Set<number>();
  for (let previous = -1; !reader.done(); ) {
    const window = reader.uint(1);
    const length = reader.uint(1);
    if (window <= previous || length === 0 || length > 32) invalidDns('has a wrong list of types');
    previous = window;
    for (const [at, byte] of reader.take(length).entries()) {
      for (let bit = 0; bit < 8; bit++) {
        if (byte & (0x80 >> bit)) types.add(window * 256 + at * 8 + bit);
      }
    }
  }
  return types;
}
