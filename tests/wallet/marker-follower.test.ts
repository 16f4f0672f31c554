import { beforeEach, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import type { Lineage } from '../../src/store/ports.ts';
import { markerFollower } from '../../src/wallet/budget/marker-follower.ts';
import { memoryMarker } from '../support/memory-marker.ts';

const OURS = 'aa';
let marker: ReturnType<typeof memoryMarker>;
let logged: string[];
let nowMs: number;
beforeEach(() => {
  marker = memoryMarker();
  logged = [];
  nowMs = 0;
});

function follower() {
  const log = openLog({ level: 'warn', format: 'text', write: (line) => logged.push(line) });
  return markerFollower(marker, { log, elapsedMs: () => nowMs });
}
const wordOf = (count: number) => `${count}`.padStart(16, '0');
const markAt = (count: number, storeId = OURS) => ({ storeId, count, word: wordOf(count) });
/** A look at the store that has come to this count. */
const at = (count: number, seen: { lineage?: Lineage; isUnconfirmed?: boolean } = {}) => ({
  storeId: OURS,
  newest: { count, word: wordOf(count) },
  lineage: seen.lineage ?? 'same',
  isUnconfirmed: seen.isUnconfirmed ?? false,
});

test('the marker of a process that stands by follows the store, and is made where there was none', () => {
  const one = follower();
  one.follow(at(5));
  expect(marker.mark).toEqual(markAt(5));
  nowMs = 3000;
  one.follow(at(9));
  expect(marker.mark).toEqual(markAt(9));
  expect(logged).toEqual([]);
});

test('it is written no more than every 2 seconds, since each write waits for the disk', () => {
  const one = follower();
  for (nowMs = 0; nowMs < 2000; nowMs += 250) one.follow(at(5 + nowMs));
  expect(marker.mark).toEqual(markAt(5));
  one.follow(at(90_000));
  expect(marker.mark).toEqual(markAt(90_000));
});

test('what was seen is compared before it is written, and is written before the process takes over', async () => {
  const one = follower();
  expect(one.marked()).toBeNull();
  one.follow(at(5));
  nowMs = 250;
  one.follow(at(6));
  expect([marker.mark, one.marked()]).toEqual([markAt(5), markAt(6)]);
  await one.settle();
  expect(marker.mark).toEqual(markAt(6));
});

test('a marker that is ahead of the store, or on another branch, stays and is warned of once', async () => {
  marker.mark = markAt(100);
  const one = follower();
  one.follow(at(50, { lineage: 'behind' }));
  nowMs = 3000;
  one.follow(at(151, { lineage: 'branched' }));
  await one.settle();
  expect([marker.mark, one.marked()]).toEqual([markAt(100), markAt(100)]);
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/does not fit the database, which was restored or replaced/);
});

test('the marker of another store stays', () => {
  marker.mark = markAt(3, 'bb');
  follower().follow(at(50));
  expect(marker.mark).toEqual(markAt(3, 'bb'));
  expect(logged).toHaveLength(1);
});

test('a store that is not confirmed is not followed, also where there was no marker', () => {
  const one = follower();
  one.follow(at(50, { isUnconfirmed: true }));
  expect([marker.mark, one.marked(), logged]).toEqual([null, null, []]);
  one.follow(at(51));
  expect(marker.mark).toEqual(markAt(51));
});
