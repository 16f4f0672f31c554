import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import type { Payment } from '../../src/model/payment.ts';
import type { CreateInvoiceCommand } from '../../src/nodes/node.ts';
import { withdrawLnurl } from '../../src/wallet/receive/withdraw.ts';
import { type EffectNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import type { PaymentServices } from '../../src/wallet/strings/payment-services.ts';
import { fittingInvoice } from '../support/fitting.ts';
import { rejection } from '../support/rejection.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { WITHDRAW_LNURL, WITHDRAW_TERMS } from './payment-strings.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

let world: WalletWorld;
beforeEach(async () => {
  world = await walletWorld();
});
afterEach(() => world.close());

const REQUEST = {
  lnurl: WITHDRAW_LNURL,
  amountMsat: null,
  description: null,
  personalNote: null,
  externalId: null,
};

/** Lets the node create one invoice, and returns its payment. */
function withInvoice(): Pick<Payment, 'index'> {
  const payment = samplePayment(1, { direction: 'inbound' });
  const { createdAtMs, hash } = payment;
  const createInvoice = async (command: CreateInvoiceCommand) =>
    fittingInvoice({ ...command, createdAtMs }, hash ?? '');
  Object.assign(world.fake.node, { createInvoice });
  return payment;
}

function servicesWith(submitWithdraw: () => Promise<void>): PaymentServices {
  const lnurl = { discover: async () => WITHDRAW_TERMS, submitWithdraw };
  return { lnurl } as unknown as PaymentServices;
}

test('after an invoice was handed over, every error of a withdrawal says that it is not known what was sent', async () => {
  const { owner } = await world.start();
  const payment = withInvoice();
  const broken = new TypeError('on purpose');
  const withdrawal = withdrawLnurl(
    owner,
    REQUEST,
    servicesWith(() => Promise.reject(broken)),
    { names: randomNames, signal: new AbortController().signal },
  );
  expect(await rejection(withdrawal)).toMatchObject({
    kind: 'internal',
    data: { sent: 'unknown', index: payment.index },
    cause: broken,
  });
});

test('so does the error that ends the wait for the money (docs/decisions.md 12)', async () => {
  const { owner } = await world.start();
  const payment = withInvoice();
  const stop = new AbortController();
  const stopping = new ApiError('overCapacity', 'The server stops.');
  const services = servicesWith(async () => stop.abort(stopping));
  const withdrawal = withdrawLnurl(owner, REQUEST, services, {
    names: randomNames,
    signal: stop.signal,
  });
  expect(await rejection(withdrawal)).toMatchObject({
    data: { sent: 'unknown', index: payment.index },
  });
});

test('so does an error of a repeat whose first run handed the invoice over (docs/decisions.md 12)', async () => {
  const { owner } = await world.start();
  Object.assign(world.fake.node, {
    createInvoice: () => Promise.reject(new ApiError('unreachable', 'The node is away.')),
  });
  const earlier: Readonly<Record<string, string>> = {
    withdrawal: JSON.stringify({
      callback: 'https://withdraw.example/callback',
      k1: 'a secret',
      amountMsat: '1000',
      description: null,
    }),
    'handed over': 'yes',
  };
  const names: EffectNames = {
    ...randomNames,
    isKeyed: true,
    earlier: (purpose) => earlier[purpose] ?? null,
    kept: async (purpose, draw) => earlier[purpose] ?? draw(),
  };
  const services = servicesWith(async () => undefined);
  const withdrawal = withdrawLnurl(owner, REQUEST, services, {
    names,
    signal: new AbortController().signal,
  });
  expect(await rejection(withdrawal)).toMatchObject({
    kind: 'unreachable',
    data: { sent: 'unknown' },
  });
});
