import { describe, expect, test } from 'bun:test';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  decodeInvoice,
  decodeInvoiceRequest,
  INVOICE_SIGNATURE,
  invoiceDescriptionOf,
  isBolt12InvoiceExpired,
  verifyInvoice,
} from '../../../src/codecs/bolt12/index.ts';
import { encodeTlvStream } from '../../../src/codecs/tlv.ts';
import {
  INVOICE_PATH,
  makeInvoice,
  makeOffer,
  makeRequest,
  NODE_ID,
  NODE_KEY,
  PATH,
  PAYMENT_HASH,
  patchRecords,
  publicKey,
  REGTEST,
  secretKey,
  signStream,
} from '../../support/bolt12-fixtures.ts';
import vectors from '../../vectors/bolt12-payer-proof-test.json';
import { expectInvalid } from '../expect-invalid.ts';

const REQUEST = makeRequest(makeOffer(), { amountMsat: 1000n });
const INVOICE = makeInvoice(REQUEST);

/** Returns the invoice with replaced fields, signed again by the payee, so that only the tested rule can fail. */
function resigned(patch: Record<string, string | null>, key = NODE_KEY): Uint8Array {
  const values = Object.entries(patch).map(
    ([type, hex]) => [BigInt(type), hex === null ? null : hexToBytes(hex)] as const,
  );
  return signStream(patchRecords(INVOICE.records, new Map(values)), INVOICE_SIGNATURE, key);
}

test('the offer id is that of the offer, whose fields the invoice repeats', () => {
  const offer = makeOffer({ otherRecords: [{ type: 1_000_000_001n, value: Uint8Array.of(1) }] });
  const invoice = makeInvoice(makeRequest(offer, { amountMsat: 1000n, payerNote: 'tea' }));
  expect(invoice.offerId).toBe(offer.offerId);
});

describe('invoices in payer-proof-test.json', () => {
  test.each(vectors.valid_vectors)('$name: reads, and its root is that stated', (vector) => {
    const invoice = decodeInvoice(vector.input.invoice);
    expect(invoice.invoiceRoot).toBe(vector.working.invoice_merkle_root);
    expect(invoice.signature).toBe(vector.working.invoice_signature);
    expect(invoice).toEqual(decodeInvoice(hexToBytes(vector.input.invoice_hex)));
    expect(invoice.amountMsat).toBe(1000n);
    expect(invoiceDescriptionOf(vector.input.invoice)).toBe(invoice.description);
  });
});

test('the description of the offer is read without checking the rest', () => {
  const offers = [makeOffer({ description: 'Tea ☕' }), makeOffer({ description: '' })];
  const read = offers.map((offer) =>
    invoiceDescriptionOf(makeInvoice(makeRequest(offer, { amountMsat: 1000n })).text),
  );
  expect(read).toEqual(['Tea ☕', '']);
  expectInvalid(() => invoiceDescriptionOf(`${INVOICE.text}q`), 'bolt12', /padding/);
});

