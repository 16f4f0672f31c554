import { createHash } from 'node:crypto';
import {
  type Dnskey,
  type DnsName,
  type Ds,
  encodeDnsName,
  isBelow,
  isSameName,
  isWithin,
  lastLabels,
  type Rrsig,
  readDnskey,
  readDs,
  showDnsName,
  TYPE,
} from '../../codecs/dns/index.ts';
import { serviceFailed } from '../service-error.ts';
import { denies } from './denial.ts';
import {
  type CarriedRecords,
  isExpanded,
  type RecordSet,
  signedLabels,
  signedMessage,
} from './record-set.ts';
import { algorithmObstacle, signatureProblem } from './signature.ts';
import { shown, Unproven } from './unproven.ts';

/**
 * Fetches the records of a name and type, with the signatures and other records of the same answer. It need not be
 * trusted, since the chain checks them.
 */
export type RecordSource = (name: DnsName, type: number) => Promise<CarriedRecords>;

/** The inputs of a proof. */
export interface ChainOptions {
  readonly source: RecordSource;
  /** The keys of the root zone. */
  readonly anchors: readonly Ds[];
  /** The time at which signatures must be valid: seconds since 1970. */
  readonly nowSecs: number;
}

/** The proof of one answer: its signatures are checked up to the keys of the root (RFC 4035 section 5). */
export interface Chain {
  /**
   * Throws {@link Unproven} unless the records are those that their zone signed. They may come from a wildcard only
   * if `denials` proves that no more specific name exists; null allows no wildcard.
   */
  prove(set: RecordSet, denials: CarriedRecords | null): Promise<void>;
  /** Returns for how many seconds everything proven so far is valid: the lowest TTL or the first end of a signature. */
  holdsSecs(): number;
}

/** The conditions that the signatures of a record set must fulfil. */
interface Demands {
  /** Whether the keys of a zone may sign the records. */
  readonly isSigner: (signer: DnsName) => boolean;
  /** Records that may deny more specific names; without them no wildcard is allowed. */
  readonly denials?: CarriedRecords | null;
  /** The keys that may have signed; without them they are the proven keys of the signing zone. */
  readonly keys?: readonly Dnskey[];
}

/**
 * The most work for one answer: signatures and digests in all, signatures of one record set, and denials for one
 * wildcard. An honest answer needs far less. The limits stop answers that are made to keep the processor busy
 * (CVE-2023-50387).
 */
const MAX_CHECKS = 100;
const MAX_SIGNATURES = 8;
const MAX_DENIALS = 16;
const DIGESTS: ReadonlyMap<number, string> = new Map([
  [2, 'sha256'],
  [4, 'sha384'],
]);

