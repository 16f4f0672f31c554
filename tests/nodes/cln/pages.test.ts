import { expect, test } from 'bun:test';
import type { Look } from '../../../src/nodes/cln/follow/look.ts';
import { newRows } from '../../../src/nodes/cln/follow/pages.ts';
import { Told } from '../../../src/nodes/cln/follow/told.ts';
import type { FollowCursor } from '../../../src/nodes/cln/words/cursor.ts';

const PAGE = 500;

test('a look at a list whose numbers grow as fast as they are read ends, and the next one goes on where it ended', async () => {
  const starts: number[] = [];
  const look = (cursor: FollowCursor) =>
    ({
      cursor,
      told: new Told(),
      isFull: true,
      historySinceMs: null,
      rpc: { read: async () => ({ created: 10_000_000, updated: 0 }) },
    }) as unknown as Look;
  const list = {
    name: 'invoices',
    rows: async (_: unknown, { index, start }: { index: string; start: number }) => {
      if (index === 'updated') return [];
      starts.push(start);
      return Array(PAGE).fill({ created_index: start + PAGE - 1 });
    },
    observe: async () => [],
  };
  const readAll = async (cursor: FollowCursor): Promise<FollowCursor> => {
    let reached = cursor;
    for await (const found of newRows(look(cursor), list))
      reached = { ...reached, ...found.reached } as FollowCursor;
    return reached;
  };
  const first = await readAll({});
  expect(starts).toHaveLength(1000);
  expect(starts.at(-1)).toBe(499_501);
  await readAll(first);
  expect(starts[1000]).toBe(500_001);
  expect(starts).toHaveLength(2000);
});
