import { afterEach, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { ApiError } from '../../../../src/model/errors.ts';
import { blankPayment, type Payment } from '../../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type {
  CreateInvoiceCommand,
  NodeOffers,
  NodeOnchain,
  PayInvoiceCommand,
  PayOfferCommand,
  PayOnchainCommand,
  SignedSend,
  WalletNode,
} from '../../../../src/nodes/node.ts';
import { hasWaitingWork } from '../../../../src/nodes/sandbox/chain/blocks.ts';
import {
  createOutsideInvoice,
  paySpontaneously,
} from '../../../../src/nodes/sandbox/lightning/outside.ts';
import { advance, startInvoicePayment } from '../../../../src/nodes/sandbox/lightning/payments.ts';
import { reportSend } from '../../../../src/nodes/sandbox/lightning/sends.ts';
import { findPayment } from '../../../../src/nodes/sandbox/world/payments.ts';
import { until } from '../../../support/until.ts';
import { onchainWorld, payOnchain } from '../onchain/onchain-world.ts';
import { openTrialSandbox } from '../trial-sandbox.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function walletWorld() {
  const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs };
  const sandbox = openTrialSandbox(':memory:', clock);
  cleanups.push(() => sandbox.connector.close());
  const wallet = async () => {
    const { rootSeed, userPk } = await sandbox.controls.createWallet();
    const { node } = await sandbox.connector.connectRoot(Buffer.from(rootSeed, 'hex'));
    return { node, userPk };
  };
  const outsideInvoice = async (behavior: 'settle' | 'fail' | 'hold', amountMsat = 5_000_000n) =>
    (
      await sandbox.controls.createInvoice({
        amountMsat,
        description: null,
        expirationSecs: 600,
        behavior,
      })
    ).invoice;
  const payCommand = (invoice: string, amountMsat = 5_000_000n): PayInvoiceCommand => {
    const createdAtMs = ++clock.nowMs;
    const { paymentHash } = decodeBolt11(invoice);
    return {
      index: paymentIndex(createdAtMs, paymentId('ln', paymentHash)),
      createdAtMs,
      amountMsat,
      maxFeeMsat: 100_000n,
      invoice,
      personalNote: null,
      message: null,
    };
  };
  return { clock, sandbox, wallet, outsideInvoice, payCommand, ...(await wallet()) };
}

/** Waits until the payment has left its first state, since the receiver decides in a transaction of its own. */
async function ended(node: WalletNode, index: Payment['index']): Promise<Payment> {
  return until(async () => {
    const seen = await node.payment(index);
    return seen !== null && seen.payment.status !== 'pending' && seen.payment;
  }, 'the payment has ended');
}

function invoiceCommand(change: Partial<CreateInvoiceCommand> = {}): CreateInvoiceCommand {
  return {
    createdAtMs: 1_800_000_000_000,
    expirationSecs: 600,
    amountMsat: 1000n,
    description: null,
    descriptionHash: null,
    personalNote: null,
    partnerPk: null,
    partnerPropFeePpm: null,
    partnerBaseFeeMsat: null,
    preimage: null,
    ...change,
  };
}

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
});

