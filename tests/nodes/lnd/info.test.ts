import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { channelOf } from './channel-of.ts';
import { RECORDED, recordedWallet, replay } from './recorded.ts';
import { scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());

const PENDING = {
  pending_open_channels: [
    {
      channel: {
        channel_point: `${'cd'.repeat(32)}:1`,
        remote_node_pub: channelOf().remote_pubkey,
        capacity: '500000',
        local_balance: '400000',
        remote_balance: '0',
      },
    },
  ],
};
const BALANCE = { total_balance: '5000', confirmed_balance: '5000', unconfirmed_balance: '0' };

/** LND with this many channels that are not confirmed yet. */
function withPending(num_pending_channels: number): void {
  lnd.on('GET /v1/getinfo', { ...RECORDED.lists.getinfo, num_pending_channels });
  lnd.on('GET /v1/balance/blockchain', BALANCE);
  lnd.on('GET /v1/channels', { channels: [channelOf()] });
  lnd.on('GET /v1/channels/pending', PENDING);
}
const asked = () => lnd.requests.map(({ path }) => path);

describe('node_info', () => {
  beforeEach(() => {
    lnd.reset();
    replay(lnd, 'empty');
  });

  test('counts channels that are not confirmed yet', async () => {
    withPending(1);
    const node = await recordedWallet(lnd);
    expect(await node.info()).toMatchObject({
      lightningBalanceMsat: 1_300_000_000n,
      numChannels: 2,
      numUsableChannels: 1,
    });
  });

  test('reads the list of pending channels only where LND says that there are any', async () => {
    withPending(0);
    const node = await recordedWallet(lnd);
    expect(await node.info()).toMatchObject({
      lightningBalanceMsat: 900_000_000n,
      numChannels: 1,
    });
    expect(asked()).toContain('/v1/channels');
    expect(asked()).not.toContain('/v1/channels/pending');
  });
});
