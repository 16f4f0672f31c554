import { gzipSync } from 'node:zlib';
import { ARCHIVE_TIME, type ArchivedFile, byPath, modeOf } from './archived-file.ts';

const BLOCK = 512;
/** The byte of gzip's header that names the packing system, and the value for "unknown" (RFC 1952). */
const GZIP_SYSTEM = 9;
const UNKNOWN_SYSTEM = 255;

/** Returns a `.tar` (POSIX ustar) of the files, sorted by name, with a fixed time and owner. */
export function tar(files: readonly ArchivedFile[]): Uint8Array {
  const blocks = byPath(files).flatMap((file) => [header(file), file.bytes, padding(file.bytes)]);
  return Buffer.concat([...blocks, new Uint8Array(2 * BLOCK)]);
}

/** Returns the `.tar.gz` of the same. */
export function tarGz(files: readonly ArchivedFile[]): Uint8Array {
  const packed = gzipSync(tar(files));
  packed[GZIP_SYSTEM] = UNKNOWN_SYSTEM;
  return packed;
}

function padding({ length }: Uint8Array): Uint8Array {
  return new Uint8Array((BLOCK - (length % BLOCK)) % BLOCK);
}

function header(file: ArchivedFile): Uint8Array {
  const block = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(file.path) > 100)
    throw new Error(`${file.path} is too long for the archive.`);
  block.write(file.path, 0);
  block.write(octal(modeOf(file), 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(file.bytes.length, 12), 124);
  block.write(octal(ARCHIVE_TIME.getTime() / 1000, 12), 136);
  // The checksum counts its own field as spaces.
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  block.write('root', 265);
  block.write('root', 297);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)} `, 148);
  return block;
}

/** A number as tar writes it, with a zero byte at the end; `width` counts that byte. */
function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
