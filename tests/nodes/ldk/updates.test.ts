import { expect, test } from 'bun:test';
import { followWallet } from '../../../src/nodes/ldk/follow/updates.ts';
import type { LdkWallet } from '../../../src/nodes/ldk/process/wallet.ts';
import type { LdkTransaction } from '../../../src/nodes/ldk/words/words.ts';
import type { UpdateBatch, UpdatesOptions } from '../../../src/nodes/node.ts';

const TXID = 'ab'.repeat(32);
const receipt = (height: number | null): LdkTransaction => ({
  ...{ txid: TXID, hex: '00', height, block_time: null, first_seen: 1_764_000_000_000 },
  ...{ fee_msat: null, sent_msat: 0n, received_msat: 5000n, role: null, replaced_by: null },
  outputs: [
    { vout: 0, amount_msat: 5000n, address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080' },
  ],
});

/** A helper whose chain ends at that height, with one receipt. */
function helperAt(height: number, confirmedAt: number | null) {
  const state = { height, confirmedAt };
  let news: () => void = () => undefined;
  return {
    becomes(change: Partial<typeof state>) {
      Object.assign(state, change);
      news();
    },
    async call(method: string, { since_height: since }: { since_height?: number | null }) {
      if (method === 'rows') return { rows: [] };
      const isListed = state.confirmedAt === null || state.confirmedAt >= (since ?? 0);
      const transactions = isListed ? [receipt(state.confirmedAt)] : [];
      return { height: state.height, transactions };
    },
    onChange(listener: () => void) {
      news = listener;
      return () => undefined;
    },
    onEnd: () => () => undefined,
  };
}

test('what was confirmed while the chain seemed to be longer is told when it is as it was', async () => {
  const helper = helperAt(100, null);
  const stopped = new AbortController();
  const options = { after: null, historySinceMs: null, signal: stopped.signal };
  const feed = followWallet({ helper } as unknown as LdkWallet, options as UpdatesOptions);
  const next = async () => (await feed.next()).value as UpdateBatch;
  expect((await next()).observations).toMatchObject([{ payment: { status: 'pending' } }]);
  helper.becomes({ height: 4_000_000 });
  expect((await next()).cursor).toContain('3999980');
  helper.becomes({ height: 110, confirmedAt: 101 });
  const told: UpdateBatch[] = [];
  while (!told.some(({ observations }) => observations.length > 0)) told.push(await next());
  expect(told.at(-1)?.observations).toMatchObject([{ payment: { status: 'completed' } }]);
  stopped.abort();
  await feed.return(undefined);
});
