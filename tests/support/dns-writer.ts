/** Writes DNS messages without the product's code, so that a mistake there cannot hide itself. */
export const TYPES = {
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  DNAME: 39,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  NSEC3: 50,
} as const;

/** A record as a server sends it. */
export interface ServedRecord {
  /** Dotted, without a dot at its end; the root is empty. A backslash keeps a dot inside a label. */
  readonly name: string;
  readonly type: number;
  readonly ttl: number;
  readonly data: Buffer;
}

/** Writes big-endian numbers, each in the given number of bytes. */
export function uint(bytes: 1 | 2 | 4, ...values: readonly number[]): Buffer {
  const all = values.map((value) => {
    const one = Buffer.alloc(bytes);
    one.writeUIntBE(value, 0, bytes);
    return one;
  });
  return Buffer.concat(all);
}

/** Returns the labels of a dotted name. */
export function labelsOf(name: string): string[] {
  return name === '' ? [] : name.split(/(?<!\\)\./).map((label) => label.replaceAll('\\.', '.'));
}

/** Writes a name in wire form, without changing its case. */
export function nameBytes(name: string): Buffer {
  const labels = labelsOf(name).map((label) => Buffer.from(label, 'latin1'));
  return Buffer.concat([...labels.flatMap((label) => [uint(1, label.length), label]), uint(1, 0)]);
}

/** Writes the data of a TXT record of these strings. */
export function txtData(...strings: readonly (string | Buffer)[]): Buffer {
  const all = strings.map((text) => Buffer.from(text as string));
  return Buffer.concat(all.flatMap((bytes) => [uint(1, bytes.length), bytes]));
}

/** Writes a text as one TXT record, cut into strings of 255 bytes. */
export function longTxtData(text: string): Buffer {
  const bytes = Buffer.from(text);
  const strings = Array.from({ length: Math.max(1, Math.ceil(bytes.length / 255)) }, (_, at) =>
    bytes.subarray(at * 255, (at + 1) * 255),
  );
  return txtData(...strings);
}

/** Writes the list of types of an NSEC or NSEC3, for types below 256. */
export function typeBitmap(types: readonly number[]): Buffer {
  if (types.length === 0) return Buffer.alloc(0);
  const bits = Buffer.alloc(Math.floor(Math.max(...types) / 8) + 1);
  for (const type of types) bits[type >> 3] = (bits[type >> 3] ?? 0) | (0x80 >> (type & 7));
  return Buffer.concat([uint(1, 0, bits.length), bits]);
}

/** Writes a record in wire form, without compression. */
export function recordBytes({ name, type, ttl, data }: ServedRecord): Buffer {
  const head = Buffer.concat([uint(2, type, 1), uint(4, ttl), uint(2, data.length)]);
  return Buffer.concat([nameBytes(name), head, data]);
}

/** The parts of an answer besides its records. */
export interface AnswerShape {
  readonly flags?: number;
  readonly questions?: readonly { readonly name: string; readonly type: number }[];
}

/** Writes an answer with these records to one question. */
export function answerBytes(
  question: { readonly name: string; readonly type: number },
  records: readonly ServedRecord[],
  { flags = 0x8180, questions = [question] }: AnswerShape = {},
): Buffer {
  const header = uint(2, 0, flags, questions.length, records.length, 0, 0);
  const asked = questions.map(({ name, type }) =>
    Buffer.concat([nameBytes(name), uint(2, type, 1)]),
  );
  return Buffer.concat([header, ...asked, ...records.map(recordBytes)]);
}

/** Reads the question in the `dns` parameter of a request (RFC 8484). */
export function questionOf(request: Request): { readonly name: string; readonly type: number } {
  const query = Buffer.from(new URL(request.url).searchParams.get('dns') ?? '', 'base64url');
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1) };
}
