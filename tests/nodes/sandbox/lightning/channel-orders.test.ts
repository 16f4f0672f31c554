import { describe, expect, test } from 'bun:test';
import {
  closeChannel,
  closeFeeBoundMsat,
  openChannel,
  openFeeBoundMsat,
} from '../../../../src/nodes/sandbox/lightning/channel-orders.ts';
import { liveChannels } from '../../../../src/nodes/sandbox/lightning/channels.ts';
import { onchainBalances } from '../../../../src/nodes/sandbox/onchain/funds.ts';
import { onchainWorld } from '../../../support/onchain-world.ts';

const ID = 'ab'.repeat(16);
const VALUE_MSAT = 50_000_000n;
const refusal = (message: string) =>
  expect.objectContaining({ kind: 'refused', message: expect.stringContaining(message) });

function setUp() {
  const setup = onchainWorld();
  const { world, wallet, fund } = setup;
  const alice = wallet();
  fund(alice, 200_000);
  const owned = () =>
    onchainBalances(world, alice).onchainBalanceMsat +
    liveChannels(world, alice).reduce((sum, { ourBalanceMsat }) => sum + ourBalanceMsat, 0n);
  const open = (change: { maxFeeMsat?: bigint | null; valueMsat?: bigint } = {}) =>
    openChannel(world, alice, {
      valueMsat: VALUE_MSAT,
      userChannelId: ID,
      peer: null,
      maxFeeMsat: null,
      ...change,
    });
  return { ...setup, alice, owned, open };
}

describe('opening a channel', () => {
  test('costs the fee that it says, which is the bound told before', () => {
    const { world, alice, owned, open } = setUp();
    const before = owned();
    const bound = openFeeBoundMsat(world, alice, VALUE_MSAT);
    const { feeMsat } = open({ maxFeeMsat: bound });
    expect(feeMsat).toBe(bound);
    expect(before - owned()).toBe(bound);
    expect(feeMsat).toBeGreaterThan(0n);
  });

  test('is refused when the fee would be above the limit, and changes nothing', () => {
    const { world, alice, owned, open } = setUp();
    const before = owned();
    const bound = openFeeBoundMsat(world, alice, VALUE_MSAT);
    expect(() => open({ maxFeeMsat: bound - 1n })).toThrow(refusal('above the limit'));
    expect(owned()).toBe(before);
    expect(liveChannels(world, alice)).toEqual([]);
  });

  test('again under its id returns the first with its fee, and for another value is refused', () => {
    const { world, alice, owned, open } = setUp();
    const first = open();
    const after = owned();
    expect(first.isNew).toBe(true);
    expect(open({ maxFeeMsat: 0n })).toEqual({ ...first, isNew: false });
    expect(() => open({ valueMsat: VALUE_MSAT + 1000n })).toThrow(refusal('another value'));
    expect(owned()).toBe(after);
    expect(liveChannels(world, alice)).toHaveLength(1);
  });

  test('has no bound where it would be refused', () => {
    const { world, alice } = setUp();
    expect(() => openFeeBoundMsat(world, alice, 19_999_000n)).toThrow(refusal('at least 20000'));
    // Opening a channel sends nothing to anybody, so the words fit every use of the money.
    expect(() => openFeeBoundMsat(world, alice, 900_000_000n)).toThrow(
      refusal('This takes 900000 sats and a fee of'),
    );
    expect(() => openFeeBoundMsat(world, alice, 900_000_000n)).toThrow(
      refusal('short; choose a smaller amount'),
    );
  });
});

describe('closing a channel', () => {
  test('costs the fee that it says, which is the bound told before, and is refused below it', () => {
    const { world, miner, alice, owned, open } = setUp();
    const { channelId } = open();
    miner.mine(1);
    const before = owned();
    const bound = closeFeeBoundMsat(world, alice, channelId);
    expect(() => closeChannel(world, alice, { channelId, maxFeeMsat: bound - 1n })).toThrow(
      refusal('above the limit'),
    );
    expect(owned()).toBe(before);
    expect(liveChannels(world, alice)).toHaveLength(1);
    expect(closeChannel(world, alice, { channelId, maxFeeMsat: bound })).toBe(bound);
    expect(before - owned()).toBe(bound);
    expect(bound > 0n).toBe(true);
  });

  test('of an unknown id is not found, its bound too', () => {
    const { world, alice } = setUp();
    const notFound = expect.objectContaining({ kind: 'notFound' });
    const channelId = '00'.repeat(32);
    expect(() => closeFeeBoundMsat(world, alice, channelId)).toThrow(notFound);
    expect(() => closeChannel(world, alice, { channelId, maxFeeMsat: null })).toThrow(notFound);
  });
});
