import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CodecError } from '../../src/codecs/codec-error.ts';
import {
  compareNames,
  type DnsName,
  decodeDnsAnswer,
  encodeDnsName,
  encodeDnsQuery,
  encodeDnsRecord,
  isBelow,
  isSameName,
  isWithin,
  parseDnsName,
  readAlias,
  readDnskey,
  readDs,
  readNsec,
  readNsec3,
  readRrsig,
  readTxt,
  showDnsName,
  TYPE,
} from '../../src/codecs/dns/index.ts';
import {
  answerBytes,
  nameBytes,
  type ServedRecord,
  TYPES,
  txtData,
  uint,
} from '../support/dns-writer.ts';
import { expectInvalid } from './expect-invalid.ts';

const QUESTION = { name: 'a.example', type: TYPES.TXT };
const refused = (bytes: Uint8Array, reason: RegExp) =>
  expectInvalid(() => decodeDnsAnswer(bytes), 'dns', reason);
const record = (name: string, type: number, data: Buffer, ttl = 60): ServedRecord => ({
  name,
  type,
  ttl,
  data,
});

describe('a question', () => {
  test('asks for signatures, without the judgement of the resolver (RFC 8484, RFC 4035)', () => {
    const hex = Buffer.from(encodeDnsQuery(parseDnsName('a.B'), TYPE.TXT)).toString('hex');
    expect(hex).toBe(
      ['00000110', '0001000000000001', '0161016200', '00100001', '000029ffff000080000000'].join(''),
    );
  });
});

describe('an answer', () => {
  test('is read with its question and the records of class IN of all sections', () => {
    const bytes = answerBytes(QUESTION, [
      record('A.example', TYPES.TXT, txtData('x', 'y')),
      record('example', 41, Buffer.alloc(0)),
      record('example', TYPES.NSEC, nameBytes('example'), 2 ** 31),
    ]);
    // The records are in two sections.
    bytes.writeUInt16BE(1, 6);
    bytes.writeUInt16BE(2, 8);
    const answer = decodeDnsAnswer(bytes);
    expect(answer).toMatchObject({ responseCode: 0, truncated: false });
    expect(answer.questions).toEqual([{ name: ['a', 'example'], type: 16 }]);
    expect(answer.records).toMatchObject([
      { name: ['a', 'example'], type: 16, ttlSecs: 60 },
      // A TTL with its highest bit set counts as zero (RFC 2181 section 8).
      { name: ['example'], type: 47, ttlSecs: 0 },
    ]);
    const chaos = answerBytes(QUESTION, [record('a.example', TYPES.TXT, txtData('x'))]);
    chaos.writeUInt16BE(3, chaos.indexOf(uint(2, TYPES.TXT, 1), 30) + 2);
    expect(decodeDnsAnswer(chaos).records).toEqual([]);
  });

  test('may have compressed names, and aliases in any case', () => {
    const head = answerBytes(QUESTION, []);
    head.writeUInt16BE(1, 6);
    const pointer = Buffer.from([0xc0, 12]);
    const target = Buffer.concat([Buffer.from([1, 0x42]), pointer]);
    const rest = Buffer.concat([uint(2, TYPES.CNAME, 1), uint(4, 60), uint(2, target.length)]);
    const { records } = decodeDnsAnswer(Buffer.concat([head, pointer, rest, target]));
    expect(records).toMatchObject([{ name: ['a', 'example'], type: 5 }]);
    expect(records[0]?.data).toEqual(encodeDnsName(['b', 'a', 'example']));
  });

  test('with more than 200 records is refused, before their long compressed names are read', () => {
    const many = (count: number) =>
      answerBytes(QUESTION, Array(count).fill(record('a', 16, txtData('x'))));
    expect(decodeDnsAnswer(many(199)).records).toHaveLength(199);
    refused(many(200), /more than 200 records/);
    // A name of 120 labels, to which every record points by two bytes.
    const name = `${'a.'.repeat(119)}a`;
    const bytes = answerBytes({ name, type: 16 }, []);
    const pointing = Buffer.concat([
      Buffer.from([0xc0, 12]),
      uint(2, 16, 1),
      uint(4, 60),
      uint(2, 0),
    ]);
    for (const section of [6, 8, 10]) {
      // A decoder that reads on before it counts finds that the second record is cut off.
      const cut = Buffer.concat([bytes, pointing]);
      cut.writeUInt16BE(1, section);
      expect(decodeDnsAnswer(cut).records).toHaveLength(1);
      cut.writeUInt16BE(10_000, section);
      refused(cut, /more than 200 records/);
    }
    const questions = Array(201).fill(QUESTION);
    refused(answerBytes(QUESTION, [], { questions }), /more than 200 records/);
  });

  test('that is cut anywhere, longer than it says, a question or of another kind is refused', () => {
    const whole = answerBytes(QUESTION, [record('a.example', TYPES.TXT, txtData('x'))]);
    for (let length = 0; length < whole.length; length++) {
      expect(() => decodeDnsAnswer(whole.subarray(0, length))).toThrow(CodecError);
    }
    refused(Buffer.concat([whole, Buffer.alloc(1)]), /bytes after its last record/);
    refused(answerBytes(QUESTION, [], { flags: 0x0100 }), /not an answer/);
    refused(answerBytes(QUESTION, [], { flags: 0x9000 }), /not an answer/);
    expect(decodeDnsAnswer(answerBytes(QUESTION, [], { flags: 0x8203 }))).toMatchObject({
      responseCode: 3,
      truncated: true,
    });
    const alias = Buffer.concat([nameBytes('a'), Buffer.alloc(1)]);
    refused(answerBytes(QUESTION, [record('a', TYPES.CNAME, alias)]), /after its target/);
  });

  test('with a name that leads forwards, in a circle, through too many places or past the end is refused', () => {
    const named = (...bytes: number[]) =>
      Buffer.concat([uint(2, 0, 0x8180, 1, 0, 0, 0), Buffer.from(bytes), uint(2, 16, 1)]);
    refused(named(0xc0, 12), /circle/);
    refused(named(0xc0, 14), /circle/);
    refused(named(1, 0x61, 0xc0, 14), /circle/);
    refused(named(0x40, 0), /unknown kind/);
    refused(named(0x80, 0), /unknown kind/);
    refused(named(63, 1), /middle of a name/);
    refused(named(...Array.from({ length: 130 }, () => [1, 0x61]).flat(), 0), /too long/);
    const many = Array.from({ length: 200 }, (_, at) => [0xc0, 12 + Math.max(0, 2 * at - 2)]);
    refused(named(...many.flat()), /circle|middle/);
  });
});

