import { beforeEach, describe, expect, test } from 'bun:test';
import { ApiError, refused } from '../../src/model/errors.ts';
import type { NodeChannels } from '../../src/nodes/node.ts';
import { closeChannel, openChannel } from '../../src/wallet/pay/channels.ts';
import { type EffectNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { rejection } from '../support/rejection.ts';
import { BUDGET, clientWorld } from './client-world.ts';

const clients = clientWorld();
let session: Session;
/** The part of the node's channels that a test may replace. */
let channels: NodeChannels;
beforeEach(async () => {
  channels = {
    listChannels: async () => [],
    openFeeBoundMsat: async () => 500n,
    closeFeeBoundMsat: async () => 500n,
    openChannel: async () => ({
      channelId: 'c',
      userChannelId: 'u',
      isNew: true,
      feeMsat: 400n,
    }),
    closeChannel: async () => ({ feeMsat: 400n, isNew: true }),
  };
  Object.assign(clients.world.fake.node, { channels });
  ({ session } = await clients.make(['full'], { budget: BUDGET }));
});

const CALLS = {
  open: (names = randomNames) =>
    openChannel(session, { valueMsat: 1000n, userChannelId: null, peer: null }, names),
  close: (names = randomNames) => closeChannel(session, { channelId: 'c', forced: false }, names),
};
/** The names of a repeat whose first run may have asked the node. */
const repeated: EffectNames = {
  ...randomNames,
  isKeyed: true,
  earlier: () => '500',
  kept: async () => '500',
};
const fullDisk = () =>
  Promise.reject(new ApiError('overCapacity', 'The disk is full: free space.'));
const bug = () => Promise.reject(new TypeError('undefined is not a function'));

for (const [name, call] of Object.entries(CALLS)) {
  describe(`to ${name} a channel: an error says what was sent (decision 12)`, () => {
    test('unknown, when the node has done it and its fee cannot be stored', async () => {
      Object.assign(clients.world.store.spends, { settle: fullDisk });
      expect(await rejection(call())).toMatchObject({
        kind: 'overCapacity',
        data: { sent: 'unknown' },
      });
    });

    test('unknown, when the connector breaks', async () => {
      Object.assign(channels, { openChannel: bug, closeChannel: bug });
      expect(await rejection(call())).toMatchObject({
        kind: 'internal',
        data: { sent: 'unknown' },
      });
    });

    test('unknown for a repeat, whatever refuses it, since its first run may have asked the node', async () => {
      const refuse = () => Promise.reject(refused('Not enough coins: receive more.'));
      Object.assign(channels, { openChannel: refuse, closeChannel: refuse });
      const repeat = call(repeated);
      expect(await rejection(repeat)).toMatchObject({ kind: 'refused', data: { sent: 'unknown' } });
      expect(await rejection(call())).toMatchObject({ kind: 'refused', data: { sent: 'no' } });
      Object.assign(clients.world.store.spends, { reserve: fullDisk });
      expect(await rejection(call(repeated))).toMatchObject({ data: { sent: 'unknown' } });
    });

    test('no, when something breaks before the node is asked', async () => {
      Object.assign(channels, { openFeeBoundMsat: bug, closeFeeBoundMsat: bug });
      expect(await rejection(call())).toMatchObject({ kind: 'internal', data: { sent: 'no' } });
    });
  });
}
