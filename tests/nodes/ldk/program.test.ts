import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helperProgram } from '../../../src/nodes/ldk/process/program.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { hasLdkHelper } from '../../support/ldk-network.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

describe.skipIf(!hasLdkHelper())('the program of the LDK node in the data directory', () => {
  const dataDir = temporaryFolder('ldk-program');
  const bin = join(dataDir, 'bin');
  afterAll(() => removeFolder(dataDir));

  test('is the one of this version alone, whatever versions were used before', async () => {
    mkdirSync(bin);
    for (const name of ['ldk-helper-0123456789abcdef', 'ldk-helper-fedcba9876543210.part', 'mine'])
      writeFileSync(join(bin, name), 'other');
    const program = await helperProgram(dataDir);
    const path = await program.path();
    expect(path).toBe(join(bin, `ldk-helper-${program.measurement.slice(0, 16)}`));
    expect(readdirSync(bin).toSorted()).toEqual([path.slice(bin.length + 1), 'mine']);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test('is replaced where another program has its name', async () => {
    const path = await (await helperProgram(dataDir)).path();
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, 1000));
    await helperProgram(dataDir);
    expect(readFileSync(path).equals(whole)).toBe(true);
  });
});
