import { expect, test } from 'bun:test';
import { listChannels } from '../../../src/nodes/lnd/reads/channels.ts';
import type { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { channelOf } from './channel-of.ts';

const rows = [
  { initiator: true, remote_balance: '96530' },
  { initiator: true, remote_balance: '90000', unsettled_balance: '6530' },
  { initiator: false, remote_balance: '96530' },
];

test("what an opener's balance lacks is held back for the close, and no payment on its way nor a fee of the peer", async () => {
  const rest = {
    list: async (path: string, shape: { parse(answer: unknown): unknown }) =>
      shape.parse(
        path === '/v1/channels'
          ? { channels: rows.map((row) => channelOf(row)) }
          : { pending_open_channels: [] },
      ),
  };
  const channels = await listChannels(rest as unknown as LndRest);
  expect(channels.map(({ heldBackMsat }) => heldBackMsat)).toEqual([3_470_000n, 3_470_000n, 0n]);
});