describe('answering a request', () => {
  test('the invoice reads back from its bytes and its string, and answers the request', () => {
    expect(decodeInvoice(INVOICE.bytes)).toEqual(INVOICE);
    expect(decodeInvoice(INVOICE.text)).toEqual(INVOICE);
    expect(INVOICE.text).toStartWith('lni1');
    expect(() => verifyInvoice(INVOICE, REQUEST)).not.toThrow();
  });

  test('it says what was asked and what the payee adds', () => {
    const offer = makeOffer({ amount: 10n, quantityMax: 0n, issuer: 'kiosk' });
    const request = makeRequest(offer, { quantity: 4n, payerNote: 'hi' });
    const fallbacks = [{ version: 0, program: new Uint8Array(20).fill(3) }];
    const features = Uint8Array.of(2, 0, 0);
    const invoice = makeInvoice(request, {
      amountMsat: 40n,
      relativeExpirySecs: 60,
      fallbacks,
      features,
    });
    expect(invoice).toMatchObject({
      chain: REGTEST,
      paymentHash: PAYMENT_HASH,
      amountMsat: 40n,
      createdAtSecs: 1_700_000_000,
      expiresAtSecs: 1_700_000_060,
      nodeId: NODE_ID,
      payerId: publicKey(0x42),
      description: 'tea',
      issuer: 'kiosk',
      payerNote: 'hi',
      quantity: 4n,
      paths: [INVOICE_PATH],
      fallbacks,
      features,
    });
  });

  test('without an expiry of its own it expires after 7200 seconds', () => {
    expect(INVOICE.expiresAtSecs).toBe(INVOICE.createdAtSecs + 7200);
    expect(isBolt12InvoiceExpired(INVOICE, INVOICE.expiresAtSecs)).toBe(false);
    expect(isBolt12InvoiceExpired(INVOICE, INVOICE.expiresAtSecs + 1)).toBe(true);
  });

  test('an offer without issuer id is answered by the end of one of its paths', () => {
    const paths = [PATH, { ...PATH, hops: [...PATH.hops, ...PATH.hops] }];
    const offer = makeOffer({ paths });
    const anonymous = decodeInvoiceRequest(
      signStream(
        makeRequest(offer, { amountMsat: 1000n }).records.filter(({ type }) => type !== 22n),
        { message: 'invoice_request', field: 'signature' },
        secretKey(0x42),
      ),
    );
    const invoice = makeInvoice(anonymous, { nodeSecretKey: secretKey(0x45) });
    expect(invoice.nodeId).toBe(publicKey(0x45));
    const notTheEnd = () => makeInvoice(anonymous, { nodeSecretKey: secretKey(0x44) });
    expectInvalid(notTheEnd, 'bolt12', 'not the end of any of offer_paths');
  });

  test.each([
    [{ amountMsat: 999n }, 'not the expected 1000 millisatoshis'],
    [{ amountMsat: 1001n }, 'not the expected 1000 millisatoshis'],
    [{ nodeSecretKey: secretKey(0x47) }, 'not the offer_issuer_id'],
    [{ paths: [] }, 'invoice_paths has no blinded path'],
    [{ paymentHash: 'ab' }, 'invoice_payment_hash is not 32 bytes long'],
    [{ features: Uint8Array.of(1) }, 'requires feature 0'],
    [{ relativeExpirySecs: 2 ** 32 }, 'invoice_relative_expiry has a number that 4 bytes cannot'],
    [{ relativeExpirySecs: -1 }, 'invoice_relative_expiry has a number that 4 bytes cannot'],
  ])('what the payer would not accept is refused (%#)', (parts, reason) => {
    expectInvalid(() => makeInvoice(REQUEST, parts), 'bolt12', reason);
  });
});

describe('reading an invoice', () => {
  const payInfo = '0000000100000002000300000000000000040000000000000005';

  test('signing it again with nothing changed gives the same invoice', () => {
    expect(decodeInvoice(resigned({}))).toEqual(INVOICE);
  });

  test.each([
    [{ 88: null }, 'invreq_payer_id is missing'],
    [{ 160: null }, 'invoice_paths is missing'],
    [{ 160: '' }, 'invoice_paths has no blinded path'],
    [{ 162: null }, 'invoice_blindedpay is missing'],
    [{ 162: '' }, 'does not describe each of invoice_paths'],
    [{ 162: `${payInfo}0000${payInfo}0000` }, 'does not describe each of invoice_paths'],
    [{ 162: `${payInfo}00` }, 'invoice_blindedpay ends in the middle'],
    [{ 162: `${payInfo}000101` }, 'each of its paths requires a feature'],
    [{ 164: null }, 'invoice_created_at is missing'],
    [{ 164: 'ffffffffffffffff' }, 'invoice_created_at is not a date'],
    [{ 166: '0100000000' }, 'invoice_relative_expiry is a number of more than 4 bytes'],
    [{ 168: null }, 'invoice_payment_hash is missing'],
    [{ 168: '00' }, 'invoice_payment_hash is not 32 bytes long'],
    [{ 170: null }, 'invoice_amount is missing'],
    [{ 172: '0000' }, 'invoice_fallbacks ends in the middle'],
    [{ 174: '01' }, 'requires feature 0'],
    [{ 174: '040000' }, 'requires feature 18'],
    [{ 176: null }, 'invoice_node_id is missing'],
    [{ 176: `02${'ff'.repeat(32)}` }, 'invoice_node_id is not a public key'],
    [{ 178: '' }, 'requires the unknown field 178'],
    [{ 1001: '' }, 'it has field 1001'],
    [{ 999999999: '' }, 'it has field 999999999'],
    [{ 4000000001: '' }, 'it has field 4000000001'],
    [{ 3000000000: '' }, 'requires the unknown field 3000000000'],
  ])('%j is refused: %s', (patch, reason) => {
    expectInvalid(() => decodeInvoice(resigned(patch)), 'bolt12', reason);
  });

  test('it needs its signature', () => {
    const unsigned = encodeTlvStream(INVOICE.records.filter(({ type }) => type !== 240n));
    expectInvalid(() => decodeInvoice(unsigned), 'bolt12', 'signature is missing');
  });

  test('a signature by another key, or over other fields, is refused', () => {
    const changed = patchRecords(INVOICE.records, new Map([[89n, utf8ToBytes('x')]]));
    for (const bytes of [resigned({}, secretKey(0x47)), encodeTlvStream(changed)]) {
      expectInvalid(() => decodeInvoice(bytes), 'bolt12', 'not by invoice_node_id');
    }
  });

  test('multi-part features are known, unknown odd ones and odd fields are kept', () => {
    const invoice = decodeInvoice(resigned({ 174: '0b0000', 177: 'aa', 3999999999: 'bb' }));
    expect(invoice.features).toEqual(Uint8Array.of(0x0b, 0, 0));
    expect(invoice.records.map(({ type }) => type)).toEqual(
      expect.arrayContaining([177n, 3_999_999_999n]),
    );
  });

  test('a path that requires an unknown feature is left out, others stay', () => {
    const strange = { ...INVOICE_PATH.payInfo, features: Uint8Array.of(1) };
    const paths = [{ path: PATH, payInfo: strange }, INVOICE_PATH];
    expect(makeInvoice(REQUEST, { paths }).paths).toEqual([INVOICE_PATH]);
  });

  test('fallback addresses that BOLT 12 says to ignore are left out', () => {
    const good = { version: 16, program: new Uint8Array(40) };
    const fallbacks = [
      { version: 17, program: new Uint8Array(20) },
      { version: 1, program: new Uint8Array(1) },
      { version: 1, program: new Uint8Array(41) },
      good,
    ];
    expect(makeInvoice(REQUEST, { fallbacks }).fallbacks).toEqual([good]);
  });
});

