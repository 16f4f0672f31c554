import type { LdkRow } from '../../../src/nodes/ldk/words/words.ts';

const HASH = 'ab'.repeat(32);

/** A row of a Lightning payment of the wallet that LDK has taken. */
export function ldkRow(change: Partial<LdkRow> = {}): LdkRow {
  return {
    ...{ seq: 2, key: 'out:1', direction: 'out', kind: 'bolt11', hash: HASH, attempt: 1 },
    ...{
      ref: `0000001764000000000-ln_${HASH}`,
      state: 'pending',
      reason: null,
      cut: false,
      bolt11: null,
    },
    ...{ preimage: null, amount_msat: 5000n, fee_msat: null, received_msat: null },
    ...{ lsp_fee_msat: null, message: null, offer_id: null, expires_at: null },
    ...{ description: null },
    ...{ created_at: 1_764_000_000_000, ended_at: null },
    ...change,
  };
}
