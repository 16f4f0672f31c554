import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { decodeAddress } from '../../../../src/codecs/address.ts';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { decodeInvoice, decodeOffer } from '../../../../src/codecs/bolt12/index.ts';
import { ApiError } from '../../../../src/model/errors.ts';
import { blankPayment, type Payment } from '../../../../src/model/payment.ts';
import { idOfIndex, paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type {
  NodeFetchedOffers,
  NodeOnchain,
  PayFetchedCommand,
  PayOnchainCommand,
  SignedSend,
} from '../../../../src/nodes/node.ts';
import { reportSend } from '../../../../src/nodes/sandbox/lightning/sends.ts';
import { onchainWorld, payOnchain } from '../../../support/onchain-world.ts';
import { ended, invoiceCommand, lightningWorlds } from './lightning-world.ts';

const lightningWorld = lightningWorlds();

function begun(index: Payment['index'], rail: Payment['rail'] = 'invoice'): Payment {
  return blankPayment({
    index,
    rail,
    direction: 'outbound',
    status: 'pending',
    statusMsg: 'pending',
    createdAtMs: 1,
    updatedAtMs: 1,
  });
}

const question = (payment: Payment, signed: SignedSend | null = null) => ({
  payment,
  afterAttempt: null,
  attempt: null,
  signed,
  fetched: null,
});

describe('payInvoice', () => {
  test('reports the pending payment, without an attempt of its own', async () => {
    const { node, outsideInvoice, payCommand } = await lightningWorld();
    const command = payCommand(await outsideInvoice('hold'));
    const id = idOfIndex(command.index);
    expect(await node.newestAttempt(id)).toBeNull();
    const report = await node.payInvoice(command);
    expect(report).toMatchObject({
      state: 'known',
      attempt: null,
      payment: { index: command.index, status: 'pending' },
    });
    expect(await node.newestAttempt(id)).toBeNull();
  });

  test('reports what was refused as refused, and nothing is recorded or spent', async () => {
    const { node, outsideInvoice, payCommand } = await lightningWorld();
    const before = await node.info();
    const command = payCommand(await outsideInvoice('settle', 2_000_000_000n), 2_000_000_000n);
    const report = await node.payInvoice(command);
    expect(report).toMatchObject({
      state: 'refused',
      error: { kind: 'refused', message: expect.stringContaining('can send') },
    });
    expect(await node.payment(command.index)).toBeNull();
    expect(await node.info()).toEqual(before);
  });

  test('refuses what the reserve of the channels covers alone, and names that', async () => {
    const { sandbox, outsideInvoice, payCommand } = await lightningWorld();
    const seed = randomBytes(32);
    await sandbox.connector.signup(seed, { partnerPk: null });
    const { userPk, node } = await sandbox.connector.connectRoot(seed);
    const refusalOf = async () => {
      const report = await node.payInvoice(payCommand(await outsideInvoice('settle')));
      return report.state === 'refused' ? report.error.message : null;
    };
    const needs = 'over Lightning and this needs 5006 with fees';
    expect(await refusalOf()).toBe(
      `The wallet can send 0 sats ${needs}: receive something first, or send less.`,
    );
    await sandbox.controls.fund(userPk, { amountMsat: 7_000_000n, rail: 'lightning' });
    expect(await refusalOf()).toBe(
      `The wallet can send 0 sats ${needs}. Its channels keep 7000 sats more as their reserve: receive something first, or send less.`,
    );
  });

  test('of the same index reports the first payment, whatever became of it and of the invoice', async () => {
    const { node, clock, outsideInvoice, payCommand } = await lightningWorld();
    for (const behavior of ['settle', 'fail'] as const) {
      const command = payCommand(await outsideInvoice(behavior));
      await node.payInvoice(command);
      const first = await ended(node, command.index);
      clock.nowMs += 3_600_000;
      expect(await node.payInvoice(command)).toEqual({
        state: 'known',
        payment: first,
        attempt: null,
      });
    }
  });

  test('of a hash that is pending or completed makes no other payment and reports that one', async () => {
    const { node, outsideInvoice, payCommand } = await lightningWorld();
    for (const behavior of ['settle', 'hold'] as const) {
      const invoice = await outsideInvoice(behavior);
      const first = payCommand(invoice);
      await node.payInvoice(first);
      if (behavior === 'settle') await ended(node, first.index);
      const second = payCommand(invoice);
      expect(await node.payInvoice(second)).toMatchObject({
        state: 'known',
        payment: { index: first.index },
      });
      expect(await node.payment(second.index)).toBeNull();
    }
  });

  test('of a failed hash is a new payment', async () => {
    const { node, outsideInvoice, payCommand } = await lightningWorld();
    const invoice = await outsideInvoice('fail');
    const first = payCommand(invoice);
    await node.payInvoice(first);
    await ended(node, first.index);
    const second = payCommand(invoice);
    await node.payInvoice(second);
    expect((await ended(node, second.index)).index).not.toBe(first.index);
    expect(
      (await node.latestPayment(paymentId('ln', decodeBolt11(invoice).paymentHash)))?.payment.index,
    ).toBe(second.index);
  });

  test('of its own invoice is refused, with the very index of the invoice too', async () => {
    const { node, payCommand } = await lightningWorld();
    const created = await node.createInvoice(invoiceCommand());
    const { index } = created.payment;
    for (const command of [
      payCommand(created.invoice, 1000n),
      { ...payCommand(created.invoice, 1000n), index },
    ]) {
      expect(await node.payInvoice(command)).toMatchObject({
        state: 'refused',
        error: { message: expect.stringContaining('your own') },
      });
    }
  });
});

test('a send that the full disk did not take is refused, unless the file has its payment already', async () => {
  const { world, wallet, command, fund } = onchainWorld();
  const userPk = wallet();
  fund(userPk, 100_000);
  const order = command('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 30_000);
  const full = new ApiError('overCapacity', 'The disk is full.');
  const report = () =>
    reportSend(world, {
      userPk,
      index: order.index,
      work() {
        throw full;
      },
    });
  expect(await report()).toEqual({ state: 'refused', error: full });
  const payment = payOnchain(world, userPk, order);
  expect(await report()).toEqual({ state: 'known', payment, attempt: null });
});

describe('paying an offer in two steps', () => {
  async function fetching() {
    const { node, sandbox, clock } = await lightningWorld();
    const { offer } = await sandbox.controls.createOffer({
      minAmountMsat: null,
      description: null,
      behavior: 'settle',
    });
    const offers = node.offers as NodeFetchedOffers;
    const fetched = async (amountMsat: bigint): Promise<PayFetchedCommand> => ({
      index: paymentIndex(++clock.nowMs, paymentId('fs', randomBytes(32).toString('hex'))),
      createdAtMs: clock.nowMs,
      maxFeeMsat: 10_000n,
      personalNote: null,
      externalId: null,
      invoice: decodeInvoice(
        await offers.fetchInvoice(
          { offer: decodeOffer(offer), amountMsat, message: 'for you', viaName: null },
          new AbortController().signal,
        ),
      ),
    });
    return { node, offers, fetched };
  }

  test('a fetched invoice says what was asked for, and moves no money', async () => {
    const { node, fetched } = await fetching();
    const before = (await node.info()).lightningBalanceMsat;
    const { index, invoice } = await fetched(1000n);
    expect(invoice).toMatchObject({ amountMsat: 1000n, payerNote: 'for you' });
    expect(await node.payment(index)).toBeNull();
    expect((await node.info()).lightningBalanceMsat).toBe(before);
  });

  test('payFetched reports the payment, and the first for a repeat of its index', async () => {
    const { node, offers, fetched } = await fetching();
    const command = await fetched(1000n);
    const { invoice } = command;
    expect(await offers.payFetched(command)).toMatchObject({
      state: 'known',
      payment: { hash: invoice.paymentHash, amountMsat: 1000n, message: 'for you' },
      attempt: null,
    });
    const payment = await ended(node, command.index);
    const again = { ...command, invoice: (await fetched(2000n)).invoice };
    expect(await offers.payFetched(again)).toEqual({ state: 'known', payment, attempt: null });
    expect(await offers.payFetched(await fetched(9_000_000_000n))).toMatchObject({
      state: 'refused',
      error: { kind: 'refused' },
    });
  });
});

describe('sendOutcome', () => {
  test('knows every payment that reached the sandbox, and says never of all others', async () => {
    const { node, outsideInvoice, payCommand } = await lightningWorld();
    const command = payCommand(await outsideInvoice('hold'));
    expect(await node.sendOutcome(question(begun(command.index)))).toEqual({
      state: 'never',
      reason: 'not sent',
    });
    await node.payInvoice(command);
    expect(await node.sendOutcome(question(begun(command.index)))).toMatchObject({
      state: 'known',
      payment: { index: command.index, status: 'pending' },
      attempt: null,
    });
  });

  test('takes no inbound payment of the same index for the send', async () => {
    const { node } = await lightningWorld();
    const { payment } = await node.createInvoice(invoiceCommand());
    expect(await node.sendOutcome(question(begun(payment.index)))).toMatchObject({
      state: 'never',
    });
  });

  test('of a signed transaction is unknown until it is published, since it may yet be', async () => {
    const { node, clock } = await lightningWorld();
    const onchain = node.onchain as NodeOnchain;
    const command: PayOnchainCommand = {
      index: paymentIndex(++clock.nowMs, paymentId('os', randomBytes(32).toString('hex'))),
      createdAtMs: clock.nowMs,
      amountMsat: 30_000_000n,
      address: decodeAddress('bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080'),
      priority: 'normal',
      maxFeeMsat: null,
      personalNote: null,
      externalId: null,
    };
    const payment = begun(command.index, 'onchain');
    expect(await node.sendOutcome(question(payment))).toMatchObject({ state: 'never' });
    const signed = await onchain.sign(command);
    expect(await node.sendOutcome(question(payment, signed))).toEqual({ state: 'unknown' });
    const report = await onchain.publish(command, signed);
    expect(report).toMatchObject({ state: 'known', payment: { txid: signed.txid }, attempt: null });
    expect(await onchain.publish(command, signed)).toEqual(report);
    expect(await node.sendOutcome(question(payment, signed))).toMatchObject({ ...report });
    await onchain.renew(signed);
    await onchain.release(signed);
  });
});
