import { expect, test } from 'bun:test';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { fileMeasurement } from '../../src/lib/measurement.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

test('a measurement is the SHA-256 of the whole file, also where it is longer than what is read at a time', async () => {
  const folder = temporaryFolder('measurement');
  try {
    for (const length of [0, 1, 256 * 1024, 600_001]) {
      const content = Uint8Array.from({ length }, (_, at) => at % 251);
      const file = join(folder, String(length));
      writeFileSync(file, content);
      expect(await fileMeasurement(file)()).toBe(hex.encode(sha256(content)));
    }
  } finally {
    removeFolder(folder);
  }
});

test('a measurement is that of the file that was there first, also where another takes its place before it is read', async () => {
  const folder = temporaryFolder('replaced');
  try {
    const [file, newer] = [join(folder, 'program'), join(folder, 'newer')];
    writeFileSync(file, 'first');
    const measurement = fileMeasurement(file);
    writeFileSync(newer, 'second');
    renameSync(newer, file);
    expect(await measurement()).toBe(hex.encode(sha256(new TextEncoder().encode('first'))));
    expect(await measurement()).toBe(await measurement());
  } finally {
    removeFolder(folder);
  }
});
