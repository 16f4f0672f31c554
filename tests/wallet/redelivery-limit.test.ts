import { expect, test } from 'bun:test';
import { redeliveryLimit } from '../../src/wallet/read/redelivery-limit.ts';

test('a client has deliveries sent again a few times at once, and then at a steady rate, by id and by time apart', () => {
  let nowMs = 0;
  const limit = redeliveryLimit(() => nowMs);
  const taken = (by: 'id' | 'since', client = 'a') => {
    let times = 0;
    try {
      while (times < 1000) {
        limit.take(client, by);
        times++;
      }
    } catch (error) {
      expect(error).toMatchObject({ kind: 'overCapacity' });
    }
    return times;
  };
  expect(taken('id')).toBe(60);
  expect(taken('since')).toBe(3);
  expect(taken('since', 'b')).toBe(3);
  nowMs += 10_000;
  expect(taken('id')).toBe(10);
  expect(taken('since')).toBe(0);
  nowMs += 110_000;
  expect(taken('since')).toBe(2);
});
