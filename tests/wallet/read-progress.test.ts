import { expect, test } from 'bun:test';
import { openLog } from '../../src/lib/log.ts';
import { ReadProgress } from '../../src/wallet/follow/read-progress.ts';
import { samplePayment } from '../support/sample-payment.ts';

function reading() {
  const lines: { msg: string; payments: number }[] = [];
  const log = openLog({
    level: 'info',
    format: 'json',
    write: (line) => lines.push(JSON.parse(line)),
  });
  const world = { nowMs: 0, lines };
  const progress = new ReadProgress(log, 'ab'.repeat(32), () => world.nowMs);
  const stored = (payments: number, caughtUp = false) =>
    progress.stored({
      observations: Array.from({ length: payments }, (_, number) => ({
        payment: samplePayment(number),
        attempt: null,
      })),
      cursor: null,
      caughtUp,
    });
  return { world, stored };
}

test('a long reading is told of every five seconds, and at its end', () => {
  const { world, stored } = reading();
  stored(500);
  world.nowMs = 5000;
  stored(500);
  world.nowMs = 9999;
  stored(500);
  world.nowMs = 10_000;
  stored(500);
  stored(1, true);
  stored(3);
  expect(world.lines.map(({ payments }) => payments)).toEqual([1000, 2000, 2001]);
});

test('a short one is not', () => {
  const { world, stored } = reading();
  stored(500);
  world.nowMs = 4999;
  stored(500);
  stored(0, true);
  expect(world.lines).toEqual([]);
});
