import { expect, test } from 'bun:test';
import type { PayOfferCommand, SendReport, WalletNode } from '../../../src/nodes/node.ts';
import type { Spend as SpendRow } from '../../../src/store/ports.ts';
import { repeatOf } from '../../../src/wallet/pay/send-again.ts';
import { planText, questionOf, readSpend, readTerms } from '../../../src/wallet/pay/spend.ts';
import { makeInvoice, makeOffer, makeRequest } from '../../support/bolt12-fixtures.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { newSpend, WALLET } from '../../support/store-steps.ts';
import { SIGNED } from '../fake-node.ts';
import { addressOf } from '../payment-strings.ts';
import { INVOICE } from './model-node.ts';
import { silence } from './send-world.ts';

const FETCHED = makeInvoice(makeRequest(makeOffer(), { amountMsat: 1000n }), {
  paymentHash: '11'.repeat(32),
});
const KEYSEND = { nodePk: `02${'ab'.repeat(32)}`, preimage: '07'.repeat(32), maxFeeMsat: 10n };
const NOTES = { personalNote: 'mine', message: 'thank you' };
const CAP = planText({ maxFeeMsat: 10n });

type Payment = Parameters<typeof samplePayment>[1];
const row = (payment: Payment, change: Partial<SpendRow> = {}): SpendRow => ({
  ...newSpend(samplePayment(1, { ...NOTES, ...payment })),
  walletId: WALLET,
  attempt: null,
  ...change,
});
const WHOLE = row(
  { rail: 'offer' },
  { plan: planText({ maxFeeMsat: 10n, offer: makeOffer().text }) },
);
const ROWS = {
  invoice: row({ invoice: INVOICE.text }, { plan: CAP }),
  offer: row({ rail: 'offer' }, { plan: CAP, fetchedInvoice: FETCHED.text }),
  spontaneous: row({ rail: 'spontaneous' }, { plan: planText(KEYSEND) }),
  onchain: row(
    { rail: 'onchain', address: addressOf(1), priority: 'high' },
    { plan: planText(SIGNED) },
  ),
};

/** A node that has every group, and notes what it is asked to send. */
function notingNode(repeatsSafely = true) {
  const calls: unknown[] = [];
  const noted =
    (name: string) =>
    (...given: unknown[]): Promise<SendReport> => {
      calls.push([name, ...given]);
      return silence();
    };
  const node = {
    repeatsSafely,
    payInvoice: noted('invoice'),
    offers: { kind: 'fetched', payFetched: noted('offer') },
    spontaneous: { pay: noted('spontaneous') },
    onchain: { renew: noted('renew'), publish: noted('publish') },
  } as unknown as WalletNode;
  return { node, calls };
}

const { index, createdAtMs, amountMsat } = samplePayment(1);
const same = { index, createdAtMs, isRepeat: true };

test('a repeat of each rail sends exactly what the row says', async () => {
  const { node, calls } = notingNode();
  for (const one of Object.values(ROWS)) await repeatOf(node, readSpend(one))?.();
  const { address } = ROWS.onchain.payment;
  expect(calls).toMatchObject([
    [
      'invoice',
      { ...same, ...NOTES, amountMsat, maxFeeMsat: 10n, invoice: { text: INVOICE.text } },
    ],
    ['offer', { ...same, maxFeeMsat: 10n, invoice: { text: FETCHED.text } }],
    ['spontaneous', { ...same, ...NOTES, ...KEYSEND, amountMsat }],
    ['renew', SIGNED],
    [
      'publish',
      { index, createdAtMs, amountMsat, priority: 'high', address: { canonical: address } },
      SIGNED,
    ],
  ]);
});

test('a repeat of an offer that the node pays in one step asks for that offer', async () => {
  const { node, calls } = notingNode();
  const payOffer = async (command: PayOfferCommand): Promise<SendReport> => {
    calls.push(command);
    return silence();
  };
  const whole = { ...node, offers: { kind: 'whole', payOffer } } as unknown as WalletNode;
  await repeatOf(whole, readSpend(WHOLE))?.();
  const { text } = makeOffer();
  expect(calls).toMatchObject([
    { ...same, ...NOTES, amountMsat, maxFeeMsat: 10n, offer: { text } },
  ]);
  expect(repeatOf(whole, readSpend(ROWS.offer))).toBeNull();
  expect(repeatOf(node, readSpend(WHOLE))).toBeNull();
});

test('who is paid by an offer that waits is the key that signs its invoices', () => {
  expect(readTerms(WHOLE).nodePk).toBe(makeOffer().issuerId);
  expect(readTerms(ROWS.offer).nodePk).toBe(FETCHED.nodeId);
});

test('an invoice is sent again only where the node makes one payment of a hash, the others everywhere', () => {
  const { node } = notingNode(false);
  const repeated = Object.values(ROWS).filter((one) => repeatOf(node, readSpend(one)) !== null);
  expect(repeated.map(({ payment }) => payment.rail)).toEqual(['spontaneous', 'onchain']);
});

test('a node without a group is not asked for it, and a row of version 0.2 is not sent again', () => {
  const { node } = notingNode();
  const bare = { repeatsSafely: true, payInvoice: node.payInvoice } as unknown as WalletNode;
  for (const rail of ['offer', 'spontaneous', 'onchain'] as const) {
    expect(repeatOf(bare, readSpend(ROWS[rail]))).toBeNull();
  }
  for (const old of [row({ invoice: INVOICE.text }), row({ rail: 'offer' })]) {
    expect(repeatOf(node, readSpend(old))).toBeNull();
  }
});

test('the node is asked about the transaction of an on-chain row and the invoice of an offer', () => {
  const asked = Object.values(ROWS).map((one) => {
    const { payment, signed, fetched } = questionOf(readSpend(one));
    return [payment.rail, signed, fetched?.text ?? null];
  });
  expect(asked).toEqual([
    ['invoice', null, null],
    ['offer', null, FETCHED.text],
    ['spontaneous', null, null],
    ['onchain', SIGNED, null],
  ]);
});

test('what is stored of a plan is what version 0.2 and the versions since have stored', () => {
  expect(CAP).toBe('{"maxFeeMsat":"10"}');
  expect(planText(KEYSEND)).toBe(
    `{"nodePk":"${KEYSEND.nodePk}","preimage":"${KEYSEND.preimage}","maxFeeMsat":"10"}`,
  );
  expect(planText(SIGNED)).toBe(JSON.stringify(SIGNED));
});

test('what is missing in a row is said, and nothing of the row is repeated', () => {
  const secret = JSON.stringify({ ...KEYSEND, maxFeeMsat: 'x' });
  for (const [broken, part] of [
    [row({ rail: 'spontaneous' }, { plan: secret }), 'plan'],
    [row({ rail: 'spontaneous' }, { plan: `${KEYSEND.preimage}{` }), 'plan'],
    [row({ rail: 'onchain', address: 'bc1secret' }, { plan: planText(SIGNED) }), 'address'],
    [row({ invoice: 'lnsecret' }, { plan: CAP }), 'invoice'],
    [row({ rail: 'offer' }, { plan: planText({ maxFeeMsat: 10n, offer: 'lno1' }) }), 'offer'],
  ] as const) {
    expect(() => readSpend(broken)).toThrow(`Its ${part} is missing or cannot be read.`);
  }
});

test('a spend that was not asked for is not read', () => {
  expect(() => readSpend({ ...ROWS.onchain, state: 'begun' })).toThrow('It was not asked for.');
});
