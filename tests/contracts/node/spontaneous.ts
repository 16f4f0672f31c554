import { expect } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { PaySpontaneousCommand, WalletNode } from '../../../src/nodes/node.ts';
import type { Outside, Rules } from './kind.ts';
import { ended, known, lightningId, randomHex, there } from './steps.ts';

/** Payments without an invoice, of kinds that have them. */
export function spontaneousRules({ group }: Rules): void {
  group('spontaneous', (rule) => {
    const hashOf = (preimage: string) =>
      createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');

    const orderFor = (
      node: WalletNode,
      nodePk: string,
      preimage = randomHex(32),
    ): PaySpontaneousCommand => {
      const createdAtMs = node.clock.now();
      return {
        index: paymentIndex(createdAtMs, lightningId(hashOf(preimage))),
        createdAtMs,
        amountMsat: 20_000n,
        personalNote: null,
        externalId: null,
        nodePk,
        preimage,
        maxFeeMsat: 10_000n,
        message: 'thank you',
      };
    };

    const nodeOutside = async (outside: Outside): Promise<string> => {
      const { invoice } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
      return decodeBolt11(invoice).payeePubkey;
    };

    rule(
      'a spontaneous payment is known when it has begun, and completed with the preimage of its order',
      async (spontaneous, node, outside) => {
        const order = orderFor(node, await nodeOutside(outside));
        const hash = hashOf(order.preimage);
        const report = known(await spontaneous.pay(order));
        expect(report.payment).toMatchObject({
          index: order.index,
          direction: 'outbound',
          rail: 'spontaneous',
          hash,
          amountMsat: 20_000n,
        });
        const { payment } = await ended(node, hash);
        expect(payment).toMatchObject({ status: 'completed', preimage: order.preimage });
        expect(payment.feesMsat).toBeLessThanOrEqual(order.maxFeeMsat);
      },
    );

    rule(
      'a preimage is paid once, however often it is ordered',
      async (spontaneous, node, outside) => {
        const before = (await node.info()).lightningBalanceMsat;
        const order = orderFor(node, await nodeOutside(outside));
        const met = await Promise.all([1, 2].map(() => spontaneous.pay(order)));
        const { payment } = await ended(node, hashOf(order.preimage));
        const again = known(await spontaneous.pay({ ...order, isRepeat: true }));
        expect(again.payment.status).toBe('completed');
        expect(new Set([...met.map(there), again].map(({ attempt }) => attempt)).size).toBe(1);
        const paidMsat = before - (await node.info()).lightningBalanceMsat;
        expect(paidMsat).toBe(20_000n + payment.feesMsat);
      },
    );

    rule("a payment to the wallet's own node is refused", async (spontaneous, node) => {
      const { nodePk } = await node.info();
      const report = await spontaneous.pay(orderFor(node, nodePk));
      expect(report).toMatchObject({ state: 'refused', error: { kind: 'refused' } });
    });
  });
}
