import { expect, test } from 'bun:test';
import { decodeAddress } from '../../src/codecs/address.ts';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import {
  addressTerms,
  invoiceTerms,
  lnurlPayTerms,
  offerTerms,
  type UriTerms,
  withdrawTerms,
} from '../../src/wallet/strings/method-terms.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
import { addressOf, invoiceOf, PAY_TERMS, WITHDRAW_TERMS } from './payment-strings.ts';

const NOTHING: UriTerms = { amountMsat: null, description: null };
const URI: UriTerms = { amountMsat: 5000n, description: 'of the URI' };
const ofUri = { amountMsat: 5000n, amountBeside: true };
const chosen = { amountMsat: null, amountBeside: false };

test("an invoice's own amount, description and end are its terms", () => {
  const invoice = decodeBolt11(invoiceOf(7000n));
  const terms = { text: invoice.text, description: 'Coffee', expiresAtMs: invoice.expiresAtMs };
  expect(invoiceTerms(invoice, NOTHING)).toMatchObject({ ...terms, amountMsat: 7000n });
  expect(invoiceTerms(invoice, URI)).toMatchObject({
    ...terms,
    amountMsat: 7000n,
    amountBeside: false,
  });
});

test('an invoice without an amount takes that of the URI, or leaves it to the payer', () => {
  const invoice = decodeBolt11(invoiceOf(null));
  expect(invoiceTerms(invoice, NOTHING)).toMatchObject(chosen);
  expect(invoiceTerms(invoice, URI)).toMatchObject(ofUri);
});

test("an offer's amount is its least; its end is in milliseconds; the name that led there stays", () => {
  const offer = makeOffer({ amount: 3000n, absoluteExpirySecs: 2000 });
  expect(offerTerms(offer, 'a@shop.example', NOTHING, null)).toMatchObject({
    ...chosen,
    kind: 'offer',
    description: 'tea',
    minMsat: 3000n,
    maxMsat: null,
    expiresAtMs: 2_000_000,
    viaName: 'a@shop.example',
  });
  expect(offerTerms(makeOffer(), null, URI, null)).toMatchObject({
    ...ofUri,
    minMsat: null,
    expiresAtMs: null,
  });
});

test('an address has no terms but those of the URI', () => {
  const address = decodeAddress(addressOf(1));
  expect(addressTerms(address, NOTHING)).toMatchObject({ ...chosen, description: null });
  expect(addressTerms(address, URI)).toMatchObject({ ...ofUri, description: 'of the URI' });
});

test('an LNURL-pay service sets bounds, and the amount where both are the same', () => {
  const bounds = { minMsat: 10_000n, maxMsat: 500_000n };
  expect(lnurlPayTerms('lnurl', PAY_TERMS, NOTHING)).toMatchObject({ ...chosen, ...bounds });
  expect(lnurlPayTerms('lnurl', PAY_TERMS, URI)).toMatchObject({ ...ofUri, ...bounds });
  const fixed = { ...PAY_TERMS, maxSendableMsat: 10_000n };
  expect(lnurlPayTerms('lnurl', fixed, NOTHING)).toMatchObject({
    amountMsat: 10_000n,
    amountBeside: true,
  });
  expect(lnurlPayTerms('lnurl', fixed, URI)).toMatchObject(ofUri);
});

test('the longer description of a service is shown where it has one', () => {
  const long = { ...PAY_TERMS, longDescription: 'Shop of teas' };
  expect(lnurlPayTerms('lnurl', PAY_TERMS, NOTHING).description).toBe('Shop');
  expect(lnurlPayTerms('lnurl', long, URI).description).toBe('Shop of teas');
});

test('a withdrawal has its own bounds, unless a URI names the amount', () => {
  expect(withdrawTerms('lnurl', WITHDRAW_TERMS, NOTHING)).toMatchObject({
    ...chosen,
    description: 'Voucher',
    minMsat: 1000n,
    maxMsat: 2000n,
  });
  const asked = { amountMsat: 1500n, minMsat: 1500n, maxMsat: 1500n, amountBeside: true };
  const uri = { ...NOTHING, amountMsat: 1500n };
  expect(withdrawTerms('lnurl', WITHDRAW_TERMS, uri)).toMatchObject(asked);
});
