import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { isApiError } from '../../../src/model/errors.ts';
import { idOf } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { invoiceCommand, lightningId } from '../../contracts/node/steps.ts';
import { rejection } from '../../support/rejection.ts';
import { channelOf } from './channel-of.ts';
import { RECORDED, recordedWallet, replay } from './recorded.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
let node: WalletNode;
beforeEach(async () => {
  lnd.reset();
  replay(lnd, 'full');
  node = await recordedWallet(lnd);
});

const { hashes } = RECORDED;
const CHANNEL = channelOf();
const hexOf = (base64: string) => Buffer.from(base64, 'base64').toString('hex');
const listed = (memo: string) => {
  const found = RECORDED.lists.invoices.invoices.find((one) => one.memo === memo);
  if (found === undefined) throw new Error('not recorded');
  return found;
};
/** What LND answers to AddInvoice of that invoice. */
const added = ({
  r_hash,
  payment_request,
  add_index,
  payment_addr,
}: ReturnType<typeof listed>) => ({
  r_hash,
  payment_request,
  add_index,
  payment_addr,
});
const indexOf = (memo: string, hash: string) =>
  paymentIndex(Number(listed(memo).creation_date) * 1000, lightningId(hash));
const sent = (start: string) =>
  lnd.requests.filter(({ method, path }) => `${method} ${path}`.startsWith(start));

describe('a created invoice', () => {
  test('is pending under the time and hash that LND gave it', async () => {
    const one = listed('open');
    lnd.on('POST /v1/invoices', added(one));
    const made = await node.createInvoice(invoiceCommand(node, { amountMsat: 4000n }));
    const { createdAtMs, expiresAtMs } = decodeBolt11(one.payment_request);
    expect(made).toMatchObject({
      invoice: one.payment_request,
      paymentHash: hashes.open,
      paymentSecret: hexOf(one.payment_addr),
    });
    expect(made.payment).toMatchObject({ status: 'pending', createdAtMs, expiresAtMs });
    expect(idOf(made.payment)).toBe(lightningId(hashes.open));
    expect((await node.payment(made.payment.index))?.payment.index).toBe(made.payment.index);
  });

  test('is ordered with what LND would otherwise choose', async () => {
    lnd.on('POST /v1/invoices', added(listed('open')));
    await node.createInvoice(invoiceCommand(node, { amountMsat: null, expirationSecs: 60 }));
    expect(sent('POST /v1/invoices')[0]?.body).toEqual({
      memo: 'tea',
      value_msat: '0',
      expiry: '60',
      private: true,
    });
  });

  test('has route hints where no public channel is active, or LND does not tell', async () => {
    lnd.on('POST /v1/invoices', added(listed('open')));
    const hinted = async (wallet: WalletNode) => {
      await wallet.createInvoice(invoiceCommand(wallet));
      return sent('POST /v1/invoices').at(-1)?.body.private;
    };
    const path = 'GET /v1/channels?active_only=true&public_only=true';
    expect(await hinted(node)).toBe(true);
    lnd.on(path, { channels: [] });
    expect(await hinted(await recordedWallet(lnd))).toBe(true);
    lnd.on(path, { channels: [CHANNEL] });
    const found = await recordedWallet(lnd);
    expect([await hinted(found), await hinted(found)]).toEqual([false, false]);
    // LND is not asked for each invoice.
    expect(sent(path)).toHaveLength(3);
  });

  test('that LND has already of the same preimage is that one', async () => {
    const one = listed('paid');
    lnd.on('POST /v1/invoices', () => refusal(500, 2, 'invoice with payment hash already exists'));
    const preimage = hexOf(one.r_preimage);
    const made = await node.createInvoice(invoiceCommand(node, { preimage }));
    expect(made).toMatchObject({ invoice: one.payment_request, paymentHash: hashes.paid });
  });

  test('that LND has already is given to nobody who does not know its preimage', async () => {
    const one = listed('paid');
    lnd.on('POST /v1/invoices', () => refusal(500, 2, 'invoice with payment hash already exists'));
    lnd.on(`GET /v1/invoice/${hashes.paid}`, { ...one, r_preimage: '' });
    const preimage = hexOf(one.r_preimage);
    const error = await rejection(node.createInvoice(invoiceCommand(node, { preimage })));
    expect(isApiError(error, 'refused')).toBe(true);
  });

  test('for a partner is not supported', async () => {
    const command = invoiceCommand(node, { partnerPk: 'ab'.repeat(32) });
    expect(await rejection(node.createInvoice(command))).toMatchObject({ kind: 'unsupported' });
    expect(sent('POST /v1/invoices')).toEqual([]);
  });
});

describe('canceling', () => {
  const CANCEL = 'POST /v2/invoices/cancel';

  test('an open invoice asks LND for it by its hash', async () => {
    lnd.on(CANCEL, {});
    await node.cancelInvoice(indexOf('open', hashes.open));
    expect(sent(CANCEL).map(({ body }) => body)).toEqual([{ payment_hash: listed('open').r_hash }]);
  });

  test('an invoice that is canceled already asks for nothing', async () => {
    await node.cancelInvoice(indexOf('canceled', hashes.canceled));
    expect(sent(CANCEL)).toEqual([]);
  });

  test('an invoice that was paid is refused, before LND is asked or by LND', async () => {
    const paid = node.cancelInvoice(indexOf('paid', hashes.paid));
    expect(isApiError(await rejection(paid), 'refused')).toBe(true);
    expect(sent(CANCEL)).toEqual([]);
    lnd.on(CANCEL, () => refusal(500, 2, 'invoice already settled'));
    const raced = node.cancelInvoice(indexOf('open', hashes.open));
    expect(await rejection(raced)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('was paid before'),
    });
  });

  test('what LND has no invoice of is refused', async () => {
    const unknown = paymentIndex(1, lightningId('ab'.repeat(32)));
    expect(isApiError(await rejection(node.cancelInvoice(unknown)), 'refused')).toBe(true);
  });
});
