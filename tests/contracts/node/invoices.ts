import { expect } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { idOf } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import { throwing } from '../../support/rejection.ts';
import { earlyInSecond } from '../../support/until.ts';
import type { Rules } from './kind.ts';
import { ended, invoiceCommand, known, lightningId, payCommand, randomHex } from './steps.ts';

/** Invoices from their creation to their end. */
export function invoiceRules({ rule }: Rules): void {
  rule(
    'an invoice says what was ordered, and its payment is pending from then on',
    async (node) => {
      const made = await node.createInvoice(invoiceCommand(node));
      const read = decodeBolt11(made.invoice);
      expect(read).toMatchObject({
        amountMsat: 1_000_000n,
        description: 'tea',
        paymentHash: made.paymentHash,
        paymentSecret: made.paymentSecret,
      });
      expect(made.payment).toMatchObject({
        direction: 'inbound',
        rail: 'invoice',
        status: 'pending',
        hash: made.paymentHash,
        amountMsat: 1_000_000n,
        invoice: made.invoice,
        expiresAtMs: read.expiresAtMs,
        preimage: null,
      });
      expect(idOf(made.payment)).toBe(lightningId(made.paymentHash));
      const found = await node.payment(made.payment.index);
      expect(found?.payment).toMatchObject({ status: 'pending', hash: made.paymentHash });
      expect(found?.payment.index).toBe(made.payment.index);
    },
  );

  rule(
    "a payer's message is kept with the payment, and is no part of the invoice",
    async (node) => {
      const made = await node.createInvoice(invoiceCommand(node, { message: 'for the tea' }));
      expect(made.payment.message).toBe('for the tea');
      expect(decodeBolt11(made.invoice).description).toBe('tea');
    },
  );

  rule('an invoice lives as long as was ordered', async (node) => {
    await earlyInSecond();
    const made = await node.createInvoice(invoiceCommand(node, { expirationSecs: 90 }));
    const { createdAtMs, expiresAtMs } = made.payment;
    expect((expiresAtMs ?? 0) - Math.floor(createdAtMs / 1000) * 1000).toBe(90_000);
  });

  rule(
    'an invoice may name no amount, and the hash of a description in its place',
    async (node) => {
      const text = `tea ${randomHex(8)}`;
      const hash = createHash('sha256').update(text).digest('hex');
      const descriptionHash = { hash, text };
      const made = await node.createInvoice(
        invoiceCommand(node, { amountMsat: null, description: null, descriptionHash }),
      );
      expect(decodeBolt11(made.invoice)).toMatchObject({ amountMsat: null, descriptionHash: hash });
      expect(made.payment.amountMsat).toBeNull();
    },
  );

  rule('an invoice of a preimage is made once, however often it is ordered', async (node) => {
    const preimage = randomHex(32);
    const command = invoiceCommand(node, { preimage });
    const first = await node.createInvoice(command);
    const second = await node.createInvoice(command);
    expect(second).toEqual(first);
    const hash = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
    expect(first.paymentHash).toBe(hash);
  });

  rule(
    'an invoice that is paid is completed with its amount and the preimage that proves it',
    async (node, outside) => {
      const before = (await node.info()).lightningBalanceMsat;
      const made = await node.createInvoice(invoiceCommand(node));
      await outside.pays(made.invoice);
      const { payment } = await ended(node, made.paymentHash);
      expect(payment).toMatchObject({ status: 'completed', direction: 'inbound' });
      expect(payment.amountMsat).toBe(1_000_000n - (payment.feesMsat ?? 0n));
      const proof = Buffer.from(payment.preimage ?? '', 'hex');
      expect(createHash('sha256').update(proof).digest('hex')).toBe(made.paymentHash);
      expect((await node.info()).lightningBalanceMsat - before).toBe(payment.amountMsat ?? 0n);
      expect(await throwing(outside.pays(made.invoice))).toThrow();
    },
  );

  rule(
    'an invoice that was canceled is failed, cannot be paid, and may be canceled again',
    async (node, outside) => {
      const made = await node.createInvoice(invoiceCommand(node));
      await node.cancelInvoice(made.payment.index);
      await node.cancelInvoice(made.payment.index);
      const { payment } = await ended(node, made.paymentHash);
      expect(payment).toMatchObject({ status: 'failed', statusMsg: 'canceled', preimage: null });
      expect(await throwing(outside.pays(made.invoice))).toThrow();
      expect((await node.payment(made.payment.index))?.payment.status).toBe('failed');
    },
  );

  rule('an invoice that was paid cannot be canceled', async (node, outside) => {
    const made = await node.createInvoice(invoiceCommand(node));
    await outside.pays(made.invoice);
    const refusal = await node.cancelInvoice(made.payment.index).catch((error) => error);
    expect(isApiError(refusal, 'refused')).toBe(true);
    expect((await ended(node, made.paymentHash)).payment.status).toBe('completed');
  });

  rule('only an inbound invoice can be canceled', async (node, outside) => {
    const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
    const command = payCommand(node, invoice);
    known(await node.payInvoice(command));
    await ended(node, hash);
    const refusal = await node.cancelInvoice(command.index).catch((error) => error);
    expect(isApiError(refusal, 'refused')).toBe(true);
  });

  rule(
    'an invoice that nobody paid in time is failed as expired, and cannot be paid',
    async (node, outside) => {
      const made = await node.createInvoice(invoiceCommand(node, { expirationSecs: 60 }));
      await outside.advanceClock(120);
      const { payment } = await ended(node, made.paymentHash);
      expect(payment).toMatchObject({ status: 'failed', statusMsg: 'expired' });
      expect(payment.finalizedAtMs).toBeGreaterThanOrEqual(made.payment.expiresAtMs ?? Number.NaN);
      expect(await throwing(outside.pays(made.invoice))).toThrow();
    },
  );

  rule('what was never made is not found', async (node) => {
    const id = lightningId(randomHex(32));
    expect(await node.payment(paymentIndex(node.clock.now(), id))).toBeNull();
    expect(await node.latestPayment(id)).toBeNull();
  });
}
