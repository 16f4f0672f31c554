import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
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
