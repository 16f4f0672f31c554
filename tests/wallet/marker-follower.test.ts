import { beforeEach, expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import { markerFollower } from '../../src/wallet/marker-follower.ts';
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
const at = (count: number, storeId = OURS) => ({ storeId, count });

test('the marker of a process that stands by follows the store, and is made where there was none', () => {
  const one = follower();
  one.follow(at(5));
  expect(marker.mark).toEqual(at(5));
  nowMs = 3000;
  one.follow(at(9));
  expect(marker.mark).toEqual(at(9));
  expect(logged).toEqual([]);
});

test('it is written no more than every 2 seconds, since each write waits for the disk', () => {
  const one = follower();
  for (nowMs = 0; nowMs < 2000; nowMs += 250) one.follow(at(5 + nowMs));
  expect(marker.mark).toEqual(at(5));
  one.follow(at(90));
  expect(marker.mark).toEqual(at(90));
});

test('a marker that is ahead of the store stays, so that a restored store is noticed, and is warned of once', () => {
  marker.mark = at(100);
  const one = follower();
  one.follow(at(50));
  nowMs = 3000;
  one.follow(at(51));
  expect(marker.mark).toEqual(at(100));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toMatch(/does not fit the database, which was restored or replaced/);
});

test('the marker of another store stays', () => {
  marker.mark = at(3, 'bb');
  follower().follow(at(50));
  expect(marker.mark).toEqual(at(3, 'bb'));
  expect(logged).toHaveLength(1);
});
