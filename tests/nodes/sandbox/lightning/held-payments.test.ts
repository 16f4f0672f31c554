import { describe, expect, test } from 'bun:test';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import { hasWaitingWork } from '../../../../src/nodes/sandbox/chain/blocks.ts';
import { advance } from '../../../../src/nodes/sandbox/lightning/decisions.ts';
import {
  createOutsideInvoice,
  paySpontaneously,
} from '../../../../src/nodes/sandbox/lightning/outside.ts';
import { startInvoicePayment } from '../../../../src/nodes/sandbox/lightning/payments.ts';
import { findPayment } from '../../../../src/nodes/sandbox/world/payments.ts';
import { onchainWorld } from '../../../support/onchain-world.ts';
import { rejection } from '../../../support/rejection.ts';
import { lightningWorlds } from './lightning-world.ts';

const lightningWorld = lightningWorlds();

describe('a payment that the receiver holds', () => {
  /** BOLT 11's default final delta of 18, and 80 for one hop. */
  const HELD_BLOCKS = 98;

  test('fails as timed out when its HTLCs expire after 98 blocks, and the money is back', async () => {
    const { node, sandbox, outsideInvoice, payCommand } = await lightningWorld();
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
    const { node, sandbox, outsideInvoice, payCommand } = await lightningWorld();
    const decided = payCommand(await outsideInvoice('hold'));
    const expired = payCommand(await outsideInvoice('hold'));
    await node.payInvoice(decided);
    await node.payInvoice(expired);
    await sandbox.controls.mine(HELD_BLOCKS - 1);
    await sandbox.controls.decideHold({ paymentHash: decided.invoice.paymentHash, settle: true });
    await sandbox.controls.mine(1);
    expect(
      await rejection(
        sandbox.controls.decideHold({ paymentHash: expired.invoice.paymentHash, settle: true }),
      ),
    ).toMatchObject({ kind: 'notFound' });
    expect((await node.payment(decided.index))?.payment.status).toBe('completed');
    expect((await node.payment(expired.index))?.payment.status).toBe('failed');
    expect(await node.payInvoice(payCommand(expired.invoice.text))).toMatchObject({
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
      const texts = {
        invoice: decodeBolt11(invoice),
        personalNote: null,
        externalId: null,
        message: null,
      };
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
