import {
  type DnsName,
  type DnsRecord,
  encodeDnsRecord,
  lastLabels,
  type Rrsig,
  readRrsig,
  showDnsName,
  TYPE,
} from '../../codecs/dns/index.ts';
import { joinBytes } from '../../codecs/tlv.ts';

/** All records of one name and type, which are signed together. */
export interface RecordSet {
  readonly name: DnsName;
  readonly type: number;
  readonly records: readonly DnsRecord[];
  /** The signatures that name this type as covered; they are not checked yet. */
  readonly signatures: readonly Rrsig[];
}

/** The records of an answer by name and type; they are not proven yet. */
export interface CarriedRecords {
  /** Returns the records of a name and type; an empty set where there are none. */
  at(name: DnsName, type: number): RecordSet;
  ofTypes(...types: readonly number[]): readonly RecordSet[];
}

/** Sorts records into sets in one pass. A record that occurs twice counts once (RFC 2181 section 5). */
export function sortRecords(records: readonly DnsRecord[]): CarriedRecords {
  const sets = new Map<string, { records: DnsRecord[]; signatures: Rrsig[] } & RecordSet>();
  const setOf = (name: DnsName, type: number) => {
    const key = `${type} ${showDnsName(name)}`;
    const set = sets.get(key) ?? { name, type, records: [], signatures: [] };
    sets.set(key, set);
    return set;
  };
  const seen = new Set<string>();
  for (const record of records) {
    const { name, type, data } = record;
    const identity = `${type} ${showDnsName(name)} ${Buffer.from(data).toString('latin1')}`;
    if (seen.has(identity)) continue;
    seen.add(identity);
    if (type === TYPE.RRSIG) {
      const signature = readRrsig(data);
      setOf(name, signature.typeCovered).signatures.push(signature);
    } else {
      setOf(name, type).records.push(record);
    }
  }
  return {
    at: setOf,
    ofTypes: (...types) => [...sets.values()].filter(({ type }) => types.includes(type)),
  };
}

/** Returns how many labels of a name count in a signature (RFC 4034 section 3.1.3). */
export function signedLabels(name: DnsName): number {
  return name[0] === '*' ? name.length - 1 : name.length;
}

/** Returns whether a signature covers a wildcard from which the name was made. */
export function isExpanded({ name }: RecordSet, { labels }: Rrsig): boolean {
  return labels < signedLabels(name);
}

/** Returns the bytes that a signature covers (RFC 4034 section 3.1.8.1): the records in canonical form and order. */
export function signedMessage(set: RecordSet, signature: Rrsig): Uint8Array {
  const { name, type, records } = set;
  const signedName = isExpanded(set, signature)
    ? ['*', ...lastLabels(name, signature.labels)]
    : name;
  // The canonical order is that of byte strings (RFC 4034 section 6.3).
  const sorted = records.map(({ data }) => data).sort(Buffer.compare);
  const ttlSecs = signature.originalTtlSecs;
  return joinBytes([
    signature.signedPart,
    ...sorted.map((data) => encodeDnsRecord({ name: signedName, type, ttlSecs, data })),
  ]);
}
