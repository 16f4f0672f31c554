import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { rejection } from '../../../support/rejection.ts';
import { invoiceCommand, lightningWorlds } from './lightning-world.ts';

const lightningWorld = lightningWorlds();

describe('an invoice made with a preimage', () => {
  const preimage = 'ab'.repeat(32);

  test('is that of the preimage, and making it again returns the first with its payment', async () => {
    const { node, clock } = await lightningWorld();
    const first = await node.createInvoice(invoiceCommand({ preimage }));
    expect(first.paymentHash).toBe(
      createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex'),
    );
    clock.nowMs += 60_000;
    const again = await node.createInvoice(
      invoiceCommand({ preimage, createdAtMs: clock.nowMs, amountMsat: 2000n }),
    );
    expect(again).toEqual(first);
    const own = (await node.history?.updatedAfter(null, 100))?.filter(
      ({ hash }) => hash === first.paymentHash,
    );
    expect(own).toHaveLength(1);
  });

  test('returns the payment as it is by now', async () => {
    const { node, sandbox } = await lightningWorld();
    const { invoice } = await node.createInvoice(invoiceCommand({ preimage }));
    await sandbox.controls.pay({
      payable: invoice,
      amountMsat: null,
      message: null,
      payerName: null,
    });
    const again = await node.createInvoice(invoiceCommand({ preimage }));
    expect(again).toMatchObject({ invoice, payment: { status: 'completed', preimage } });
  });

  test("is refused when the preimage is another wallet's", async () => {
    const { node, wallet, payCommand } = await lightningWorld();
    const other = await wallet();
    const { invoice, payment } = await other.node.createInvoice(invoiceCommand({ preimage }));
    // A payment of the invoice under the very same index does not make the payer its receiver.
    await node.payInvoice({ ...payCommand(invoice, 1000n), index: payment.index });
    expect(await rejection(node.createInvoice(invoiceCommand({ preimage })))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('another invoice'),
    });
  });
});