describe('verifying an invoice against the request', () => {
  const mismatch = 'does not repeat the fields of the invoice request';

  test.each([
    [{ 0: '00'.repeat(16) }],
    [{ 10: '61' }],
    [{ 89: '61' }],
    [{ 80: null }],
    [{ 23: '' }],
    [{ 2999999999: '' }],
  ])('%j is not what was asked', (patch) => {
    const invoice = decodeInvoice(resigned(patch));
    expectInvalid(() => verifyInvoice(invoice, REQUEST), 'bolt12', mismatch);
  });

  test('fields that only invoices have may be added', () => {
    const invoice = decodeInvoice(resigned({ 177: '', 3000000001: '' }));
    expect(() => verifyInvoice(invoice, REQUEST)).not.toThrow();
  });

  test('an amount other than that of the request is refused', () => {
    const invoice = decodeInvoice(resigned({ 170: '03e9' }));
    expectInvalid(() => verifyInvoice(invoice, REQUEST), 'bolt12', 'not the expected 1000');
  });

  test('without an amount in the request, the offer times the quantity is expected', () => {
    const request = makeRequest(makeOffer({ amount: 10n, quantityMax: 0n }), { quantity: 4n });
    expect(() => makeInvoice(request, { amountMsat: 40n })).not.toThrow();
    const tooMuch = () => makeInvoice(request, { amountMsat: 41n });
    expectInvalid(tooMuch, 'bolt12', 'not the expected 40 millisatoshis');
  });

  test('an amount that only a rate of exchange could tell is for the payer, unless the request names one', () => {
    const offer = makeOffer({ currency: 'USD', amount: 100n });
    const asked = REQUEST.records.filter(
      ({ type }) => type === 0n || (type >= 80n && type !== 82n),
    );
    const records = [...asked.slice(0, 1), ...offer.records, ...asked.slice(1)];
    const subject = { message: 'invoice_request', field: 'signature' } as const;
    const request = decodeInvoiceRequest(signStream(records, subject, secretKey(0x42)));
    expect(makeInvoice(request, { amountMsat: 77n }).amountMsat).toBe(77n);
    const named = makeRequest(offer, { amountMsat: 70n });
    expect(makeInvoice(named, { amountMsat: 70n }).amountMsat).toBe(70n);
    const other = () => makeInvoice(named, { amountMsat: 77n });
    expectInvalid(other, 'bolt12', 'not the expected 70 millisatoshis');
  });

  test('an invoice signed by someone else than the issuer is refused', () => {
    const bytes = resigned({ 176: publicKey(0x47) }, secretKey(0x47));
    expectInvalid(
      () => verifyInvoice(decodeInvoice(bytes), REQUEST),
      'bolt12',
      'not the offer_issuer_id',
    );
  });
});
