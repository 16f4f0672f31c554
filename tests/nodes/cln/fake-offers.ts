import { hex } from '@scure/base';
import { decodeInvoice, decodeOffer } from '../../../src/codecs/bolt12/index.ts';
import { createPayerProof } from '../../../src/codecs/payer-proof/index.ts';
import { makeInvoice, makeOffer, makeRequest, PAYER_KEY } from '../../support/bolt12-fixtures.ts';
import { type FakeCln, refusal } from './fake-cln.ts';

/** Has a fake make offers, fetch invoices of others' offers, whom `receiver` adds, and prove what was paid. */
export function withOffers(cln: FakeCln, nodePk: string, receiver: () => string): void {
  const ok = (body: unknown) => Response.json(body, { status: 201 });
  cln.on('offer', ({ amount, description, absolute_expiry }) => {
    const { text, offerId } = makeOffer({
      issuerId: nodePk,
      description: String(description ?? ''),
      ...(absolute_expiry === undefined ? {} : { absoluteExpirySecs: Number(absolute_expiry) }),
      ...(amount === 'any' ? {} : { amount: BigInt(String(amount).replace('msat', '')) }),
    });
    return ok({ bolt12: text, offer_id: offerId });
  });
  cln.on('fetchinvoice', ({ offer, amount_msat, payer_note }) => {
    const request = makeRequest(decodeOffer(String(offer)), {
      amountMsat: BigInt(String(amount_msat).replace('msat', '')),
      metadata: crypto.getRandomValues(new Uint8Array(16)),
      ...(payer_note === undefined ? {} : { payerNote: String(payer_note) }),
    });
    const made = { paymentHash: receiver(), createdAtSecs: cln.nowSecs() };
    return ok({ invoice: makeInvoice(request, made).text });
  });
  cln.on('createproof', ({ invstring, include, note }) => {
    const invoice = decodeInvoice(String(invstring));
    const paid = cln.sendpays.rows.find(
      ({ payment_hash, status }) => payment_hash === invoice.paymentHash && status === 'complete',
    );
    if (paid === undefined) return refusal(-32602, 'No such payment');
    const bolt12 = createPayerProof({
      invoice,
      preimage: hex.decode(String(paid.payment_preimage)),
      payerSecretKey: PAYER_KEY,
      disclose: { types: include as number[] },
      ...(note === undefined ? {} : { note: String(note) }),
    });
    return ok({ proofs: [{ bolt12 }] });
  });
}
