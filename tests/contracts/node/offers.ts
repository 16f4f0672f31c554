import { expect } from 'bun:test';
import {
  type Bolt12Invoice,
  decodeInvoice,
  decodeOffer,
  type Offer,
} from '../../../src/codecs/bolt12/index.ts';
import { verifyPayerProof } from '../../../src/codecs/payer-proof/index.ts';
import type { Payment } from '../../../src/model/payment.ts';
import { type PaymentIndex, paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import type { NodeOffers, SendReport, WalletNode } from '../../../src/nodes/node.ts';
import { until } from '../../support/until.ts';
import type { Rules } from './kind.ts';
import { invoiceCommand, known, questionOf, randomHex } from './steps.ts';

/** A rule of nodes of which the wallet fetches the invoice. */
export const FETCHED_ONCE = 'a fetched invoice is paid under one index, and can be proven';

const AMOUNT_MSAT = 1000n;

/** An order to pay an offer, under an index of its own. */
interface OfferOrder {
  readonly index: PaymentIndex;
  /** Null where the node fetches the invoice itself. */
  readonly fetched: Bolt12Invoice | null;
  /** Asks the node to pay, each time for the same; or for an invoice that was fetched for another order. */
  start(invoice?: Bolt12Invoice): Promise<SendReport>;
}

async function offerOrder(offers: NodeOffers, node: WalletNode, offer: Offer): Promise<OfferOrder> {
  const createdAtMs = node.clock.now();
  const index = paymentIndex(createdAtMs, paymentId('fs', randomHex(32)));
  const identity = { index, createdAtMs, personalNote: null, externalId: null };
  const common = { ...identity, maxFeeMsat: 100_000n };
  const wish = { offer, amountMsat: AMOUNT_MSAT, message: 'thank you' };
  if (offers.kind === 'whole') {
    return { index, fetched: null, start: () => offers.payOffer({ ...common, ...wish }) };
  }
  const fetched = decodeInvoice(
    await offers.fetchInvoice({ ...wish, viaName: null }, new AbortController().signal),
  );
  const start = (invoice = fetched) => offers.payFetched({ ...common, invoice });
  return { index, fetched, start };
}

/** Asks for a payment of an offer, perhaps again, and returns it once it is completed. */
async function paid(node: WalletNode, { fetched, start }: OfferOrder): Promise<Payment> {
  const { payment } = known(await start());
  return until(async () => {
    const outcome = await node.sendOutcome(questionOf(payment, { fetched }));
    return outcome.state === 'known' && outcome.payment.status === 'completed' && outcome.payment;
  }, 'the payment is completed');
}

/** Offers and proofs, of kinds that have them. */
export function offerRules({ group }: Rules): void {
  group('offers', (offerRule) => {
    offerRule('an offer is made as ordered', async (offers, node) => {
      const expiresAtMs = node.clock.now() + 3_600_000;
      const terms = { description: 'tea', minAmountMsat: 5000n, expiresAtMs, externalId: null };
      const { offer, offerId } = await offers.createOffer(terms);
      expect(decodeOffer(offer)).toMatchObject({
        ...{ offerId, description: 'tea', amountMsat: 5000n },
        absoluteExpirySecs: Math.floor(expiresAtMs / 1000),
      });
      const open = { ...terms, description: null, minAmountMsat: null, expiresAtMs: null };
      const any = await offers.createOffer(open);
      expect(decodeOffer(any.offer)).toMatchObject({ amountMsat: null, absoluteExpirySecs: null });
    });

    offerRule(
      'an offer is paid once under an index, and another index is another payment',
      async (offers, node, outside) => {
        const before = (await node.info()).lightningBalanceMsat;
        const offer = decodeOffer((await outside.offer?.()) ?? '');
        const order = await offerOrder(offers, node, offer);
        expect((await node.info()).lightningBalanceMsat).toBe(before);
        const { index } = order;
        const once = await paid(node, order);
        expect(once).toMatchObject({ index, rail: 'offer', message: 'thank you' });
        expect(once.offerId).toBe(offer.offerId);
        expect(await paid(node, order)).toEqual(once);
        const other = await paid(node, await offerOrder(offers, node, offer));
        expect(other.hash).not.toBe(once.hash);
        const costMsat = 2n * AMOUNT_MSAT + (once.feesMsat ?? 0n) + (other.feesMsat ?? 0n);
        await until(
          async () => before - (await node.info()).lightningBalanceMsat === costMsat,
          'the two payments are all that was spent',
        );
      },
    );

    offerRule(FETCHED_ONCE, async (offers, node, outside) => {
      const offer = decodeOffer((await outside.offer?.()) ?? '');
      const first = await offerOrder(offers, node, offer);
      const { fetched: invoice } = first;
      if (invoice === null) throw new Error('no invoice was fetched');
      const { paymentHash } = invoice;
      expect(invoice.amountMsat).toBe(AMOUNT_MSAT);
      const once = await paid(node, first);
      expect(once.hash).toBe(paymentHash);
      const second = await offerOrder(offers, node, offer);
      expect((await second.start(invoice)).state).toBe('refused');
      expect((await node.payment(second.index))?.payment).toBeUndefined();
      if (node.proofs?.kind === 'material') {
        const material = await node.proofs.proofMaterial(first.index);
        expect(material?.preimage).toBe(once.preimage ?? '');
      }
      if (node.proofs?.kind === 'whole') {
        const wish = { invoice, types: [170], note: 'order 17' };
        const proof = verifyPayerProof(await node.proofs.createProof(wish));
        expect(proof).toMatchObject({ paymentHash, note: 'order 17', amountMsat: AMOUNT_MSAT });
      }
    });
  });

  group('proofs', (proofRule) => {
    proofRule(
      'there is nothing to prove of what was not paid by an offer',
      async (proofs, node) => {
        // A node that makes whole proofs is asked only about invoices that were fetched for offers.
        if (proofs.kind === 'whole') return;
        const { payment } = await node.createInvoice(invoiceCommand(node));
        expect(await proofs.proofMaterial(payment.index)).toBeNull();
      },
    );
  });
}
