import { expect, test } from 'bun:test';
import { rowObservations } from '../../../src/nodes/ldk/translate.ts';
import type { LdkRow } from '../../../src/nodes/ldk/words.ts';

const HASH = 'ab'.repeat(32);
const SENT: LdkRow = {
  ...{ seq: 2, key: 'out:1', direction: 'out', kind: 'bolt11', hash: HASH, attempt: 1 },
  ...{ ref: `0000001764000000000-ln_${HASH}`, state: 'pending', reason: null, bolt11: null },
  ...{ preimage: null, amount_msat: 5000n, fee_msat: null, received_msat: null },
  ...{ lsp_fee_msat: null, message: null, offer_id: null, expires_at: null },
  ...{ created_at: 1_764_000_000_000, ended_at: null },
};
const told = (change: Partial<LdkRow>) => rowObservations({ ...SENT, ...change });

test('an attempt is told from when LDK took it, and so is its end', () => {
  const ended = { state: 'failed', ended_at: 1_764_000_001_000 } as const;
  expect(told({ state: 'asked' })).toEqual([]);
  expect(told({})).toMatchObject([{ payment: { status: 'pending', index: SENT.ref } }]);
  // It was never told of, and the sidecar asks what became of it.
  expect(told({ ...ended, reason: 'never sent' })).toEqual([]);
  // A crash made LDK forget what it had taken: who was told that it is pending must be told that it is not.
  expect(told({ ...ended, reason: 'not_sent' })).toMatchObject([
    {
      attempt: 1,
      payment: { status: 'failed', statusMsg: 'not sent', finalizedAtMs: 1_764_000_001_000 },
    },
  ]);
});

test('a small payment whose channel was closed by force stays pending', () => {
  const lost = { state: 'failed', reason: 'channel_closed', ended_at: 1_764_000_001_000 } as const;
  expect(told(lost)).toMatchObject([{ payment: { status: 'pending', finalizedAtMs: null } }]);
});
