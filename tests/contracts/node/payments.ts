import { expect } from 'bun:test';
import { createHash } from 'node:crypto';
import type { WalletNode } from '../../../src/nodes/node.ts';
import type { Rules } from './kind.ts';
import {
  ended,
  invoiceCommand,
  known,
  lightningId,
  payCommand,
  questionOf,
  there,
} from './steps.ts';

/** Names of rules that not every kind can keep. */
export const ATTEMPTS_ARE_NUMBERED =
  'attempts of a hash are numbered, each greater than all before';
export const OWN_INDEX = "a payment carries the wallet's own index, and is found by no other";
export const UNSENT_IS_NEVER = 'what was not sent is never sent, and the node says so at once';

export const REPEATS_SAFELY =
  'a request that is sent again is one payment, and reported as its own';
export const MEETS_ANOTHER = 'a payment that another request made of the hash is told apart';

/** Lightning payments, their attempts, and what the node knows of them. */
export function paymentRules({ rule }: Rules): void {
  const balance = async (node: WalletNode) => (await node.info()).lightningBalanceMsat;

  rule(
    'a payment is known when it has begun, and completed with proof for a fee within its limit',
    async (node, outside) => {
      const before = await balance(node);
      const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'settle' });
      const command = payCommand(node, invoice);
      const report = known(await node.payInvoice(command));
      expect(report.payment).toMatchObject({
        index: command.index,
        createdAtMs: command.createdAtMs,
        direction: 'outbound',
        hash,
        amountMsat: 50_000n,
      });
      const { payment } = await ended(node, hash);
      expect(payment).toMatchObject({ status: 'completed', amountMsat: 50_000n });
      expect(payment.feesMsat).toBeLessThanOrEqual(command.maxFeeMsat);
      const proof = Buffer.from(payment.preimage ?? '', 'hex');
      expect(createHash('sha256').update(proof).digest('hex')).toBe(hash);
      expect(before - (await balance(node))).toBe(50_000n + (payment.feesMsat ?? 0n));
    },
  );

  rule('a payment whose receiver decides later is pending until then', async (node, outside) => {
    for (const settle of [true, false]) {
      const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'hold' });
      const command = payCommand(node, invoice);
      expect(known(await node.payInvoice(command)).payment.status).toBe('pending');
      expect((await node.payment(command.index))?.payment.status).toBe('pending');
      await outside.decide(hash, settle);
      const { payment } = await ended(node, hash);
      expect(payment.status).toBe(settle ? 'completed' : 'failed');
      expect(payment.preimage === null).toBe(!settle);
    }
  });

  rule(
    'a payment that fails takes no money, and may be tried again as another attempt',
    async (node, outside) => {
      const before = await balance(node);
      const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'fail' });
      const first = payCommand(node, invoice);
      const one = known(await node.payInvoice(first));
      const { payment } = await ended(node, hash);
      expect(payment).toMatchObject({ status: 'failed', preimage: null });
      expect(payment.statusMsg).toMatch(/\w/);
      const again = payCommand(node, invoice, { createdAtMs: first.createdAtMs + 1 });
      const two = known(await node.payInvoice(again));
      expect(two.payment.index).toBe(again.index);
      expect((await ended(node, hash)).payment.status).toBe('failed');
      if (one.attempt !== null) expect(two.attempt).toBeGreaterThan(one.attempt);
      expect(await balance(node)).toBe(before);
    },
  );

  rule(
    'a hash is not paid again while it is on its way, nor when it was paid',
    async (node, outside) => {
      const before = await balance(node);
      const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'hold' });
      const command = payCommand(node, invoice);
      const first = known(await node.payInvoice(command));
      const second = there(await node.payInvoice(command));
      expect(second).toMatchObject({
        attempt: first.attempt,
        payment: { status: 'pending', hash },
      });
      await outside.decide(hash, true);
      const end = await ended(node, hash);
      const third = there(await node.payInvoice(command));
      expect(third).toMatchObject({
        attempt: first.attempt,
        payment: { status: 'completed', hash },
      });
      expect(third.payment.preimage).toBe(end.payment.preimage);
      expect(before - (await balance(node))).toBe(50_000n + (end.payment.feesMsat ?? 0n));
    },
  );

  rule(REPEATS_SAFELY, async (node, outside) => {
    expect(node.repeatsSafely).toBe(true);
    const before = await balance(node);
    const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'hold' });
    const command = payCommand(node, invoice, { isRepeat: true });
    const first = known(await node.payInvoice(command));
    const { index } = command;
    const again = known(await node.payInvoice(command));
    expect(again).toMatchObject({ attempt: first.attempt, payment: { index, status: 'pending' } });
    await outside.decide(hash, true);
    const end = await ended(node, hash);
    const later = known(await node.payInvoice(command));
    expect(later).toMatchObject({
      attempt: first.attempt,
      payment: { index, status: 'completed' },
    });
    expect(before - (await balance(node))).toBe(50_000n + (end.payment.feesMsat ?? 0n));
  });

  rule(MEETS_ANOTHER, async (node, outside) => {
    const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'hold' });
    const first = known(await node.payInvoice(payCommand(node, invoice)));
    const createdAtMs = first.payment.createdAtMs - 3_600_000;
    const met = await node.payInvoice(payCommand(node, invoice, { createdAtMs }));
    expect(met.state).toBe('taken');
    expect(there(met)).toMatchObject({ attempt: first.attempt, payment: { status: 'pending' } });
    // It is told under the identity that the feed gives it, not under that of this request.
    expect(there(met).payment.createdAtMs).not.toBe(createdAtMs);
    await outside.decide(hash, true);
    await ended(node, hash);
    const paid = await node.payInvoice(payCommand(node, invoice, { createdAtMs }));
    expect(paid).toMatchObject({ state: 'taken', payment: { status: 'completed', hash } });
  });

  rule('orders for one hash that meet make one payment', async (node, outside) => {
    const before = await balance(node);
    const { invoice, hash } = await outside.invoice({ amountMsat: 50_000n, behavior: 'settle' });
    const command = payCommand(node, invoice);
    const reports = await Promise.all([1, 2, 3].map(() => node.payInvoice(command)));
    const attempts = reports.map((report) => there(report).attempt);
    expect(new Set(attempts).size).toBe(1);
    const { payment } = await ended(node, hash);
    expect(before - (await balance(node))).toBe(50_000n + (payment.feesMsat ?? 0n));
  });

  rule(ATTEMPTS_ARE_NUMBERED, async (node, outside) => {
    const pay = async (behavior: 'settle' | 'fail', times = 1) => {
      const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior });
      const newest = () => node.newestAttempt(lightningId(hash));
      let made = 0;
      for (let round = 0; round < times; round++) {
        expect(await newest()).toBe(made);
        const { attempt, payment } = known(await node.payInvoice(payCommand(node, invoice)));
        expect(attempt).toBeGreaterThan(made);
        const question = questionOf(payment, { afterAttempt: made });
        made = attempt ?? Number.NaN;
        const end = await ended(node, hash);
        expect(end).toMatchObject({
          attempt: made,
          payment: { status: behavior === 'settle' ? 'completed' : 'failed' },
        });
        expect(await node.sendOutcome(question)).toMatchObject({ state: 'known', attempt: made });
        // After one that has paid the hash no other is made.
        if (behavior === 'settle') {
          const later = await node.sendOutcome({ ...question, afterAttempt: made });
          expect(later).toMatchObject({ state: 'taken', attempt: made });
        }
      }
      expect(await newest()).toBe(made);
      return made;
    };
    await pay('fail', 3);
    const first = await pay('settle');
    expect(await pay('settle')).toBeGreaterThan(first);
  });

  rule(OWN_INDEX, async (node, outside) => {
    const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
    expect(await node.newestAttempt(lightningId(hash))).toBeNull();
    const command = payCommand(node, invoice);
    expect(known(await node.payInvoice(command)).attempt).toBeNull();
    expect((await ended(node, hash)).payment.index).toBe(command.index);
    const other = payCommand(node, invoice, { createdAtMs: command.createdAtMs + 1 });
    expect(await node.payment(other.index)).toBeNull();
  });

  rule(
    'more than the wallet can send is refused, and nothing is kept of it',
    async (node, outside) => {
      const { lightningMaxSendableMsat, lightningBalanceMsat } = await node.info();
      const amountMsat = lightningMaxSendableMsat + 1_000_000n;
      const { invoice } = await outside.invoice({ amountMsat, behavior: 'settle' });
      const command = payCommand(node, invoice);
      const report = await node.payInvoice(command);
      expect(report.state === 'refused' && report.error.kind).toBe('refused');
      expect(await node.payment(command.index)).toBeNull();
      expect(await balance(node)).toBe(lightningBalanceMsat);
    },
  );

  rule(
    "the wallet's own invoice is refused, and stays payable by others",
    async (node, outside) => {
      const made = await node.createInvoice(invoiceCommand(node));
      const report = await node.payInvoice(payCommand(node, made.invoice));
      expect(report.state).toBe('refused');
      await outside.pays(made.invoice);
      expect((await ended(node, made.paymentHash)).payment).toMatchObject({
        status: 'completed',
        direction: 'inbound',
      });
    },
  );

  rule(
    'an invoice that has expired is refused, and what was not sent of it is never sent',
    async (node, outside) => {
      const terms = { amountMsat: 1000n, behavior: 'settle', expirySecs: 60 } as const;
      const { invoice, hash } = await outside.invoice(terms);
      const command = payCommand(node, invoice);
      await outside.advanceClock(3600);
      const report = await node.payInvoice(command);
      expect(report.state === 'refused' && report.error.kind).toBe('refused');
      const { payment } = await node.createInvoice(invoiceCommand(node));
      const begun = {
        ...payment,
        direction: 'outbound' as const,
        index: command.index,
        hash,
        invoice,
        expiresAtMs: command.invoice.expiresAtMs,
      };
      const afterAttempt = await node.newestAttempt(lightningId(hash));
      expect(await node.sendOutcome(questionOf(begun, { afterAttempt }))).toEqual({
        state: 'never',
        reason: 'not sent',
      });
    },
  );

  rule('what became of a send is told as long as one asks', async (node, outside) => {
    const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'hold' });
    const command = payCommand(node, invoice);
    const afterAttempt = await node.newestAttempt(lightningId(hash));
    const { payment: begun } = known(await node.payInvoice(command));
    const ask = () => node.sendOutcome(questionOf(begun, { afterAttempt }));
    const { index } = command;
    expect(await ask()).toMatchObject({ state: 'known', payment: { index, status: 'pending' } });
    await outside.decide(hash, true);
    await ended(node, hash);
    const told = await ask();
    expect(told).toMatchObject({ state: 'known', payment: { index, status: 'completed', hash } });
    const { attempt } = known(told as Extract<typeof told, { state: 'known' }>);
    expect(await node.sendOutcome(questionOf(begun, { afterAttempt, attempt }))).toEqual(told);
  });

  rule(UNSENT_IS_NEVER, async (node, outside) => {
    const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'settle' });
    const { payment } = await node.createInvoice(invoiceCommand(node));
    const { index } = payCommand(node, invoice);
    const begun = { ...payment, direction: 'outbound' as const, index, hash, invoice };
    expect(await node.sendOutcome(questionOf(begun))).toEqual({
      state: 'never',
      reason: 'not sent',
    });
  });

  rule('an earlier attempt is not taken for the one that is asked about', async (node, outside) => {
    const { invoice, hash } = await outside.invoice({ amountMsat: 1000n, behavior: 'fail' });
    const first = payCommand(node, invoice);
    const { payment } = known(await node.payInvoice(first));
    await ended(node, hash);
    const afterAttempt = await node.newestAttempt(lightningId(hash));
    const { index, createdAtMs } = payCommand(node, invoice, {
      createdAtMs: first.createdAtMs + 1,
    });
    const retry = { ...payment, index, createdAtMs };
    const outcome = await node.sendOutcome(questionOf(retry, { afterAttempt }));
    expect(outcome.state).not.toBe('known');
  });
}
