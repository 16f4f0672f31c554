import { byteReader } from '../byte-reader.ts';
import { joinBytes } from '../tlv.ts';
import { invalidDns } from './invalid-dns.ts';
import { type DnsName, encodeDnsName, readDnsName } from './name.ts';

/** The types of records in a signed answer and its proof. */
export const TYPE = {
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  NSEC3: 50,
} as const;

/** One resource record of class IN. */
export interface DnsRecord {
  readonly name: DnsName;
  readonly type: number;
  readonly ttlSecs: number;
  /**
   * The data as it was sent, except that the target of a CNAME or DNAME is expanded and in lower case, the form that is
   * signed (RFC 4034 section 6.2).
   */
  readonly data: Uint8Array;
}

/** The answer of a resolver. */
export interface DnsAnswer {
  readonly responseCode: number;
  /** Whether the resolver cut the answer short. */
  readonly truncated: boolean;
  readonly questions: readonly { readonly name: DnsName; readonly type: number }[];
  /** The records of class IN of all sections, in the order of the answer. */
  readonly records: readonly DnsRecord[];
}

const CLASS_IN = 1;
const HEADER_BYTES = 12;
/**
 * The most questions and records of an answer. A compressed name of six bytes can stand for one of 127 labels, so a
 * long list of them takes seconds to read; a signed answer has a few dozen records.
 */
const MOST_RECORDS = 200;
const FLAGS = {
  response: 0x8000,
  opcode: 0x7800,
  truncated: 0x0200,
  wantRecursion: 0x0100,
  noChecks: 0x0010,
};
const DNSSEC_OK = 0x8000;
const MAX_TTL = 0x7fff_ffff;

/**
 * Writes a query for the records of a name. It asks for their signatures (DO, RFC 3225), also when the resolver itself
 * cannot validate them (CD, RFC 4035). Its id is 0, so that answers can be cached (RFC 8484 section 4.1).
 */
export function encodeDnsQuery(name: DnsName, type: number): Uint8Array {
  const header = uint16s(0, FLAGS.wantRecursion | FLAGS.noChecks, 1, 0, 0, 1);
  const question = joinBytes([encodeDnsName(name), uint16s(type, CLASS_IN)]);
  const options = joinBytes([encodeDnsName([]), uint16s(TYPE.OPT, 0xffff, 0, DNSSEC_OK, 0)]);
  return joinBytes([header, question, options]);
}

/** Reads an answer (RFC 1035 section 4). Throws CodecError('dns') for an incomplete one, or one above 200 records. */
export function decodeDnsAnswer(bytes: Uint8Array): DnsAnswer {
  const { at, done, take, uint } = byteReader(bytes, 'a record', invalidDns);
  if (bytes.length < HEADER_BYTES) invalidDns('has no header');
  // The id, which is that of the query.
  uint(2);
  const flags = uint(2);
  if ((flags & FLAGS.response) === 0 || (flags & FLAGS.opcode) !== 0)
    invalidDns('is not an answer');
  const questionCount = uint(2);
  const recordCount = uint(2) + uint(2) + uint(2);
  if (questionCount + recordCount > MOST_RECORDS)
    invalidDns(`has more than ${MOST_RECORDS} records`);
  const owner = (): DnsName => {
    const { name, end } = readDnsName(bytes, at(), { pointers: true });
    take(end - at());
    return name;
  };
  const questions = times(questionCount, () => {
    const question = { name: owner(), type: uint(2) };
    // The class.
    uint(2);
    return question;
  });
  const records = times(recordCount, () => {
    const head = { name: owner(), type: uint(2), class: uint(2), ttl: uint(4), length: uint(2) };
    const start = at();
    take(head.length);
    return { ...head, data: canonicalData(bytes, head.type, { start, end: at() }) };
  });
  if (!done()) invalidDns('has bytes after its last record');
  return {
    responseCode: flags & 0x000f,
    truncated: (flags & FLAGS.truncated) !== 0,
    questions,
    records: records
      .filter((record) => record.class === CLASS_IN && record.type !== TYPE.OPT)
      .map(({ name, type, ttl, data }) => ({ name, type, ttlSecs: ttl > MAX_TTL ? 0 : ttl, data })),
  };
}

/** Writes a record in wire form, its name without compression (RFC 1035 section 3.2.1). */
export function encodeDnsRecord({ name, type, ttlSecs, data }: DnsRecord): Uint8Array {
  const ttl = [ttlSecs >>> 16, ttlSecs & 0xffff];
  return joinBytes([encodeDnsName(name), uint16s(type, CLASS_IN, ...ttl, data.length), data]);
}

/** Returns data in which the name of an alias is expanded and in lower case, the form that is signed. */
function canonicalData(
  bytes: Uint8Array,
  type: number,
  { start, end }: { readonly start: number; readonly end: number },
): Uint8Array {
  if (type !== TYPE.CNAME && type !== TYPE.DNAME) return bytes.slice(start, end);
  const target = readDnsName(bytes.subarray(0, end), start, { pointers: true });
  if (target.end !== end) invalidDns('has an alias with bytes after its target');
  return encodeDnsName(target.name);
}

function times<T>(count: number, read: () => T): T[] {
  const all: T[] = [];
  while (all.length < count) all.push(read());
  return all;
}

function uint16s(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value >> 8, value & 0xff]));
}
