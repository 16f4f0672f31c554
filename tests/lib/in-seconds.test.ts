import { expect, test } from 'bun:test';
import { inSeconds } from '../../src/lib/in-seconds.ts';

test('one second is no seconds', () => {
  expect([0, 0.3, 1, 2].map(inSeconds)).toEqual([
    '0 seconds',
    '0.3 seconds',
    '1 second',
    '2 seconds',
  ]);
});
