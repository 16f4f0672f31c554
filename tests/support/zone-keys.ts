import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { nameBytes, type ServedRecord, TYPES, uint } from './dns-writer.ts';

/** A key that signs a zone. */
export interface ZoneKey {
  readonly algorithm: number;
  readonly keyTag: number;
  /** The data of its DNSKEY record. */
  readonly data: Buffer;
  readonly sign: (message: Buffer) => Buffer;
}

interface KeyOptions {
  /** The algorithm; 15 (Ed25519) by default. */
  readonly algorithm?: number;
  readonly flags?: number;
  readonly protocol?: number;
  /** The size in bits, for RSA keys. */
  readonly bits?: number;
}

const HASHES: Readonly<Record<number, string>> = {
  5: 'sha1',
  7: 'sha1',
  8: 'sha256',
  10: 'sha512',
  13: 'sha256',
  14: 'sha384',
};

/** Makes a key pair of a DNSSEC algorithm. */
export function makeKey(options: KeyOptions = {}): ZoneKey {
  const { algorithm = 15, flags = 257, protocol = 3, bits = 2048 } = options;
  const { publicBytes, privateKey } = keyPair(algorithm, bits);
  const data = Buffer.concat([uint(2, flags), uint(1, protocol, algorithm), publicBytes]);
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
  return {
    algorithm,
    keyTag: keyTagOf(data),
    data,
    sign: (message) => sign(HASHES[algorithm] ?? null, message, key),
  };
}

function keyPair(algorithm: number, bits: number): { publicBytes: Buffer; privateKey: KeyObject } {
  if (algorithm === 15) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    return { publicBytes: jwkBytes(publicKey, 'x'), privateKey };
  }
  if (algorithm === 13 || algorithm === 14) {
    const namedCurve = algorithm === 13 ? 'P-256' : 'P-384';
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
    const publicBytes = Buffer.concat([jwkBytes(publicKey, 'x'), jwkBytes(publicKey, 'y')]);
    return { publicBytes, privateKey };
  }
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: bits });
  const exponent = jwkBytes(publicKey, 'e');
  const publicBytes = Buffer.concat([uint(1, exponent.length), exponent, jwkBytes(publicKey, 'n')]);
  return { publicBytes, privateKey };
}

function jwkBytes(key: KeyObject, part: 'x' | 'y' | 'e' | 'n'): Buffer {
  return Buffer.from(key.export({ format: 'jwk' })[part] ?? '', 'base64url');
}

function keyTagOf(data: Buffer): number {
  let sum = 0;
  for (const [at, byte] of data.entries()) sum += at % 2 === 0 ? byte * 256 : byte;
  return (sum + Math.floor(sum / 65536)) % 65536;
}

/** Writes the data of a key's DS record; digest types 1 (SHA-1), 2 (SHA-256) and 4 (SHA-384). */
export function dsData(zone: string, key: ZoneKey, digestType: number): Buffer {
  const hash = { 1: 'sha1', 4: 'sha384' }[digestType] ?? 'sha256';
  const digest = createHash(hash).update(nameBytes(zone.toLowerCase())).update(key.data).digest();
  return Buffer.concat([uint(2, key.keyTag), uint(1, key.algorithm, digestType), digest]);
}

/** Values of a signature that replace the correct ones. */
export interface SignatureShape {
  readonly labels?: number;
  /** The signed name, if it is a wildcard. */
  readonly signedName?: string;
  readonly inceptionSecs?: number;
  readonly expirationSecs?: number;
  readonly originalTtl?: number;
  readonly algorithm?: number;
  readonly keyTag?: number;
}

/** Writes the RRSIG over records of one name and type (RFC 4034 section 3.1.8.1). */
export function signRecords(
  records: readonly ServedRecord[],
  { signer, key, nowSecs }: { signer: string; key: ZoneKey; nowSecs: number },
  shape: SignatureShape = {},
): ServedRecord {
  const [{ name, type, ttl } = { name: '', type: 0, ttl: 0 }] = records;
  const signedName = (shape.signedName ?? name).toLowerCase();
  const counted = signedName.split('.').filter((label) => label !== '' && label !== '*').length;
  const { originalTtl = ttl } = shape;
  const { expirationSecs = nowSecs + 86_400, inceptionSecs = nowSecs - 3_600 } = shape;
  const head = Buffer.concat([
    uint(2, type),
    uint(1, shape.algorithm ?? key.algorithm, shape.labels ?? counted),
    uint(4, originalTtl),
    uint(4, ...[expirationSecs, inceptionSecs].map((secs) => secs % 2 ** 32)),
    uint(2, shape.keyTag ?? key.keyTag),
    nameBytes(signer.toLowerCase()),
  ]);
  const isAlias = type === TYPES.CNAME || type === TYPES.DNAME;
  const all = records
    .map(({ data }) =>
      isAlias ? Buffer.from(data.toString('latin1').toLowerCase(), 'latin1') : data,
    )
    .sort(Buffer.compare)
    .map((data) =>
      Buffer.concat([
        nameBytes(signedName),
        uint(2, type, 1),
        uint(4, originalTtl),
        uint(2, data.length),
        data,
      ]),
    );
  const signature = key.sign(Buffer.concat([head, ...all]));
  return { name, type: TYPES.RRSIG, ttl, data: Buffer.concat([head, signature]) };
}