test('a record is written with its name in full (RFC 1035 section 3.2.1)', () => {
  const data = txtData('x');
  const ttl = 2 ** 31 - 2;
  const written = encodeDnsRecord({ name: ['a', 'example'], type: TYPE.TXT, ttlSecs: ttl, data });
  const answer = answerBytes(QUESTION, [record('a.example', TYPES.TXT, data, ttl)]);
  expect(written).toEqual(new Uint8Array(answer.subarray(-written.length)));
});

describe('a name', () => {
  test('has labels of 1 to 63 bytes and 255 bytes in all', () => {
    const label = 'a'.repeat(63);
    expect(parseDnsName(`${label}.${label}.${label}.${'a'.repeat(61)}.`)).toHaveLength(4);
    const long = /too long/;
    expectInvalid(() => parseDnsName(`${label}.${label}.${label}.${'a'.repeat(62)}`), 'dns', long);
    for (const bad of [`${label}a`, 'a..b', '.a', 'a..']) {
      expectInvalid(() => parseDnsName(bad), 'dns', /wrong length/);
    }
    for (const bad of ['a b', 'ä', 'a\\046b', '\u0000']) {
      expectInvalid(() => parseDnsName(bad), 'dns', /characters that are not allowed/);
    }
    expect(parseDnsName('')).toEqual([]);
    expect(parseDnsName('.')).toEqual([]);
    expect(parseDnsName('A_b.Example.')).toEqual(['a_b', 'example']);
  });

  test('is shown with bytes that are no letters escaped (RFC 1035), so that no two look alike', () => {
    expect(showDnsName(['a.b', 'c\\', '\u0000\u00e2 '])).toBe('a\\.b.c\\\\.\\000\\226\\032');
    expect(showDnsName([])).toBe('.');
    expect(isSameName(['a.b'], ['a', 'b'])).toBe(false);
  });

  test('is within zones by whole labels', () => {
    const name = parseDnsName('a.b.example');
    expect(isWithin(name, parseDnsName('b.example'))).toBe(true);
    expect(isWithin(name, name)).toBe(true);
    expect(isWithin(name, [])).toBe(true);
    expect(isBelow(name, name)).toBe(false);
    expect(isBelow(name, parseDnsName('example'))).toBe(true);
    expect(isWithin(name, parseDnsName('ample'))).toBe(false);
    expect(isWithin(parseDnsName('b.example'), name)).toBe(false);
    expect(isWithin(['a.b', 'example'], parseDnsName('b.example'))).toBe(false);
  });

  test('sorts in canonical order (the example of RFC 4034 section 6.1)', () => {
    const ordered: DnsName[] = [
      ['example'],
      ['a', 'example'],
      ['yljkjljk', 'a', 'example'],
      ['z', 'a', 'example'],
      ['zabc', 'a', 'example'],
      ['z', 'example'],
      ['\u0001', 'z', 'example'],
      ['*', 'z', 'example'],
      ['\u00c8', 'z', 'example'],
    ];
    expect(ordered.toReversed().sort(compareNames)).toEqual(ordered);
    expect(compareNames(['a'], ['a'])).toBe(0);
  });
});

