import { crc32, deflateRawSync } from 'node:zlib';
import { ARCHIVE_TIME, type ArchivedFile, byPath, modeOf } from './archived-file.ts';

const VERSION_NEEDED = 20;
/** The high byte says that the permissions are those of Unix. */
const MADE_BY_UNIX = (3 << 8) | VERSION_NEEDED;
const UTF8_NAMES = 1 << 11;
const DEFLATED = 8;
const REGULAR_FILE = 0o100000;

/** Returns a `.zip` of the files, sorted by name, with a fixed time. */
export function zipped(files: readonly ArchivedFile[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const file of byPath(files)) {
    const name = Buffer.from(file.path);
    const packed = deflateRawSync(file.bytes);
    const shared = sharedFields(file, name, packed);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, u16(0), name, packed]);
    parts.push(local);
    directory.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02'),
        u16(MADE_BY_UNIX),
        shared,
        // No extra field, no comment, the first disk, no internal attributes.
        ...[0, 0, 0, 0].map(u16),
        u32(((REGULAR_FILE | modeOf(file)) << 16) >>> 0),
        u32(offset),
        name,
      ]),
    );
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const count = u16(directory.length);
  const end = [u16(0), u16(0), count, count, u32(listed.length), u32(offset), u16(0)];
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), ...end]);
}

/** The fields that a file's header and its line of the directory have in common. */
function sharedFields(file: ArchivedFile, name: Uint8Array, packed: Uint8Array): Uint8Array {
  const year = ARCHIVE_TIME.getUTCFullYear() - 1980;
  const date = (year << 9) | ((ARCHIVE_TIME.getUTCMonth() + 1) << 5) | ARCHIVE_TIME.getUTCDate();
  return Buffer.concat([
    u16(VERSION_NEEDED),
    u16(UTF8_NAMES),
    u16(DEFLATED),
    u16(0),
    u16(date),
    u32(crc32(file.bytes)),
    u32(packed.length),
    u32(file.bytes.length),
    u16(name.length),
  ]);
}

function u16(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8);
}

function u32(value: number): Uint8Array {
  return Uint8Array.of(value, value >> 8, value >> 16, value >> 24);
}
