import { expect } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { isHeld } from '../../../src/model/payment.ts';
import type { CreateHoldInvoiceCommand, WalletNode } from '../../../src/nodes/node.ts';
import { throwing } from '../../support/rejection.ts';
import { until } from '../../support/until.ts';
import type { Rules } from './kind.ts';
import { ended, follow, invoiceCommand, lightningId, randomHex } from './steps.ts';

/** Invoices for a hash, of kinds that have them. */
export function holdInvoiceRules({ group }: Rules): void {
  group('holdInvoices', (rule) => {
    const orderFor = (
      node: WalletNode,
      preimage: string,
      change: Partial<CreateHoldInvoiceCommand> = {},
    ): CreateHoldInvoiceCommand => {
      const { preimage: _, ...terms } = invoiceCommand(node);
      const paymentHash = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
      return { ...terms, paymentHash, again: false, ...change };
    };
    const held = (node: WalletNode, hash: string) =>
      until(async () => {
        const found = await node.latestPayment(lightningId(hash));
        return found !== null && isHeld(found.payment) && found.payment;
      }, 'the payment was held');
    const refusal = async (work: Promise<unknown>) =>
      isApiError(await work.then(() => null).catch((error) => error), 'refused');

    rule(
      'a hold invoice is held when it is paid, and completed with the preimage that settles it',
      async (holds, node, outside) => {
        const before = (await node.info()).lightningBalanceMsat;
        const preimage = randomHex(32);
        const made = await holds.create(orderFor(node, preimage));
        const { paymentHash, payment } = made;
        expect(decodeBolt11(made.invoice)).toMatchObject({ paymentHash, description: 'tea' });
        expect(payment).toMatchObject({ status: 'pending', statusMsg: 'invoice generated' });
        expect(await refusal(holds.settle(payment.index, preimage))).toBe(true);
        await outside.paysHeld(made.invoice);
        expect(await held(node, paymentHash)).toMatchObject({
          index: payment.index,
          preimage: null,
          finalizedAtMs: null,
          amountMsat: 1_000_000n,
        });
        expect((await node.info()).lightningBalanceMsat).toBe(before);
        await holds.settle(payment.index, preimage);
        await holds.settle(payment.index, preimage);
        expect((await ended(node, paymentHash)).payment).toMatchObject({
          status: 'completed',
          preimage,
          amountMsat: 1_000_000n,
        });
      },
    );

    rule(
      'what is held and canceled is failed, and cannot be settled',
      async (holds, node, outside) => {
        const preimage = randomHex(32);
        const made = await holds.create(orderFor(node, preimage));
        await outside.paysHeld(made.invoice);
        await held(node, made.paymentHash);
        await node.cancelInvoice(made.payment.index);
        expect((await ended(node, made.paymentHash)).payment).toMatchObject({
          status: 'failed',
          statusMsg: 'canceled',
          preimage: null,
        });
        expect(await refusal(holds.settle(made.payment.index, preimage))).toBe(true);
        expect(await throwing(outside.paysHeld(made.invoice))).toThrow();
      },
    );

    rule('the feed shows that a payment is held, and how it ends', async (holds, node, outside) => {
      const preimages = [randomHex(32), randomHex(32)] as const;
      const made = [];
      for (const preimage of preimages) made.push(await holds.create(orderFor(node, preimage)));
      const feed = follow(
        node,
        null,
        made.map(({ payment }) => payment),
      );
      const shown = (hash: string) =>
        until(
          () => feed.observations.some(({ payment }) => payment.hash === hash && isHeld(payment)),
          'the feed showed that it is held',
        );
      try {
        await until(() => feed.isCaughtUp());
        for (const { invoice, paymentHash } of made) {
          await outside.paysHeld(invoice);
          await shown(paymentHash);
        }
        const [first, second] = made;
        if (first === undefined || second === undefined) throw new Error('two were made');
        await holds.settle(first.payment.index, preimages[0]);
        await feed.shows(first.paymentHash, 'completed');
        await node.cancelInvoice(second.payment.index);
        await feed.shows(second.paymentHash, 'failed');
      } finally {
        await feed.end();
      }
    });

    rule('what is held does not expire with its invoice', async (holds, node, outside) => {
      const preimage = randomHex(32);
      const made = await holds.create(orderFor(node, preimage, { expirationSecs: 60 }));
      await outside.paysHeld(made.invoice);
      await outside.advanceClock(120);
      await held(node, made.paymentHash);
      await holds.settle(made.payment.index, preimage);
      expect((await ended(node, made.paymentHash)).payment.status).toBe('completed');
    });

    rule(
      'a hash makes one invoice, which only a repeat of the request gets again',
      async (holds, node) => {
        const preimage = randomHex(32);
        const order = orderFor(node, preimage);
        const made = await holds.create(order);
        expect(await refusal(holds.create(order))).toBe(true);
        const again = await holds.create({ ...order, again: true });
        expect(again).toMatchObject({ invoice: made.invoice, paymentSecret: made.paymentSecret });
        expect(again.payment.index).toBe(made.payment.index);
      },
    );
  });
}
