import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { CreatedInvoice } from '../../src/nodes/node.ts';
import { randomNames } from '../../src/wallet/effect-names.ts';
import type { PaymentServices } from '../../src/wallet/payment-services.ts';
import { withdrawLnurl } from '../../src/wallet/withdraw.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { WITHDRAW_LNURL, WITHDRAW_TERMS } from './payment-strings.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

test('after an invoice was handed over, every error of a withdrawal says that it is not known what was sent', async () => {
  const { owner } = await world.start();
  const payment = samplePayment(1, { direction: 'inbound' });
  const created: CreatedInvoice = {
    payment,
    invoice: 'an invoice',
    paymentHash: 'ab'.repeat(32),
    paymentSecret: 'cd'.repeat(32),
    expiresAtMs: 1_800_000_000_000,
  };
  Object.assign(world.fake.node, { createInvoice: async () => created });
  const broken = new TypeError('on purpose');
  const services = {
    lnurl: {
      discover: async () => WITHDRAW_TERMS,
      submitWithdraw: () => Promise.reject(broken),
    },
  } as unknown as PaymentServices;
  const withdrawal = withdrawLnurl(
    owner,
    { lnurl: WITHDRAW_LNURL, amountMsat: null, description: null, personalNote: null },
    services,
    { names: randomNames, signal: new AbortController().signal },
  );
  await expect(withdrawal).rejects.toMatchObject({
    kind: 'internal',
    data: { sent: 'unknown', index: payment.index },
    cause: broken,
  });
});
