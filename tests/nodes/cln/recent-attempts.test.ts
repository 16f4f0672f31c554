import { beforeEach, expect, test } from 'bun:test';
import { RecentAttempts } from '../../../src/nodes/cln/words/recent-attempts.ts';

const [HASH, OTHER] = ['ab'.repeat(32), 'cd'.repeat(32)];

let nowMs: number;
let recent: RecentAttempts;
beforeEach(() => {
  nowMs = 0;
  recent = new RecentAttempts(() => nowMs);
});

test('what was read counts once, and for less than a second since it was asked for', () => {
  recent.keep(HASH, [], 0);
  nowMs = 999;
  expect(recent.take(HASH)).toEqual([]);
  expect(recent.take(HASH)).toBeNull();
  recent.keep(HASH, [], 500);
  nowMs = 1500;
  expect(recent.take(HASH)).toBeNull();
});

test('what was read of one hash says nothing of another', () => {
  recent.keep(HASH, [], 0);
  expect(recent.take(OTHER)).toBeNull();
});