/** Opens a proof, which is for one answer at one time. */
export function openChain({ source, anchors, nowSecs }: ChainOptions): Chain {
  const zones = new Map<string, Promise<readonly Dnskey[]>>();
  let checks = 0;
  let holdsSecs = Number.POSITIVE_INFINITY;

  const countCheck = () => {
    checks += 1;
    // This is not Unproven, so no caller goes on with the next signature: the whole proof ends.
    if (checks > MAX_CHECKS) {
      throw serviceFailed('unusable_answer', 'The DNSSEC proof of the name takes too much work.');
    }
  };

  const zoneKeys = (zone: DnsName): Promise<readonly Dnskey[]> => {
    const key = showDnsName(zone);
    const known = zones.get(key) ?? findZoneKeys(zone);
    zones.set(key, known);
    return known;
  };

  /** Returns the keys of a zone, proven by the DS records of the zone above it. */
  const findZoneKeys = async (zone: DnsName): Promise<readonly Dnskey[]> => {
    const [carried, vouchers] = await Promise.all([source(zone, TYPE.DNSKEY), vouchersOf(zone)]);
    const set = carried.at(zone, TYPE.DNSKEY);
    const keys = set.records.map(({ data }) => readDnskey(data));
    const entries = keys.filter((key) => vouchers.some((ds) => isVouchedFor(zone, key, ds)));
    if (entries.length === 0) {
      throw new Unproven(
        `The keys of ${shown(zone)} are not those that the zone above it names, so they could be forged.`,
      );
    }
    await proveSet(set, { isSigner: (signer) => isSameName(signer, zone), keys: entries });
    return keys;
  };

  /** Returns the digests of a zone's keys: for the root the anchors, else the DS records of the zone above it. */
  const vouchersOf = async (zone: DnsName): Promise<readonly Ds[]> => {
    if (zone.length === 0) return anchors;
    const set = (await source(zone, TYPE.DS)).at(zone, TYPE.DS);
    if (set.records.length === 0) {
      throw new Unproven(
        `The domain ${shown(zone)} has no DNSSEC, as the zone above it names no key of it, so its records could be forged: ask the receiver for another way to pay.`,
      );
    }
    await proveSet(set, { isSigner: (signer) => isBelow(zone, signer) });
    const vouchers = set.records.map(({ data }) => readDs(data));
    const safe = vouchers.filter(({ digestType }) => DIGESTS.has(digestType));
    if (safe.length === 0) {
      throw new Unproven(
        `The keys of ${shown(zone)} are named only by SHA-1 or in an unknown way, so they could be forged: ask the receiver for another way to pay.`,
      );
    }
    return safe;
  };

  const isVouchedFor = (zone: DnsName, key: Dnskey, ds: Ds): boolean => {
    if (key.keyTag !== ds.keyTag || key.algorithm !== ds.algorithm) return false;
    countCheck();
    return isDigestOf(zone, key, ds);
  };

  const proveSet = async (set: RecordSet, demands: Demands): Promise<void> => {
    if (set.signatures.length === 0) {
      throw new Unproven(
        `${shown(set.name)} is not secured by DNSSEC, so its records could be forged: ask the receiver for another way to pay.`,
      );
    }
    let first: Unproven | null = null;
    for (const signature of set.signatures.slice(0, MAX_SIGNATURES)) {
      try {
        return await proveBy(signature, set, demands);
      } catch (error) {
        // A zone may sign with several algorithms and keys at once; one valid signature is enough.
        if (!(error instanceof Unproven)) throw error;
        first ??= error;
      }
    }
    throw first;
  };

  const proveBy = async (signature: Rrsig, set: RecordSet, demands: Demands): Promise<void> => {
    const { signer } = signature;
    const obstacle = signatureObstacle(signature, set, demands) ?? timeObstacle(signature, nowSecs);
    if (obstacle !== null) throw new Unproven(`${shown(set.name)} ${obstacle}.`);
    const keys = demands.keys ?? (await zoneKeys(signer));
    const named = keys.filter(
      ({ keyTag, algorithm }) => keyTag === signature.keyTag && algorithm === signature.algorithm,
    );
    if (named.length === 0) {
      throw new Unproven(
        `${shown(set.name)} is signed with a key that ${shown(signer)} does not have.`,
      );
    }
    const message = signedMessage(set, signature);
    let problem: string | null = null;
    for (const key of named) {
      countCheck();
      problem = signatureProblem(key, message, signature.signature);
      if (problem === null) break;
    }
    if (problem !== null) throw new Unproven(`${shown(set.name)} ${problem}.`);
    if (isExpanded(set, signature))
      await proveNothingCloser(signature, set.name, demands.denials ?? null);
    const ttls = set.records.map(({ ttlSecs }) => ttlSecs);
    const untilExpiry = (signature.expirationSecs - nowSecs) >>> 0;
    holdsSecs = Math.min(holdsSecs, ...ttls, signature.originalTtlSecs, untilExpiry);
  };

  /** Proves that a wildcard applies: the name that is one label longer than the wildcard's parent does not exist. */
  const proveNothingCloser = async (
    { labels, signer }: Rrsig,
    name: DnsName,
    denials: CarriedRecords | null,
  ): Promise<void> => {
    const closer = lastLabels(name, labels + 1);
    const found = denials?.ofTypes(TYPE.NSEC, TYPE.NSEC3) ?? [];
    for (const set of found.slice(0, MAX_DENIALS)) {
      const [denial, second] = set.records;
      if (!denial || second) continue;
      try {
        await proveSet(set, { isSigner: (other) => isSameName(other, signer) });
      } catch (error) {
        if (!(error instanceof Unproven)) throw error;
        continue;
      }
      if (denies(denial, closer, signer)) return;
    }
    throw new Unproven(
      `${shown(name)} was answered from a wildcard, without proof that the name has no record of its own, so it could be forged.`,
    );
  };

  return {
    prove: (set, denials) =>
      proveSet(set, { isSigner: (signer) => isWithin(set.name, signer), denials }),
    holdsSecs: () => holdsSecs,
  };
}

/** Returns why a signature cannot belong to the record set, before its bytes are checked; null when it can. */
function signatureObstacle(signature: Rrsig, set: RecordSet, demands: Demands): string | null {
  if (!demands.isSigner(signature.signer)) {
    return `is signed by ${shown(signature.signer)}, which may not sign it`;
  }
  const labels = signedLabels(set.name);
  if (signature.labels > labels || signature.labels < signature.signer.length) {
    return 'has a signature for another name';
  }
  if (isExpanded(set, signature) && !demands.denials) {
    return 'comes from a wildcard, which is not allowed here';
  }
  return algorithmObstacle(signature.algorithm);
}

/** Compares times modulo 2^32 seconds, as RFC 4034 section 3.1.5 and RFC 1982 require. */
function timeObstacle({ inceptionSecs, expirationSecs }: Rrsig, nowSecs: number): string | null {
  if (((expirationSecs - nowSecs) | 0) < 0) {
    return 'has a DNSSEC signature that has expired: try later, or check the clock of this machine';
  }
  if (((nowSecs - inceptionSecs) | 0) < 0) {
    return 'has a DNSSEC signature that is not valid yet: check the clock of this machine';
  }
  return null;
}

/** Whether a DS record holds the digest of a key (RFC 4034 section 5.1.4). */
function isDigestOf(zone: DnsName, key: Dnskey, { digestType, digest }: Ds): boolean {
  const hash = DIGESTS.get(digestType);
  if (hash === undefined) return false;
  const own = createHash(hash).update(encodeDnsName(zone)).update(key.data).digest();
  return own.equals(digest);
}
