import { afterEach, beforeEach, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { paymentIndex } from '../../../../src/model/payment-index.ts';
import type { WalletNode } from '../../../../src/nodes/node.ts';
import { invoiceCommand, known, lightningId, payCommand } from '../../../contracts/node/steps.ts';
import { rejection } from '../../../support/rejection.ts';
import { openTrialSandbox } from '../../../support/trial-sandbox.ts';
import { until } from '../../../support/until.ts';

/** As long as the sandbox's own receivers hold: one hop with LND's delta, and BOLT 11's default at its end. */
const HELD_BLOCKS = 98;

const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs };
let sandbox: ReturnType<typeof openTrialSandbox>;
let shop: WalletNode;
let payer: WalletNode;
beforeEach(async () => {
  sandbox = openTrialSandbox(':memory:', clock);
  const wallet = async () => {
    const { rootSeed } = await sandbox.controls.createWallet();
    return (await sandbox.connector.connectRoot(Buffer.from(rootSeed, 'hex'))).node;
  };
  [shop, payer] = [await wallet(), await wallet()];
});
afterEach(() => sandbox.connector.close());

async function open(change: object = {}) {
  const preimage = randomBytes(32).toString('hex');
  const paymentHash = createHash('sha256').update(Buffer.from(preimage, 'hex')).digest('hex');
  const { preimage: _, ...terms } = invoiceCommand(shop);
  const made = await shop.holdInvoices?.create({ ...terms, ...change, paymentHash, again: false });
  if (made === undefined) throw new Error('the sandbox has hold invoices');
  return { ...made, preimage };
}
type Made = Awaited<ReturnType<typeof open>>;

const settle = ({ payment, preimage }: Made) => shop.holdInvoices?.settle(payment.index, preimage);
const stateOf = async (node: WalletNode, hash: string) => {
  const found = await node.latestPayment(lightningId(hash));
  return `${found?.payment.status} ${found?.payment.statusMsg}`;
};
const fromOutside = ({ invoice }: Made) =>
  sandbox.controls.pay({ payable: invoice, amountMsat: null, message: null, payerName: null });
async function fromWallet({ invoice, paymentHash }: Made, node = payer): Promise<void> {
  known(await node.payInvoice(payCommand(node, invoice)));
  await until(async () => (await stateOf(shop, paymentHash)) === 'pending held', 'it is held');
}
const balances = () =>
  Promise.all([shop, payer].map(async (node) => (await node.info()).lightningBalanceMsat));

test('what nobody settles goes back after 98 blocks, to a wallet and to the outside world', async () => {
  const before = await balances();
  const [one, two] = [await open(), await open()];
  await fromWallet(one);
  expect(await fromOutside(two)).toEqual({ status: 'pending' });
  await sandbox.controls.mine(HELD_BLOCKS - 1);
  for (const { paymentHash } of [one, two]) {
    expect(await stateOf(shop, paymentHash)).toBe('pending held');
  }
  await sandbox.controls.mine(1);
  for (const { paymentHash } of [one, two]) {
    expect(await stateOf(shop, paymentHash)).toBe('failed canceled');
  }
  expect(await stateOf(payer, one.paymentHash)).toBe('failed rejected by the receiver');
  expect(await balances()).toEqual(before);
  expect(await rejection(settle(one))).toMatchObject({ kind: 'refused' });
});

test('money that is held belongs to neither side, and moves once when it is settled', async () => {
  const [shopMsat = 0n, payerMsat = 0n] = await balances();
  const made = await open();
  await fromWallet(made);
  expect(await balances()).toEqual([shopMsat, payerMsat - 1_000_000n]);
  await Promise.all([settle(made), settle(made)]);
  expect(await balances()).toEqual([shopMsat + 1_000_000n, payerMsat - 1_000_000n]);
  expect(await stateOf(payer, made.paymentHash)).toBe('completed completed');
});

test('one payment is held for an invoice: a second one is rejected, and the first stays', async () => {
  const { rootSeed } = await sandbox.controls.createWallet();
  const { node: other } = await sandbox.connector.connectRoot(Buffer.from(rootSeed, 'hex'));
  const made = await open();
  await fromWallet(made);
  known(await other.payInvoice(payCommand(other, made.invoice)));
  await until(
    async () => (await stateOf(other, made.paymentHash)).startsWith('failed'),
    'it failed',
  );
  expect(await rejection(fromOutside(made))).toMatchObject({ kind: 'refused' });
  await settle(made);
  expect(await stateOf(payer, made.paymentHash)).toBe('completed completed');
});

test('a held payment is not decided by the controls of the outside world', async () => {
  const made = await open();
  await fromWallet(made);
  const decide = sandbox.controls.decideHold({ paymentHash: made.paymentHash, settle: true });
  expect(await rejection(decide)).toMatchObject({ kind: 'notFound' });
});

test("a partner's fee is taken when it is settled", async () => {
  const partner = { partnerPk: 'ab'.repeat(32), partnerPropFeePpm: 100_000 };
  const made = await open(partner);
  await fromOutside(made);
  await settle(made);
  const found = await shop.latestPayment(lightningId(made.paymentHash));
  expect(found?.payment).toMatchObject({
    status: 'completed',
    amountMsat: 900_000n,
    feesMsat: 100_000n,
  });
});

test('a hash of an invoice elsewhere in this world makes none', async () => {
  const { invoice } = await sandbox.controls.createInvoice({
    amountMsat: 1000n,
    description: null,
    expirationSecs: 60,
    behavior: 'settle',
  });
  const { paymentHash } = decodeBolt11(invoice);
  const { preimage: _, ...terms } = invoiceCommand(shop);
  for (const again of [false, true]) {
    const made = shop.holdInvoices?.create({ ...terms, paymentHash, again });
    expect(await rejection(made)).toMatchObject({ kind: 'refused' });
  }
  const unknown = paymentIndex(1, lightningId('ab'.repeat(32)));
  const settled = shop.holdInvoices?.settle(unknown, 'ab'.repeat(32));
  expect(await rejection(settled)).toMatchObject({ kind: 'notFound' });
});
