import { nodeKey } from './scripted-lnd.ts';

/** A row of LND's channels: active, of a million sats, with nothing held back. */
export const channelOf = (change: object = {}) => ({
  active: true,
  channel_point: `${'ab'.repeat(32)}:0`,
  remote_pubkey: nodeKey(2).pk,
  capacity: '1000000',
  local_balance: '900000',
  remote_balance: '0',
  commit_fee: '0',
  fee_per_kw: '0',
  initiator: false,
  local_constraints: { chan_reserve_sat: '0' },
  remote_constraints: { chan_reserve_sat: '0' },
  ...change,
});
