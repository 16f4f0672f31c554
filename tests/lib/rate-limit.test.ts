import { expect, test } from 'bun:test';
import { rateLimit } from '../../src/lib/rate-limit.ts';

function limit(options: { burst?: number; perSec?: number; mostKeys?: number } = {}) {
  const clock = { ms: 0 };
  const { take } = rateLimit({
    ...{ burst: 2, perSec: 1, mostKeys: 3, elapsedMs: () => clock.ms },
    ...options,
  });
  return { take, clock };
}

test('a key has its burst at once, and then as many uses as it gets back', () => {
  const { take, clock } = limit();
  expect([take('a'), take('a'), take('a')]).toEqual([true, true, false]);
  clock.ms = 999;
  expect(take('a')).toBe(false);
  clock.ms = 1000;
  expect([take('a'), take('a')]).toEqual([true, false]);
});

test('a key that rests has no more than its burst', () => {
  const { take, clock } = limit();
  take('a');
  clock.ms = 3_600_000;
  expect([take('a'), take('a'), take('a')]).toEqual([true, true, false]);
});

test('one key takes nothing from another', () => {
  const { take } = limit({ burst: 1 });
  expect([take('a'), take('b'), take('a')]).toEqual([true, true, false]);
});

test('beyond the most keys the one that was used longest ago is forgotten', () => {
  const { take } = limit({ burst: 1 });
  for (const key of ['a', 'b', 'c']) take(key);
  expect(take('a')).toBe(false);
  expect(take('d')).toBe(true);
  expect(take('a')).toBe(false);
  expect(take('b')).toBe(true);
});