describe('payInvoice', () => {
  test('reports the pending payment, without an attempt of its own', async () => {
    const { node, outsideInvoice, payCommand } = await walletWorld();
    expect(await node.newestAttempt()).toBeNull();
    const command = payCommand(await outsideInvoice('hold'));
    const report = await node.payInvoice(command);
    expect(report).toMatchObject({
      state: 'known',
      attempt: null,
      payment: { index: command.index, status: 'pending' },
    });
    expect(await node.newestAttempt()).toBeNull();
  });

  test('reports what was refused as refused, and nothing is recorded or spent', async () => {
    const { node, outsideInvoice, payCommand } = await walletWorld();
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

  test('of the same index reports the first payment, whatever became of it and of the invoice', async () => {
    const { node, clock, outsideInvoice, payCommand } = await walletWorld();
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
    const { node, outsideInvoice, payCommand } = await walletWorld();
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
    const { node, outsideInvoice, payCommand } = await walletWorld();
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
    const { node, payCommand } = await walletWorld();
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

test('payOffer reports the payment, and the first for a repeat of its index', async () => {
  const { node, sandbox, clock } = await walletWorld();
  const { offer } = await sandbox.controls.createOffer({
    minAmountMsat: null,
    description: null,
    behavior: 'settle',
  });
  const command: PayOfferCommand = {
    index: paymentIndex(++clock.nowMs, paymentId('fs', randomBytes(32).toString('hex'))),
    createdAtMs: clock.nowMs,
    amountMsat: 1000n,
    maxFeeMsat: 10_000n,
    offer,
    message: null,
    viaName: null,
    personalNote: null,
  };
  const offers = node.offers as NodeOffers;
  expect(await offers.payOffer(command)).toMatchObject({ state: 'known', attempt: null });
  const first = await ended(node, command.index);
  expect(await offers.payOffer({ ...command, amountMsat: 2000n })).toEqual({
    state: 'known',
    payment: first,
    attempt: null,
  });
  const index = paymentIndex(++clock.nowMs, paymentId('fs', randomBytes(32).toString('hex')));
  const tooMuch = { ...command, index, amountMsat: 9_000_000_000n };
  expect(await offers.payOffer(tooMuch)).toMatchObject({
    state: 'refused',
    error: { kind: 'refused' },
  });
});

describe('sendOutcome', () => {
  test('knows every payment that reached the sandbox, and says never of all others', async () => {
    const { node, outsideInvoice, payCommand } = await walletWorld();
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
    const { node } = await walletWorld();
    const { payment } = await node.createInvoice(invoiceCommand());
    expect(await node.sendOutcome(question(begun(payment.index)))).toMatchObject({
      state: 'never',
    });
  });

  test('of a signed transaction is unknown until it is published, since it may yet be', async () => {
    const { node, clock } = await walletWorld();
    const onchain = node.onchain as NodeOnchain;
    const command: PayOnchainCommand = {
      index: paymentIndex(++clock.nowMs, paymentId('os', randomBytes(32).toString('hex'))),
      createdAtMs: clock.nowMs,
      amountMsat: 30_000_000n,
      address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
      priority: 'normal',
      maxFeeMsat: null,
      personalNote: null,
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

describe('an invoice made with a preimage', () => {
  const preimage = 'ab'.repeat(32);

  test('is that of the preimage, and making it again returns the first with its payment', async () => {
    const { node, clock } = await walletWorld();
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
    const { node, sandbox } = await walletWorld();
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
    const { node, wallet, payCommand } = await walletWorld();
    const other = await wallet();
    const { invoice, payment } = await other.node.createInvoice(invoiceCommand({ preimage }));
    // A payment of the invoice under the very same index does not make the payer its receiver.
    await node.payInvoice({ ...payCommand(invoice, 1000n), index: payment.index });
    await expect(node.createInvoice(invoiceCommand({ preimage }))).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('another invoice'),
    });
  });
});

describe('a payment that the receiver holds', () => {
  /** BOLT 11's default final delta of 18, and 80 for one hop. */
  const HELD_BLOCKS = 98;

  test('fails as timed out when its HTLCs expire after 98 blocks, and the money is back', async () => {
    const { node, sandbox, outsideInvoice, payCommand } = await walletWorld();
    const before = await node.info();
    const command = payCommand(await outsideInvoice('hold'));
    await node.payInvoice(command);
    await sandbox.controls.mine(HELD_BLOCKS - 1);
    expect((await node.payment(command.index))?.payment.status).toBe('pending');
    await sandbox.controls.mine(1);
    expect((await node.payment(command.index))?.payment).toMatchObject({
      status: 'failed',
      statusMsg: 'timed out',
      feesMsat: 0n,
      preimage: null,
    });
    const after = await node.info();
    expect(after.lightningBalanceMsat).toBe(before.lightningBalanceMsat);
  });

  test('can be decided until then and not after, and may be paid again', async () => {
    const { node, sandbox, outsideInvoice, payCommand } = await walletWorld();
    const decided = payCommand(await outsideInvoice('hold'));
    const expired = payCommand(await outsideInvoice('hold'));
    await node.payInvoice(decided);
    await node.payInvoice(expired);
    await sandbox.controls.mine(HELD_BLOCKS - 1);
    const hashOf = ({ invoice }: PayInvoiceCommand) => decodeBolt11(invoice).paymentHash;
    await sandbox.controls.decideHold({ paymentHash: hashOf(decided), settle: true });
    await sandbox.controls.mine(1);
    await expect(
      sandbox.controls.decideHold({ paymentHash: hashOf(expired), settle: true }),
    ).rejects.toMatchObject({ kind: 'notFound' });
    expect((await node.payment(decided.index))?.payment.status).toBe('completed');
    expect((await node.payment(expired.index))?.payment.status).toBe('failed');
    expect(await node.payInvoice(payCommand(expired.invoice))).toMatchObject({
      state: 'known',
      payment: { status: 'pending' },
    });
  });

  function heldWorld() {
    const setup = onchainWorld({ blockSecs: 10 });
    const { world, wallet, miner } = setup;
    const userPk = wallet();
    paySpontaneously(world, userPk, { amountMsat: 100_000_000n, message: null });
    // The channel that the money came by is confirmed, so that nothing else waits for a block.
    miner.mine(1);
    const start = () => {
      const { invoice, paymentHash } = createOutsideInvoice(world, {
        amountMsat: 1000n,
        description: null,
        descriptionHash: null,
        expirationSecs: 600,
        behavior: 'hold',
      });
      const createdAtMs = world.clock.now();
      const terms = { createdAtMs, amountMsat: 1000n, maxFeeMsat: 10_000n };
      const index = paymentIndex(createdAtMs, paymentId('ln', paymentHash));
      const texts = { invoice, personalNote: null, message: null };
      startInvoicePayment(world, userPk, { index, ...terms, ...texts });
      return index;
    };
    return { ...setup, userPk, start };
  }

  test('has its 98 blocks counted from then, whatever came due before and however often it is taken up', () => {
    const { world, miner, userPk, start } = heldWorld();
    const passBlocks = (count: number) => world.clock.advance(count * 10_000);
    passBlocks(1000);
    const index = start();
    advance(world, userPk, index);
    passBlocks(50);
    // A restart calls this for every payment on its way.
    advance(world, userPk, index);
    passBlocks(HELD_BLOCKS - 51);
    miner.catchUp();
    expect(findPayment(world, userPk, index)?.status).toBe('pending');
    passBlocks(1);
    miner.catchUp();
    expect(findPayment(world, userPk, index)?.statusMsg).toBe('timed out');
    miner.close();
  });

  test('makes the miner go on until it ends, and one that is on its way does not', () => {
    const { world, miner, userPk, start } = heldWorld();
    const index = start();
    expect(hasWaitingWork(world)).toBe(false);
    advance(world, userPk, index);
    expect(hasWaitingWork(world)).toBe(true);
    miner.mine(HELD_BLOCKS);
    expect(hasWaitingWork(world)).toBe(false);
    miner.close();
  });
});