describe('the data of a record', () => {
  test('of a list of types must have its windows in order and of 1 to 32 bytes (RFC 4034)', () => {
    const types = (...bytes: number[]) =>
      readNsec(Buffer.concat([nameBytes('a'), Buffer.from(bytes)])).types;
    expect([...types(0, 1, 0x40, 1, 1, 0x80)]).toEqual([1, 256]);
    const wrong = /wrong list/;
    for (const bad of [
      [0, 0],
      [0, 33, ...Buffer.alloc(33)],
      [1, 1, 1, 0, 1, 1],
      [0, 1, 1, 0, 1, 1],
    ]) {
      expectInvalid(() => types(...bad), 'dns', wrong);
    }
    expectInvalid(() => types(0, 2, 1), 'dns', /ends in the middle/);
  });

  test('of a text is whole strings', () => {
    expect(Buffer.from(readTxt(txtData('a', '', 'b'))).toString()).toBe('ab');
    expectInvalid(() => readTxt(Buffer.from([2, 0x61])), 'dns', /ends in the middle/);
  });

  test('of a signature may not have a compressed signer', () => {
    const data = Buffer.concat([Buffer.alloc(18), Buffer.from([0xc0, 0]), Buffer.alloc(8)]);
    expectInvalid(() => readRrsig(data), 'dns', /compressed/);
  });
});

describe('no bytes make a reader throw anything but a codec error, or hang', () => {
  const calm = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
    }
  };
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength });

  test('random data of records', () => {
    const readers = [readRrsig, readDnskey, readDs, readNsec, readNsec3, readTxt, readAlias];
    fc.assert(
      fc.property(bytes(300), (data) => {
        for (const read of readers) calm(() => read(data));
      }),
      { numRuns: 500 },
    );
  });

  test('random messages, with and without a header that fits', () => {
    fc.assert(
      fc.property(bytes(600), fc.nat(8), (data, count) => {
        calm(() => decodeDnsAnswer(data));
        const head = uint(2, 0, 0x8180, 1, count, count, 0);
        calm(() => decodeDnsAnswer(Buffer.concat([head, data])));
      }),
      { numRuns: 500 },
    );
  });

  test('good messages with bytes changed, pointers among them', () => {
    const good = answerBytes(QUESTION, [
      record('a.example', TYPES.CNAME, nameBytes('b.example')),
      record('b.example', TYPES.TXT, txtData('x'.repeat(200))),
      record('example', TYPES.NSEC, Buffer.concat([nameBytes('z'), Buffer.from([0, 1, 1])])),
    ]);
    const change = fc.tuple(fc.nat(good.length - 1), fc.oneof(fc.nat(255), fc.constant(0xc0)));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const bad = Buffer.from(good);
        for (const [at, byte] of changes) bad[at] = byte;
        calm(() => decodeDnsAnswer(bad));
      }),
      { numRuns: 1000 },
    );
  });

  test('the longest message, all of pointers', () => {
    const pointers = Buffer.alloc(65_000, 0xc0);
    for (let at = 1; at < pointers.length; at += 2) pointers[at] = at % 256;
    const head = uint(2, 0, 0x8180, 0xffff, 0xffff, 0xffff, 0xffff);
    calm(() => decodeDnsAnswer(Buffer.concat([head, pointers])));
  });

  test('and every name that is read is written the same', () => {
    const label = fc
      .uint8Array({ minLength: 1, maxLength: 63 })
      .map((data) => Buffer.from(data).toString('latin1').replace(/[A-Z]/g, 'a'));
    fc.assert(
      fc.property(fc.array(label, { maxLength: 3 }), (labels) => {
        expect(readAlias(encodeDnsName(labels))).toEqual(labels);
      }),
    );
  });
});
