import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { isApiError } from '../../../src/model/errors.ts';
import type { Payment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import {
  cancelInvoice,
  createInvoice,
  incomingPayment,
} from '../../../src/nodes/cln/lightning/invoices.ts';
import type { ClnRpc } from '../../../src/nodes/cln/reads/rpc.ts';
import type { CreateInvoiceCommand } from '../../../src/nodes/node.ts';
import { invoiceCommand } from '../../contracts/node/steps.ts';
import { rejection } from '../../support/rejection.ts';
import { FakeCln, NODE_SECS, refusal } from './fake-cln.ts';
import { type FakeWallet, fakeWallet, rpcOf } from './fake-wallet.ts';

let cln: FakeCln;
let wallet: FakeWallet;
let rpc: ClnRpc;
let published: Payment[];
beforeEach(() => {
  cln = new FakeCln();
  wallet = fakeWallet();
  rpc = rpcOf(cln);
  published = [];
  wallet.local.subscribe({
    changed: (seen) => published.push(...seen.map(({ payment }) => payment)),
    look: () => undefined,
  });
});
afterEach(() => cln.stop());

const CREATED_AT_MS = NODE_SECS * 1000 - 250;
const command = (change: Partial<CreateInvoiceCommand> = {}) =>
  invoiceCommand(wallet, {
    ...{ createdAtMs: CREATED_AT_MS, expirationSecs: 90 },
    ...{ personalNote: 'mine', message: 'theirs' },
    ...change,
  });
const create = (change?: Partial<CreateInvoiceCommand>) =>
  createInvoice({ rpc, owner: rpc, wallet }, command(change));
const cancel = (payment: Payment) => cancelInvoice({ rpc, owner: rpc, wallet }, payment.index);

describe('an invoice', () => {
  test('above the largest amount that the node could tell again is refused, and not made', async () => {
    const most = BigInt(Number.MAX_SAFE_INTEGER);
    const error = await rejection(create({ amountMsat: most + 1n }));
    expect(isApiError(error, 'refused') && error.message).toBe(
      'The largest invoice on Core Lightning is of 9007199254740.991 sats: ask for less, or make one without an amount.',
    );
    expect(cln.asked).toEqual([]);
    expect((await create({ amountMsat: most })).payment.amountMsat).toBe(most);
  });

  test('carries its index as its label, and expires as it encodes', async () => {
    const made = await create();
    const index = paymentIndex(CREATED_AT_MS, paymentId('ln', made.paymentHash));
    expect(cln.of('invoice')).toEqual([
      {
        amount_msat: '1000000msat',
        label: `wallet-sidecar/${index}`,
        description: 'tea',
        expiry: 90,
        preimage: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(made).toMatchObject({
      paymentSecret: '11'.repeat(32),
      expiresAtMs: (NODE_SECS + 90) * 1000,
      payment: {
        index,
        createdAtMs: CREATED_AT_MS,
        status: 'pending',
        statusMsg: 'invoice generated',
        amountMsat: 1_000_000n,
        expiresAtMs: (NODE_SECS + 90) * 1000,
        invoice: made.invoice,
        personalNote: 'mine',
        externalId: null,
        message: 'theirs',
        preimage: null,
      },
    });
    const found = await incomingPayment({ owner: rpc, wallet }, made.paymentHash);
    const { personalNote: _, message: __, ...kept } = made.payment;
    expect(found?.payment).toMatchObject(kept);
  });

  test('may name no amount and no description', async () => {
    const made = await create({ amountMsat: null, description: null });
    expect(cln.of('invoice')).toMatchObject([{ amount_msat: 'any', description: '' }]);
    expect(made.payment.amountMsat).toBeNull();
  });

  test('of a preimage is made once: a repeat at another time gets the first one', async () => {
    const preimage = '42'.repeat(32);
    const first = await create({ preimage });
    const again = await create({ preimage, createdAtMs: CREATED_AT_MS + 5000 });
    expect(again).toEqual(first);
    expect(cln.invoices.rows).toHaveLength(1);
  });

  test('that was paid is completed when it is ordered again', async () => {
    const preimage = '42'.repeat(32);
    const { paymentHash } = await create({ preimage });
    cln.pay(paymentHash);
    expect((await create({ preimage })).payment).toMatchObject({ status: 'completed', preimage });
  });

  test('that was canceled is not made payable by a repeat', async () => {
    const preimage = '42'.repeat(32);
    const first = await create({ preimage });
    await cancel(first.payment);
    const again = await create({ preimage });
    expect(again.invoice).toBe(first.invoice);
    expect(again.payment).toMatchObject({ status: 'failed', statusMsg: 'canceled' });
    expect(cln.invoices.rows).toEqual([]);
  });

  test('with a partner or a hash of an unknown description is refused with error 110', async () => {
    for (const change of [
      { partnerPk: 'cc'.repeat(32) },
      { descriptionHash: { hash: 'dd'.repeat(32), text: null } },
    ]) {
      const error = await rejection(create(change));
      expect(isApiError(error, 'unsupported') && error.data).toEqual({ node: 'cln' });
    }
    expect(cln.asked).toEqual([]);
  });
});

test('a description with control characters that Core Lightning does not read is error 110', async () => {
  const error = await rejection(create({ description: 'bell\u0007' }));
  expect(isApiError(error, 'unsupported') && error.data).toEqual({ node: 'cln' });
  expect(cln.asked).toEqual([]);
});

describe('a canceled invoice', () => {
  test('is failed for ever, although the node has deleted it, and may be canceled again', async () => {
    const { payment, paymentHash } = await create();
    await cancel(payment);
    expect(cln.of('delinvoice')).toEqual([
      { label: `wallet-sidecar/${payment.index}`, status: 'unpaid' },
    ]);
    await cancel(payment);
    const end = {
      index: payment.index,
      status: 'failed',
      statusMsg: 'canceled',
      finalizedAtMs: wallet.times.nowMs,
      invoice: payment.invoice,
    };
    expect(published).toMatchObject([end, end]);
    expect((await incomingPayment({ owner: rpc, wallet }, paymentHash))?.payment).toMatchObject(
      end,
    );
  });

  test('is pending as long as the node lists it, whatever became of the request', async () => {
    const { payment, paymentHash } = await create();
    cln.on('delinvoice', () => refusal(null, 'the node is gone'));
    expect(isApiError(await rejection(cancel(payment)), 'unreachable')).toBe(true);
    expect(published).toEqual([]);
    expect((await incomingPayment({ owner: rpc, wallet }, paymentHash))?.payment.status).toBe(
      'pending',
    );
  });

  test('is pending where the answer does not say that it was deleted', async () => {
    const { payment, paymentHash } = await create();
    for (const answer of [{}, { payment_hash: 'ee'.repeat(32) }]) {
      cln.on('delinvoice', () => Response.json(answer, { status: 201 }));
      expect(isApiError(await rejection(cancel(payment)), 'unreadable')).toBe(true);
    }
    expect(published).toEqual([]);
    expect((await incomingPayment({ owner: rpc, wallet }, paymentHash))?.payment.status).toBe(
      'pending',
    );
  });
});

describe('an invoice cannot be canceled', () => {
  test('when it was paid', async () => {
    const { payment, paymentHash } = await create();
    cln.pay(paymentHash);
    expect(isApiError(await rejection(cancel(payment)), 'refused')).toBe(true);
    expect([published, cln.of('delinvoice')]).toEqual([[], []]);
  });

  test('when it is paid at that moment', async () => {
    const { payment, paymentHash } = await create();
    cln.on('delinvoice', () => {
      cln.pay(paymentHash);
      return null;
    });
    expect(isApiError(await rejection(cancel(payment)), 'refused')).toBe(true);
    const after = await incomingPayment({ owner: rpc, wallet }, paymentHash);
    expect(after?.payment.status).toBe('completed');
  });

  test('when there is none of that hash, or the payment is of another kind', async () => {
    for (const prefix of ['ln', 'fs', 'or'] as const) {
      const index = paymentIndex(CREATED_AT_MS, paymentId(prefix, 'ee'.repeat(32)));
      const error = await rejection(cancelInvoice({ rpc, owner: rpc, wallet }, index));
      expect(isApiError(error, 'refused')).toBe(true);
    }
  });
});

test('an invoice that has expired is not canceled, and its end is passed on', async () => {
  const { payment, paymentHash } = await create();
  cln.expire(paymentHash);
  await cancel(payment);
  expect(published).toMatchObject([{ status: 'failed', statusMsg: 'expired' }]);
  expect(cln.of('delinvoice')).toEqual([]);
});

test('an invoice of another program is not taken for one of ours by a label that names another hash', async () => {
  const other = paymentIndex(CREATED_AT_MS, paymentId('ln', 'ee'.repeat(32)));
  const row = cln.addInvoice({ label: `wallet-sidecar/${other}` });
  const hash = String(row.payment_hash);
  const seen = await incomingPayment({ owner: rpc, wallet }, hash);
  expect(seen?.payment.index).toBe(paymentIndex(NODE_SECS * 1000, paymentId('ln', hash)));
});
