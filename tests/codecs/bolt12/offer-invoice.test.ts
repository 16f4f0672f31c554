import { describe, expect, test } from 'bun:test';
import {
  type Bolt12Invoice,
  type OfferInvoiceTerms,
  verifyOfferInvoice,
} from '../../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../../src/codecs/network.ts';
import {
  makeInvoice,
  makeOffer,
  makeRequest,
  PATH,
  patchRecords,
  publicKey,
  REGTEST,
  signInvoice,
} from '../../support/bolt12-fixtures.ts';
import { expectInvalid } from '../expect-invalid.ts';

const OFFER = makeOffer({ amount: 900n, issuer: 'kiosk' });
const INVOICE = makeInvoice(makeRequest(OFFER, { amountMsat: 1000n, payerNote: 'hi' }));
const TERMS: OfferInvoiceTerms = {
  offer: OFFER,
  amountMsat: 1000n,
  chain: REGTEST,
  payerNote: 'hi',
  nowSecs: INVOICE.expiresAtSecs,
};

const expectRefused = (
  invoice: Bolt12Invoice,
  message: string,
  change: Partial<OfferInvoiceTerms> = {},
) => expectInvalid(() => verifyOfferInvoice(invoice, { ...TERMS, ...change }), 'bolt12', message);

/** The invoice with one field replaced or removed, signed again by the payee. */
const patched = (type: bigint, value: Uint8Array | null) =>
  signInvoice(patchRecords(INVOICE.records, new Map([[type, value]])));

describe('an invoice that the payer fetched for an offer', () => {
  test('fits when it repeats the offer, the amount and the message, until it expires', () => {
    expect(() => verifyOfferInvoice(INVOICE, TERMS)).not.toThrow();
    expectRefused(INVOICE, 'it has expired', { nowSecs: TERMS.nowSecs + 1 });
  });

  test.each([
    ['changed', 10n, new TextEncoder().encode('coffee')],
    ['left out', 18n, null],
    ['added', 20n, Uint8Array.of(5)],
    ['of the experimental range added', 1_000_000_001n, Uint8Array.of(1)],
  ])('does not fit with a field of the offer %s', (_what, type, value) => {
    expectRefused(patched(type, value), 'does not repeat the fields of the offer');
  });

  test('does not fit another offer of the same issuer', () => {
    const offer = makeOffer({ amount: 900n, issuer: 'kiosk', metadata: Uint8Array.of(1) });
    expectRefused(INVOICE, 'does not repeat the fields of the offer', { offer });
  });

  test.each([999n, 1001n])('does not fit when %s was asked for', (amountMsat) => {
    expectRefused(INVOICE, `not the ${amountMsat} millisatoshis`, { amountMsat });
  });

  test('does not fit another chain or another message', () => {
    expectRefused(INVOICE, 'invreq_chain', { chain: NETWORKS.bitcoin.chainHash });
    expectRefused(INVOICE, 'invreq_payer_note', { payerNote: null });
    expectRefused(patched(89n, null), 'invreq_payer_note');
  });

  test('must be signed by the issuer of the offer', () => {
    expectRefused(INVOICE, 'not the offer_issuer_id', {
      offer: { ...OFFER, issuerId: publicKey(0x45) },
    });
  });

  test('of an offer without issuer must be signed by the end of one of its paths', () => {
    const withPaths = makeOffer({ paths: [PATH] });
    const offer = { ...withPaths, issuerId: null };
    const byAnother = makeInvoice(makeRequest(withPaths, { amountMsat: 1000n, payerNote: 'hi' }));
    const byTheEnd = { ...byAnother, nodeId: publicKey(0x45) };
    expect(() => verifyOfferInvoice(byTheEnd, { ...TERMS, offer })).not.toThrow();
    expectRefused(byAnother, 'not the end of any of offer_paths', { offer });
  });
});
