import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitOf } from '../../packaging/commit.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { commitAll, initialized } from './clone.ts';
import { isMissing } from './folder.ts';

setDefaultTimeout(SLOW_TEST_MS);

describe.skipIf(isMissing('git'))('the commit that a build names', () => {
  let folder = temporaryFolder('commit');
  beforeEach(() => {
    removeFolder(folder);
    folder = temporaryFolder('commit');
    writeFileSync(join(folder, 'file'), 'one');
  });
  afterAll(() => removeFolder(folder));

  test('is the one that is checked out', async () => {
    await initialized(folder);
    const commit = await commitAll(folder);
    expect(await commitOf(folder)).toBe(commit.slice(0, 12));
  });

  test('says so where a file was changed since, or is new', async () => {
    await initialized(folder);
    const modified = `${(await commitAll(folder)).slice(0, 12)}-modified`;
    writeFileSync(join(folder, 'file'), 'two');
    expect(await commitOf(folder)).toBe(modified);
    writeFileSync(join(folder, 'file'), 'one');
    writeFileSync(join(folder, 'other'), 'new');
    expect(await commitOf(folder)).toBe(modified);
  });

  test('is unknown outside a clone, and in one without a commit', async () => {
    expect(await commitOf(folder)).toBe('unknown');
    await initialized(folder);
    expect(await commitOf(folder)).toBe('unknown');
  });

  test('is unknown in a folder within the clone of something else', async () => {
    await initialized(folder);
    await commitAll(folder);
    const within = join(folder, 'within');
    mkdirSync(within);
    expect(await commitOf(within)).toBe('unknown');
  });
});
