import { createHash } from 'node:crypto';
import { readMachO, SEGMENT, SIGNATURE } from './mach-o.ts';

/*
 * The signature of a Mach-O file is a "super blob" with a "code directory", which holds a SHA-256 for each page of what
 * is before the signature. Numbers in it are big-endian. Names are those of Apple's cs_blobs.h (XNU).
 */
const CSMAGIC_EMBEDDED_SIGNATURE = 0xfade0cc0;
const CSMAGIC_CODEDIRECTORY = 0xfade0c02;
const CSSLOT_CODEDIRECTORY = 0;
const CS_ADHOC = 0x2;
/** Says that the signature came with the program, so that a tool for signing may replace it without being forced. */
const CS_LINKER_SIGNED = 0x20000;
const CS_SUPPORTSEXECSEG = 0x20400;
const CS_HASHTYPE_SHA256 = 2;
const CS_EXECSEG_MAIN_BINARY = 0x1;

const HASH_SIZE = 32;
const PAGE_BITS = 12;
const PAGE = 1 << PAGE_BITS;
/** Segments end on pages of this size in memory; it is that of arm64, and a multiple of that of x64. */
const MEMORY_PAGE = 0x4000;
const SUPER_BLOB_SIZE = 20;
const DIRECTORY_SIZE = 88;

/**
 * Returns a Mach-O file with an ad hoc signature in the place of the one that it had: hashes of every page, and no
 * identity. macOS runs no program for arm64 without one, and ends one whose pages do not fit.
 */
export function adHocSigned(original: Uint8Array, identifier: string): Uint8Array {
  const { signatureOffset, signatureCommand, linkEditCommand, linkEditOffset, ...text } =
    readMachO(original);
  const pages = Math.ceil(signatureOffset / PAGE);
  const hashOffset = DIRECTORY_SIZE + identifier.length + 1;
  const directorySize = hashOffset + pages * HASH_SIZE;
  const size = SUPER_BLOB_SIZE + directorySize;
  const file = Buffer.alloc(signatureOffset + size);
  file.set(original.subarray(0, signatureOffset));
  // These are on signed pages, so they come before the hashes.
  file.writeUInt32LE(size, signatureCommand + SIGNATURE.size);
  const linkEditSize = file.length - linkEditOffset;
  const inMemory = Math.ceil(linkEditSize / MEMORY_PAGE) * MEMORY_PAGE;
  file.writeBigUInt64LE(BigInt(linkEditSize), linkEditCommand + SEGMENT.fileSize);
  file.writeBigUInt64LE(BigInt(inMemory), linkEditCommand + SEGMENT.memorySize);

  const superBlob = file.subarray(signatureOffset);
  for (const [i, value] of [
    CSMAGIC_EMBEDDED_SIGNATURE,
    size,
    1,
    CSSLOT_CODEDIRECTORY,
    SUPER_BLOB_SIZE,
  ].entries())
    superBlob.writeUInt32BE(value, i * 4);
  const directory = superBlob.subarray(SUPER_BLOB_SIZE);
  for (const [i, value] of [
    CSMAGIC_CODEDIRECTORY,
    directorySize,
    CS_SUPPORTSEXECSEG,
    CS_ADHOC | CS_LINKER_SIGNED,
    hashOffset,
    DIRECTORY_SIZE,
    0,
    pages,
    signatureOffset,
  ].entries())
    directory.writeUInt32BE(value, i * 4);
  directory.set([HASH_SIZE, CS_HASHTYPE_SHA256, 0, PAGE_BITS], 36);
  directory.writeBigUInt64BE(BigInt(text.textOffset), 64);
  directory.writeBigUInt64BE(BigInt(text.textSize), 72);
  directory.writeBigUInt64BE(BigInt(CS_EXECSEG_MAIN_BINARY), 80);
  directory.write(identifier, DIRECTORY_SIZE, 'latin1');
  for (let page = 0; page < pages; page++)
    directory.set(hashOf(file, page, signatureOffset), hashOffset + page * HASH_SIZE);
  return file;
}

/**
 * Returns what is wrong with the signature of a Mach-O file, as sentences; none where it signs all that is before it and
 * the hash of every page fits.
 */
export function signatureProblems(bytes: Uint8Array): string[] {
  const { signatureOffset, signatureSize, linkEditCommand, linkEditOffset } = readMachO(bytes);
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const problems: string[] = [];
  const linkEditSize = Number(file.readBigUInt64LE(linkEditCommand + SEGMENT.fileSize));
  if (signatureOffset + signatureSize !== file.length)
    problems.push('The signature does not end with the file.');
  if (linkEditOffset + linkEditSize !== file.length)
    problems.push('The segment __LINKEDIT does not end with the file.');
  const directory = codeDirectory(file.subarray(signatureOffset));
  if (directory === null) return [...problems, 'There is no code directory.'];
  const codeLimit = directory.readUInt32BE(32);
  const [hashSize, hashType, , pageBits] = directory.subarray(36, 40);
  if (codeLimit !== signatureOffset)
    problems.push(`It signs ${codeLimit} bytes of the ${signatureOffset} before it.`);
  if (hashSize !== HASH_SIZE || hashType !== CS_HASHTYPE_SHA256 || pageBits !== PAGE_BITS)
    return [...problems, 'Its hashes are not SHA-256 of pages of 4,096 bytes.'];
  const hashes = directory.subarray(directory.readUInt32BE(16));
  const slots = directory.readUInt32BE(28);
  if (slots !== Math.ceil(codeLimit / PAGE)) problems.push('It has not one hash for each page.');
  const wrong = Array.from({ length: slots }, (_, page) => page).filter((page) => {
    const hash = hashes.subarray(page * HASH_SIZE, (page + 1) * HASH_SIZE);
    return !hash.equals(hashOf(file, page, codeLimit));
  });
  if (wrong.length > 0)
    problems.push(
      `${wrong.length} of ${slots} page hashes do not fit, the first of page ${wrong[0]}.`,
    );
  return problems;
}

/** Finds the code directory in a signature; null where there is none. */
function codeDirectory(signature: Buffer): Buffer | null {
  if (signature.length < SUPER_BLOB_SIZE) return null;
  if (signature.readUInt32BE(0) !== CSMAGIC_EMBEDDED_SIGNATURE) return null;
  const count = signature.readUInt32BE(8);
  for (let i = 0; i < count; i++) {
    if (signature.readUInt32BE(12 + i * 8) !== CSSLOT_CODEDIRECTORY) continue;
    const blob = signature.subarray(signature.readUInt32BE(16 + i * 8));
    return blob.readUInt32BE(0) === CSMAGIC_CODEDIRECTORY ? blob : null;
  }
  return null;
}

function hashOf(file: Uint8Array, page: number, end: number): Buffer {
  const bytes = file.subarray(page * PAGE, Math.min((page + 1) * PAGE, end));
  return createHash('sha256').update(bytes).digest();
}
