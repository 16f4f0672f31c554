import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { isFinal, type Payment } from '../../../src/model/payment.ts';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { known, lightningId, payCommand } from '../../contracts/node/steps.ts';
import { hasLdkHelper, type LdkNetwork, openLdkNetwork } from '../../support/ldk-network.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Below what an output must have, so that the transaction that closes the channel leaves it to the miners. */
const DUST_MSAT = 300_000n;
const SMALL_MSAT = 5_000_000n;
/** Confirmations of that transaction after which LDK gives up what it left out (ANTI_REORG_DELAY). */
const GIVEN_UP_AFTER = 6;
/** Blocks for which a payment may be held. */
const HELD_AT_MOST = 200;

describe.skipIf(!hasLdkHelper())(
  'a payment of an LDK node whose channel is closed by force',
  () => {
    let network: LdkNetwork;
    let node: WalletNode;
    beforeEach(async () => {
      network = await openLdkNetwork();
      ({ node } = await network.connector.connectRoot(network.rootSeed));
    });
    afterEach(() => network.close());

    async function payHeld(amountMsat: bigint): Promise<string> {
      const { outside } = network;
      const { invoice, hash } = await outside.invoice({ amountMsat, holds: true });
      known(await node.payInvoice(payCommand(node, invoice)));
      await until(() => outside.isHolding(hash), 'the receiver holds it');
      return hash;
    }
    const paymentOf = async (hash: string) =>
      (await node.latestPayment(lightningId(hash)))?.payment as Payment;
    /** The channel over which the wallet pays, or the one in which nothing is its own. */
    async function closeByForce(by: 'wallet' | 'peer', isOwn = true): Promise<void> {
      const channels = (await node.channels?.listChannels()) ?? [];
      const channel = channels.find((one) => one.outboundCapacityMsat > 0n === isOwn);
      const { channelId, fundingOutpoint } = channel ?? {};
      const order = { id: channelId, forced: true };
      if (by === 'peer') await network.outside.call('close_channel', order, shapes().done);
      else await node.channels?.closeChannel(`${channelId}`, { forced: true, maxFeeMsat: null });
      const spender = () => network.chain.spenderOf(`${fundingOutpoint}`);
      await until(() => spender() !== null, 'the closing is published');
    }

    test.each(['wallet', 'peer'] as const)(
      'stays pending where nobody can know whether it was taken: closed by the %s',
      async (by) => {
        const hash = await payHeld(DUST_MSAT);
        await closeByForce(by);
        await network.mine(GIVEN_UP_AFTER - 1);
        expect(await paymentOf(hash)).toMatchObject({ status: 'pending', statusMsg: 'pending' });
        await network.mine(1);
        await until(
          async () => (await paymentOf(hash)).statusMsg === 'its channel was closed',
          'LDK has given it up',
        );
        expect(await paymentOf(hash)).toMatchObject({ status: 'pending', finalizedAtMs: null });
      },
    );

    test.each(['wallet', 'peer'] as const)(
      'fails once its own output is back: closed by the %s',
      async (by) => {
        const hash = await payHeld(SMALL_MSAT);
        await closeByForce(by);
        let mined = 0;
        for (; mined < HELD_AT_MOST && !isFinal(await paymentOf(hash)); mined += 20) {
          await network.mine(20);
        }
        expect(await paymentOf(hash)).toMatchObject({ status: 'failed' });
      },
    );

    test('is paid where its receiver takes the output on the chain', async () => {
      const hash = await payHeld(SMALL_MSAT);
      await closeByForce('wallet');
      await network.mine(1);
      await network.outside.settle(hash);
      for (let mined = 0; mined < HELD_AT_MOST && !isFinal(await paymentOf(hash)); mined++) {
        await network.mine(1);
      }
      expect(await paymentOf(hash)).toMatchObject({
        ...{ status: 'completed', preimage: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
    });

    test('fails as its receiver says, where another channel than its own was closed', async () => {
      const hash = await payHeld(DUST_MSAT);
      await closeByForce('wallet', false);
      await network.mine(1);
      await network.outside.cancel(hash);
      await until(async () => isFinal(await paymentOf(hash)), 'it is over');
      expect(await paymentOf(hash)).toMatchObject({
        ...{ status: 'failed', statusMsg: 'rejected by the receiver' },
      });
    });
  },
);

describe.skipIf(!hasLdkHelper())('an LDK node whose channel is closed as agreed', () => {
  let network: LdkNetwork;
  beforeEach(async () => {
    network = await openLdkNetwork();
  });
  afterEach(() => network.close());

  test('counts what comes back once, before a block has it and after', async () => {
    const { node } = await network.connector.connectRoot(network.rootSeed);
    const before = await node.info();
    const totalMsat = async () => {
      const { lightningBalanceMsat, onchainBalanceMsat } = await node.info();
      return lightningBalanceMsat + onchainBalanceMsat;
    };
    const channels = (await node.channels?.listChannels()) ?? [];
    const { channelId } =
      channels.find(({ outboundCapacityMsat }) => outboundCapacityMsat > 0n) ?? {};
    await node.channels?.closeChannel(`${channelId}`, { forced: false, maxFeeMsat: null });
    await until(
      async () => (await node.info()).onchainBalanceMsat > before.onchainBalanceMsat,
      'the wallet knows the closing',
    );
    const afterMsat = await totalMsat();
    expect(afterMsat).toBeLessThan(before.lightningBalanceMsat + before.onchainBalanceMsat);
    for (const blocks of [1, 4, 2]) {
      await network.mine(blocks);
      expect(await totalMsat()).toBe(afterMsat);
    }
  });
});
