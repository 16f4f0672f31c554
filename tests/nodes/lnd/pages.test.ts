import { expect, test } from 'bun:test';
import { pagesOf } from '../../../src/nodes/lnd/reads/pages.ts';
import type { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';

const PAGE = 500;

/** An LND that always has another page, of as many rows as were asked for. */
function endless(): LndRest {
  return {
    list: async (path: string, shape: { parse(value: unknown): unknown }) => {
      const offset = Number(/index_offset=(\d+)/.exec(path)?.[1]);
      const rows = Array(PAGE).fill({ add_index: `${offset + PAGE}` });
      return shape.parse({ invoices: rows, last_index_offset: `${offset + PAGE}` });
    },
  } as unknown as LndRest;
}

test('a look at a list that has always another page ends, says so, and the next one goes on where it ended', async () => {
  let pages = 0;
  let last = { reached: 0, isLast: true };
  for await (const page of pagesOf(endless(), 'invoices', { after: 0 })) {
    pages++;
    last = page;
  }
  expect(pages).toBe(1000);
  expect(last).toMatchObject({ reached: 500_000, isLast: false });
  for await (const { reached } of pagesOf(endless(), 'invoices', { after: last.reached })) {
    expect(reached).toBe(500_500);
    break;
  }
});
