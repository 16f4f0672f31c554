import { expect, test } from 'bun:test';
import type { Helper } from '../../../src/nodes/ldk/process/helper.ts';
import { standingOf } from '../../../src/nodes/ldk/process/standing.ts';

const MINUTE_MS = 60_000;

/** What health says, minute after minute, of a node that tells these times. */
async function saidOver(minutes: number, syncedAt: (minute: number) => object): Promise<string> {
  let minute = 0;
  const helper = { problem: null, waiting: null, call: async () => ({ synced: syncedAt(minute) }) };
  const said = standingOf(
    helper as unknown as Helper,
    { problems: () => [] },
    () => minute * MINUTE_MS,
  );
  for (; minute <= minutes; minute++) {
    said();
    await Promise.resolve();
    await Promise.resolve();
  }
  return said().join(' ');
}

test.each(['lightning', 'onchain'])(
  'health says so where the node reads the chain on for all but %s',
  async (still) => {
    const synced = (minute: number) => ({ lightning: minute, onchain: minute, [still]: 1 });
    expect(await saidOver(29, synced)).toBe('');
    expect(await saidOver(32, synced)).toContain('has not read the chain for more than half an');
  },
);

test('health says nothing while the node reads the chain', async () => {
  expect(await saidOver(90, (minute) => ({ lightning: minute, onchain: minute }))).toBe('');
});
