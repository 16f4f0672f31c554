import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { adHocSigned, signatureProblems } from '../../packaging/code-signature.ts';
import { BINARIES } from '../../packaging/platforms.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { ROOT } from './folder.ts';

setDefaultTimeout(SLOW_TEST_MS);

const CODE_SIZE = 3 * 4096;
const LINK_EDIT = 10_000;
const CODE_END = CODE_SIZE + LINK_EDIT;

/** A Mach-O file with the three load commands that a signature depends on, and room for a signature of `size` bytes. */
function machO(size: number): Buffer {
  const file = Buffer.alloc(CODE_END + size);
  file.fill(0xc3, 1024, CODE_END);
  file.writeUInt32LE(0xfeedfacf, 0);
  file.writeUInt32LE(3, 16);
  const segment = (at: number, name: string, offset: number, length: number) => {
    file.writeUInt32LE(0x19, at);
    file.writeUInt32LE(72, at + 4);
    file.write(name, at + 8);
    file.writeBigUInt64LE(BigInt(offset), at + 40);
    file.writeBigUInt64LE(BigInt(length), at + 48);
  };
  segment(32, '__TEXT', 0, CODE_SIZE);
  segment(104, '__LINKEDIT', CODE_SIZE, LINK_EDIT + size);
  file.writeUInt32LE(0x1d, 176);
  file.writeUInt32LE(16, 180);
  file.writeUInt32LE(CODE_END, 184);
  file.writeUInt32LE(size, 188);
  return file;
}

describe('an ad hoc signature', () => {
  test('replaces the one that the file had, and fits every page', () => {
    for (const size of [0, 64, 9000]) {
      expect(signatureProblems(machO(size))).not.toEqual([]);
      const signed = adHocSigned(machO(size), 'wallet-sidecar');
      expect(signatureProblems(signed)).toEqual([]);
      expect(signed.subarray(1024, CODE_END)).toEqual(machO(size).subarray(1024, CODE_END));
    }
  });

  test('is the same when it is made again', () => {
    const once = adHocSigned(machO(9000), 'wallet-sidecar');
    expect(Buffer.from(adHocSigned(once, 'wallet-sidecar')).equals(once)).toBe(true);
  });

  test('has the code directory of version 2.4, without identity, and the extent of the code', () => {
    const signature = Buffer.from(adHocSigned(machO(0), 'name')).subarray(CODE_END);
    const numbers = (at: number, count: number) =>
      Array.from({ length: count }, (_, i) => signature.readUInt32BE(at + i * 4));
    const pages = Math.ceil(CODE_END / 4096);
    const size = 88 + 5 + pages * 32;
    expect(numbers(0, 5)).toEqual([0xfade0cc0, 20 + size, 1, 0, 20]);
    expect(numbers(20, 9)).toEqual([
      0xfade0c02,
      size,
      0x20400,
      0x20002,
      93,
      88,
      0,
      pages,
      CODE_END,
    ]);
    expect([...signature.subarray(56, 60)]).toEqual([32, 2, 0, 12]);
    expect(numbers(20 + 64, 6)).toEqual([0, 0, 0, CODE_SIZE, 0, 1]);
    expect(signature.toString('latin1', 108, 113)).toBe('name\0');
    expect(signature.length).toBe(20 + size);
  });

  test('does not fit once a byte before it is another one, whatever page it is on', () => {
    for (const at of [0x300, 5000, CODE_END - 1]) {
      const file = Buffer.from(adHocSigned(machO(0), 'wallet-sidecar'));
      file[at] = 1;
      expect(signatureProblems(file)).toEqual([
        `1 of 6 page hashes do not fit, the first of page ${Math.floor(at / 4096)}.`,
      ]);
    }
  });

  test('does not fit a file that grew since', () => {
    const file = adHocSigned(machO(0), 'wallet-sidecar');
    expect(signatureProblems(Buffer.concat([file, new Uint8Array(1)]))).toEqual([
      'The signature does not end with the file.',
      'The segment __LINKEDIT does not end with the file.',
    ]);
  });

  test('is made for Mach-O files alone', () => {
    expect(() => adHocSigned(Buffer.alloc(4096), 'x')).toThrow('not a Mach-O file');
  });
});

for (const binary of Object.keys(BINARIES).filter((name) => name.includes('darwin'))) {
  const file = join(ROOT, 'dist', binary);
  const isBuilt = existsSync(file);
  if (!isBuilt) console.warn(`SKIPPED: ${binary} was not built, so its signature is NOT checked.`);
  test.skipIf(!isBuilt)(`the signature of ${binary} fits every page`, () => {
    expect(signatureProblems(readFileSync(file))).toEqual([]);
  });
}
