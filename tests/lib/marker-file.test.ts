import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MarkerUnreadable, openMarker } from '../../src/lib/files/marker-file.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

const A = 'aa'.repeat(16);
const B = 'bb'.repeat(16);

let folder = '';
let dataDir = '';
let beside = '';
let inside = '';
beforeEach(() => {
  folder = temporaryFolder('marker');
  dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  beside = `${dataDir}.marker`;
  inside = join(dataDir, 'marker');
});
afterEach(() => removeFolder(folder));

/** A mark with a word of its own for each store and count. */
const mark = (storeId: string, count: number) => ({
  storeId,
  count,
  word: `${storeId.slice(0, 4)}${`${count}`.padStart(12, '0')}`,
});
const open = (markerPath: string | null = null) => openMarker({ dataDir, markerPath });

describe('where the marker is', () => {
  test('beside the data directory by default, with a slash at its end too', async () => {
    await open().write(mark(A, 1));
    expect(open()).toMatchObject({ path: beside, warning: null });
    expect(openMarker({ dataDir: `${dataDir}/`, markerPath: null }).path).toBe(beside);
    expect(readFileSync(beside, 'utf8')).toBe(`${JSON.stringify(mark(A, 1))}\n`);
    expect(statSync(beside).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test('where it is configured', async () => {
    const path = join(folder, 'm');
    await open(path).write(mark(A, 1));
    expect(open(path).read()).toEqual(mark(A, 1));
    expect(existsSync(beside)).toBe(false);
  });

  test('inside the data directory, with a warning that names --marker-path, where nothing can be written beside it', async () => {
    mkdirSync(`${beside}.new`);
    const marker = open();
    expect(marker.path).toBe(inside);
    expect(marker.warning).toMatch(
      new RegExp(`^${beside} cannot be written\\. .*--marker-path\\.$`),
    );
    await marker.write(mark(A, 3));
    expect(open().read()).toEqual(mark(A, 3));
    rmSync(`${beside}.new`, { recursive: true });
    expect(open()).toMatchObject({ path: beside, warning: null });
    expect(open().read()).toEqual(mark(A, 3));
  });

  test('nowhere else, once it exists beside or is configured: then the start is refused', async () => {
    await open().write(mark(A, 1));
    mkdirSync(`${beside}.new`);
    expect(() => open()).toThrow(/^\S+\.marker cannot be .*--marker-path\.$/);
    expect(() => open(join(folder, 'none', 'm'))).toThrow(
      `${join(folder, 'none', 'm')} lies in a directory that does not exist: create that, or name another file with --marker-path.`,
    );
  });

  test('in memory for a data directory in memory', async () => {
    const marker = openMarker({ dataDir: ':memory:', markerPath: join(folder, 'm') });
    expect(marker).toMatchObject({ path: null, warning: null });
    expect(marker.read()).toBeNull();
    await marker.write(mark(A, 2));
    await marker.write(mark(A, 1));
    expect(marker.read()).toEqual(mark(A, 2));
    expect(readdirSync(folder)).toEqual(['data']);
  });
});

describe('what is read', () => {
  test('is null before anything was written', () => {
    expect(open().read()).toBeNull();
  });

  test('is never guessed: content that is no marker is an error of its own', async () => {
    const texts = ['', '{', 'null', '[]', '{}', `{"storeId":"${A}"}`, '{"storeId":"xy","count":1}'];
    const words = ['""', '"xy"', '"a"', '7'].map(
      (word) => `{"storeId":"${A}","count":1,"word":${word}}`,
    );
    const counts = ['-1', '1.5', '"1"', '1e99'].map(
      (count) => `{"storeId":"${A}","count":${count}}`,
    );
    for (const text of [...texts, ...counts, ...words]) {
      writeFileSync(beside, text);
      expect(() => open().read()).toThrow(MarkerUnreadable);
    }
    await open().write(mark(A, 1));
    expect(open().read()).toEqual(mark(A, 1));
  });
});

describe('a marker of an earlier version', () => {
  test('has no word, and is read; the next mark has one', async () => {
    writeFileSync(beside, `{"storeId":"${A}","count":7}\n`);
    const marker = open();
    expect(marker.read()).toEqual({ storeId: A, count: 7, word: null });
    await marker.write(mark(A, 8));
    expect(open().read()).toEqual(mark(A, 8));
  });

  test('of a store without words is written as before', async () => {
    await open().write({ storeId: A, count: 7, word: null });
    expect(readFileSync(beside, 'utf8')).toBe(`{"storeId":"${A}","count":7}\n`);
  });
});

describe('what is written', () => {
  test('is ordered and joined, and the newest is what stays', async () => {
    const marker = open();
    const first = marker.write(mark(A, 1));
    await Promise.resolve();
    const counts = Array.from({ length: 199 }, (_, i) => i + 2);
    const seen = counts.map(async (count) => {
      await marker.write(mark(A, count));
      return marker.read()?.count;
    });
    await first;
    expect(marker.read()?.count).toBe(1);
    // All writes that were requested meanwhile share one, and none of them resolves before it ends.
    expect(new Set(await Promise.all(seen))).toEqual(new Set([200]));
    expect(marker.read()).toEqual(mark(A, 200));
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'data.marker']);
  });

  test('never goes back for the same store, also after a restart, and does for another store', async () => {
    await open().write(mark(A, 5));
    const marker = open();
    await marker.write(mark(A, 4));
    await Promise.all([
      marker.write(mark(A, 9)),
      marker.write(mark(A, 8)),
      marker.write(mark(A, 7)),
    ]);
    expect(marker.read()).toEqual(mark(A, 9));
    await marker.write(mark(B, 1));
    expect(open().read()).toEqual(mark(B, 1));
  });

  test('fails for those who asked while the disk does not take it, and works again afterwards', async () => {
    const marker = open();
    await marker.write(mark(A, 1));
    mkdirSync(`${beside}.new`);
    const [first, second] = await Promise.allSettled([
      marker.write(mark(A, 2)),
      marker.write(mark(A, 3)),
    ]);
    expect([first.status, second.status]).toEqual(['rejected', 'rejected']);
    expect(marker.read()).toEqual(mark(A, 1));
    rmSync(`${beside}.new`, { recursive: true });
    await marker.write(mark(A, 2));
    expect(marker.read()).toEqual(mark(A, 2));
  });

  test('survives a kill before, while and after the second file is written', async () => {
    await open().write(mark(A, 1));
    for (const left of ['', '{"storeId":"', `${JSON.stringify(mark(A, 2))}\n`]) {
      writeFileSync(`${beside}.new`, left);
      chmodSync(`${beside}.new`, 0o666);
      const marker = open();
      expect(marker.read()).toEqual(mark(A, 1));
    }
    writeFileSync(`${beside}.new`, `${JSON.stringify(mark(A, 2))}\n`, { mode: 0o600 });
    renameSync(`${beside}.new`, beside);
    const marker = open();
    expect(marker.read()).toEqual(mark(A, 2));
    await marker.write(mark(A, 3));
    expect(open().read()).toEqual(mark(A, 3));
    expect(statSync(beside).mode & 0o777).toBe(0o600);
  });
});
