import { expect } from 'bun:test';
import { decodeAddress } from '../../../src/codecs/address.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type { PayOnchainCommand, WalletNode } from '../../../src/nodes/node.ts';
import { until } from '../../support/until.ts';
import type { Outside, Rules } from './kind.ts';
import { invoiceCommand, known, questionOf, randomHex } from './steps.ts';

/** The chain and channels, of kinds that have them. */
export function railRules({ group }: Rules): void {
  group('onchain', (onchainRule) => {
    const command = (node: WalletNode, outside: Outside, maxFeeMsat: bigint | null = null) => {
      const createdAtMs = node.clock.now();
      return {
        index: paymentIndex(createdAtMs, paymentId('os', randomHex(32))),
        createdAtMs,
        amountMsat: 50_000_000n,
        personalNote: null,
        externalId: null,
        address: decodeAddress(outside.address()),
        priority: 'normal',
        maxFeeMsat,
      } satisfies PayOnchainCommand;
    };

    onchainRule(
      'the unused address stays the same until it was paid to',
      async (onchain, _, outside) => {
        const address = await onchain.nextUnusedAddress('segwit');
        expect(await onchain.nextUnusedAddress('segwit')).toBe(address);
        await outside.sendsCoins(address, 100_000_000n);
        await until(
          async () => (await onchain.nextUnusedAddress('segwit')) !== address,
          'it is another',
        );
      },
    );

    onchainRule(
      'a send above its fee limit is not signed, and leaves its coins free',
      async (onchain, node, outside) => {
        const refusal = await onchain.sign(command(node, outside, 1n)).catch((error) => error);
        expect(isApiError(refusal, 'refused')).toBe(true);
        const signed = await onchain.sign(command(node, outside));
        await onchain.release(signed);
      },
    );

    onchainRule(
      'what is signed locks its coins until it is released, again and again if one likes',
      async (onchain, node, outside) => {
        const before = (await node.info()).onchainBalanceMsat;
        const signed = await onchain.sign(command(node, outside));
        expect(signed.txHex).toMatch(/^[0-9a-f]+$/);
        expect(BigInt(signed.feeMsat)).toBeGreaterThan(0n);
        await onchain.renew(signed);
        await onchain.release(signed);
        await onchain.release(signed);
        expect((await node.info()).onchainBalanceMsat).toBe(before);
      },
    );

    onchainRule(
      'a send is published once however often it is published, and ends when it is buried',
      async (onchain, node, outside) => {
        const before = (await node.info()).onchainBalanceMsat;
        const order = command(node, outside);
        const estimate = await onchain.estimateFeeMsat(order);
        const signed = await onchain.sign(order);
        expect(BigInt(signed.feeMsat)).toBeLessThanOrEqual(estimate * 2n);
        const first = known(await onchain.publish(order, signed));
        expect(first.payment).toMatchObject({ index: order.index, txid: signed.txid });
        expect(first.payment.status).toBe('pending');
        known(await onchain.publish(order, signed));
        const ask = () => node.sendOutcome(questionOf(first.payment, { signed }));
        expect(await ask()).toMatchObject({ state: 'known', payment: { txid: signed.txid } });
        await outside.mine(6);
        const done = await until(async () => {
          const outcome = await ask();
          return outcome.state === 'known' && outcome.payment.status === 'completed' && outcome;
        }, 'the send is final');
        expect(done.payment).toMatchObject({
          index: order.index,
          amountMsat: order.amountMsat,
          feesMsat: BigInt(signed.feeMsat),
        });
        known(await onchain.publish(order, signed));
        expect(before - (await node.info()).onchainBalanceMsat).toBe(
          order.amountMsat + BigInt(signed.feeMsat),
        );
      },
    );

    onchainRule(
      'a signed send that was not published is not known, and not said never to be made',
      async (onchain, node, outside) => {
        const order = command(node, outside);
        const signed = await onchain.sign(order);
        const { payment } = await node.createInvoice(invoiceCommand(node));
        const begun = {
          ...payment,
          ...{ direction: 'outbound' as const, rail: 'onchain' as const, index: order.index },
          ...{ hash: null, invoice: null, expiresAtMs: null },
        };
        const outcome = await node.sendOutcome(questionOf(begun, { signed }));
        expect(outcome).toEqual({ state: 'unknown' });
        await onchain.release(signed);
      },
    );
  });

  group('channels', (channelRule) => {
    channelRule(
      'a channel of an id is opened once, for no more than was said',
      async (channels, node) => {
        const valueMsat = 200_000_000n;
        const userChannelId = randomHex(16);
        const boundMsat = await channels.openFeeBoundMsat(valueMsat);
        const order = { valueMsat, userChannelId, peer: null, maxFeeMsat: boundMsat };
        const before = await node.info();
        const opened = await channels.openChannel(order);
        expect(opened).toMatchObject({ userChannelId, isNew: true });
        const again = await channels.openChannel({ ...order, maxFeeMsat: 0n });
        expect(again).toMatchObject({ channelId: opened.channelId, isNew: false });
        const after = await node.info();
        expect(after.numChannels).toBe(before.numChannels + 1);
        const costMsat = before.onchainBalanceMsat - after.onchainBalanceMsat - valueMsat;
        expect(costMsat).toBeLessThanOrEqual(boundMsat);
        const other = channels.openChannel({ ...order, valueMsat: valueMsat + 1000n });
        expect(isApiError(await other.catch((error) => error), 'refused')).toBe(true);
        const listed = await channels.listChannels();
        expect(listed.filter(({ channelId }) => channelId === opened.channelId)).toHaveLength(1);
      },
    );

    channelRule(
      'a channel that would cost too much is not opened',
      async (channels, node, outside) => {
        await outside.mine(6);
        const { numChannels } = await node.info();
        const valueMsat = 200_000_000n;
        const boundMsat = await channels.openFeeBoundMsat(valueMsat);
        for (const maxFeeMsat of [0n, boundMsat - 1000n]) {
          const order = { valueMsat, userChannelId: randomHex(16), peer: null, maxFeeMsat };
          const refusal = await channels.openChannel(order).catch((error) => error);
          expect(isApiError(refusal, 'refused')).toBe(true);
        }
        expect((await node.info()).numChannels).toBe(numChannels);
      },
    );

    channelRule(
      'a channel is closed once, for no more than was said; again says that it is closed or not there',
      async (channels, node, outside) => {
        await outside.mine(6);
        const valueMsat = 300_000_000n;
        const order = { valueMsat, userChannelId: randomHex(16), peer: null, maxFeeMsat: null };
        const { channelId } = await channels.openChannel(order);
        await until(async () => {
          await outside.mine(6);
          const listed = await channels.listChannels();
          return listed.some((one) => one.channelId === channelId && one.isUsable);
        }, 'the channel is usable');
        const { onchainBalanceMsat: before } = await node.info();
        const boundMsat = await channels.closeFeeBoundMsat(channelId, { forced: false });
        const close = async (maxFeeMsat: bigint) =>
          (await channels.closeChannel(channelId, { forced: false, maxFeeMsat })).isNew;
        const refusal = await close(boundMsat - 1n).catch((error) => error);
        expect(isApiError(refusal, 'refused')).toBe(true);
        expect(await close(boundMsat)).toBe(true);
        const again = await close(boundMsat).catch(
          (error) => isApiError(error, 'notFound') && 'not there',
        );
        expect([false, 'not there']).toContain(again);
        const after = await until(async () => {
          await outside.mine(6);
          const { onchainBalanceMsat } = await node.info();
          return onchainBalanceMsat > before && onchainBalanceMsat;
        }, 'the balance came back');
        expect(before + valueMsat - after).toBeLessThanOrEqual(boundMsat);
      },
    );

    channelRule('a channel that is not there is not found', async (channels) => {
      const [channel] = await channels.listChannels();
      const missing = (channel?.channelId ?? '').replace(/[0-9a-f]/g, '0');
      for (const asked of [
        () => channels.closeFeeBoundMsat(missing, { forced: false }),
        () => channels.closeChannel(missing, { forced: false, maxFeeMsat: null }),
      ]) {
        expect(isApiError(await asked().catch((error: unknown) => error), 'notFound')).toBe(true);
      }
    });
  });
}
