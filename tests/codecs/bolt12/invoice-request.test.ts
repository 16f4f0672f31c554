import { describe, expect, test } from 'bun:test';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  decodeInvoiceRequest,
  encodeBolt12String,
  verifyInvoiceRequest,
} from '../../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../../src/codecs/network.ts';
import { encodeTlvStream, type TlvRecord } from '../../../src/codecs/tlv.ts';
import {
  METADATA,
  makeOffer,
  makeRequest,
  PAYER_KEY,
  patchRecords,
  publicKey,
  REGTEST,
  secretKey,
  signStream,
} from '../../support/bolt12-fixtures.ts';
import { expectInvalid } from '../expect-invalid.ts';

const SUBJECT = { message: 'invoice_request', field: 'signature' } as const;
const OPEN_OFFER = makeOffer();
const REQUEST = makeRequest(OPEN_OFFER, { amountMsat: 1000n });

/** Returns the request with replaced fields, signed again by the payer, so that only the tested rule can fail. */
function resigned(patch: Record<string, string | null>, records = REQUEST.records): Uint8Array {
  const values = Object.entries(patch).map(
    ([type, hex]) => [BigInt(type), hex === null ? null : hexToBytes(hex)] as const,
  );
  return signStream(patchRecords(records, new Map(values)), SUBJECT, PAYER_KEY);
}

describe('asking for an invoice', () => {
  test('the request reads back from its bytes and its string', () => {
    expect(decodeInvoiceRequest(REQUEST.bytes)).toEqual(REQUEST);
    expect(decodeInvoiceRequest(REQUEST.text)).toEqual(REQUEST);
    expect(REQUEST.text).toStartWith('lnr1');
  });

  test('everything asked for is in it', () => {
    const offer = makeOffer({ amount: 100n, quantityMax: 5n });
    const request = makeRequest(offer, {
      amountMsat: 500n,
      quantity: 3n,
      payerNote: 'thanks ⚡',
      bip353Name: { name: 'ada', domain: 'example.com' },
    });
    expect(request).toMatchObject({
      chain: REGTEST,
      amountMsat: 500n,
      quantity: 3n,
      payerId: publicKey(0x42),
      payerNote: 'thanks ⚡',
      bip353Name: { name: 'ada', domain: 'example.com' },
      metadata: METADATA,
    });
    verifyInvoiceRequest(decodeInvoiceRequest(request.bytes), offer);
  });

  test('it mirrors every field of the offer, unknown ones included', () => {
    const unknown: TlvRecord[] = [
      { type: 23n, value: Uint8Array.of(1) },
      { type: 1_999_999_999n, value: Uint8Array.of(2) },
    ];
    const offer = makeOffer({ otherRecords: unknown });
    const request = makeRequest(offer, { amountMsat: 1n });
    expect(request.records).toEqual(expect.arrayContaining([...offer.records]));
    verifyInvoiceRequest(request, offer);
  });

  test('on bitcoin it names no chain', () => {
    const offer = makeOffer({ chains: [NETWORKS.bitcoin.chainHash] });
    const request = makeRequest(offer, { amountMsat: 1n, chain: NETWORKS.bitcoin.chainHash });
    expect(request.records.map(({ type }) => type)).not.toContain(80n);
    expect(request.chain).toBe(NETWORKS.bitcoin.chainHash);
    verifyInvoiceRequest(request, offer);
  });

  test('one item is asked for when the offer is sold by quantity and none is said', () => {
    expect(makeRequest(makeOffer({ amount: 1n, quantityMax: 0n })).quantity).toBe(1n);
    expect(makeRequest(makeOffer({ amount: 1n })).quantity).toBeNull();
  });

  test('equal inputs give equal signatures, other randomness gives others', () => {
    expect(makeRequest(OPEN_OFFER, { amountMsat: 1000n }).signature).toBe(REQUEST.signature);
    const other = makeRequest(OPEN_OFFER, { amountMsat: 1000n, auxRand: secretKey(9) });
    expect(other.signature).not.toBe(REQUEST.signature);
    expect(decodeInvoiceRequest(other.bytes)).toEqual(other);
  });

  const priced = makeOffer({ amount: 100n, quantityMax: 5n });
  test.each([
    ['no amount anywhere', OPEN_OFFER, {}, 'neither the offer nor invreq_amount'],
    ['too little', makeOffer({ amount: 100n }), { amountMsat: 99n }, 'below the 100 millisat'],
    ['too little for 3', priced, { amountMsat: 299n, quantity: 3n }, 'below the 300 millisat'],
    ['too many', priced, { quantity: 6n }, "above the offer's 5"],
    ['no item', priced, { quantity: 0n }, 'invreq_quantity is zero'],
    ['a quantity', OPEN_OFFER, { amountMsat: 1n, quantity: 1n }, 'not sold by quantity'],
    ['another chain', OPEN_OFFER, { chain: NETWORKS.bitcoin.chainHash }, 'not one of offer_chains'],
    ['short metadata', OPEN_OFFER, { metadata: new Uint8Array(15) }, 'fewer than 16 bytes'],
    [
      'half a character',
      OPEN_OFFER,
      { amountMsat: 1n, payerNote: '\udc00' },
      'not valid Unicode text',
    ],
    [
      'a name that is none',
      OPEN_OFFER,
      { amountMsat: 1n, bip353Name: { name: 'a b', domain: 'c' } },
      'a character that names cannot have',
    ],
  ])('%s is refused', (_what, offer, parts, reason) => {
    expectInvalid(() => decodeInvoiceRequest(makeRequest(offer, parts).bytes), 'bolt12', reason);
  });
});

describe('reading an invoice request', () => {
  test('signing it again with nothing changed gives the same request', () => {
    expect(decodeInvoiceRequest(resigned({}))).toEqual(REQUEST);
  });

  test.each([
    [{ 0: null }, 'invreq_metadata is missing'],
    [{ 88: null }, 'invreq_payer_id is missing'],
    [{ 88: `02${'ff'.repeat(32)}` }, 'invreq_payer_id is not a public key'],
    [{ 82: null }, 'neither the offer nor invreq_amount'],
    [{ 82: '0001' }, 'invreq_amount is a number with a leading zero'],
    [{ 82: '010000000000000000' }, 'invreq_amount is a number of more than 8 bytes'],
    [{ 80: '00' }, 'invreq_chain is not 32 bytes long'],
    [{ 84: '01' }, 'requires feature 0'],
    [{ 86: '01' }, 'the offer is not sold by quantity'],
    [{ 89: 'ff' }, 'invreq_payer_note is not UTF-8'],
    [{ 90: '' }, 'invreq_paths has no blinded path'],
    [{ 91: '0161' }, 'invreq_bip_353_name ends in the middle'],
    [{ 91: '0161016200' }, 'invreq_bip_353_name has bytes after the name'],
    [{ 91: '01210162' }, 'a character that names cannot have'],
    [{ 92: '' }, 'requires the unknown field 92'],
    [{ 161: '' }, 'it has field 161'],
    [{ 3000000001: '' }, 'it has field 3000000001'],
    [{ 242: '' }, 'requires the unknown field 242'],
  ])('%j is refused: %s', (patch, reason) => {
    expectInvalid(() => decodeInvoiceRequest(resigned(patch)), 'bolt12', reason);
  });

  test('unknown odd features and fields are kept', () => {
    const request = decodeInvoiceRequest(resigned({ 84: '02', 93: 'aa', 2999999999: 'bb' }));
    expect(request.records.map(({ type }) => type)).toEqual(
      expect.arrayContaining([93n, 2_999_999_999n]),
    );
  });

  test('an answer to an offer needs its signature', () => {
    const unsigned = encodeTlvStream(REQUEST.records.filter(({ type }) => type !== 240n));
    expectInvalid(() => decodeInvoiceRequest(unsigned), 'bolt12', 'signature is missing');
  });

  test('a signature by another key is refused', () => {
    const bytes = signStream(REQUEST.records, SUBJECT, secretKey(0x43));
    expectInvalid(() => decodeInvoiceRequest(bytes), 'bolt12', 'not by invreq_payer_id');
  });

  test('a changed field is refused', () => {
    const records = patchRecords(REQUEST.records, new Map([[89n, utf8ToBytes('x')]]));
    const bytes = encodeTlvStream(records);
    expectInvalid(() => decodeInvoiceRequest(bytes), 'bolt12', 'not by invreq_payer_id');
  });
});

describe('an offer to send money', () => {
  const fields = new Map([
    [0n, METADATA],
    [10n, utf8ToBytes('refund')],
    [82n, Uint8Array.of(1)],
    [88n, hexToBytes(publicKey(0x42))],
  ]);
  const text = (patch: [bigint, Uint8Array | null][] = []) =>
    encodeBolt12String(
      'lnr',
      encodeTlvStream(patchRecords(patchRecords([], fields), new Map(patch))),
    );

  test('needs no signature', () => {
    expect(decodeInvoiceRequest(text())).toMatchObject({ signature: null, amountMsat: 1n });
  });

  test('needs an amount', () => {
    expectInvalid(
      () => decodeInvoiceRequest(text([[82n, null]])),
      'bolt12',
      'invreq_amount is missing',
    );
  });

  test.each([
    [2n, hexToBytes(REGTEST)],
    [12n, Uint8Array.of(2)],
    [20n, Uint8Array.of(1)],
  ])('cannot have field %p, which only offers have', (type, value) => {
    expectInvalid(() => decodeInvoiceRequest(text([[type, value]])), 'bolt12', 'only offers have');
  });
});

describe('verifying a request against an offer', () => {
  const mismatch = 'its offer fields are not those of the offer';

  test('a request for this offer passes', () => {
    expect(() => verifyInvoiceRequest(REQUEST, OPEN_OFFER)).not.toThrow();
  });

  test.each([
    ['another description', makeOffer({ description: 'coffee' })],
    ['another field', makeOffer({ issuer: 'x' })],
    ['fewer fields', makeOffer({ otherRecords: [{ type: 23n, value: new Uint8Array() }] })],
  ])('an offer with %s is not the one asked for', (_what, offer) => {
    expectInvalid(() => verifyInvoiceRequest(REQUEST, offer), 'bolt12', mismatch);
  });

  test('an experimental offer field that the offer lacks is refused', () => {
    const request = decodeInvoiceRequest(resigned({ 1000000001: '' }));
    expectInvalid(() => verifyInvoiceRequest(request, OPEN_OFFER), 'bolt12', mismatch);
  });

  test('a chain that the offer does not name is refused, bitcoin by omission too', () => {
    const omitted = decodeInvoiceRequest(resigned({ 80: null }));
    const other = decodeInvoiceRequest(resigned({ 80: NETWORKS.signet.chainHash }));
    for (const request of [omitted, other]) {
      expectInvalid(() => verifyInvoiceRequest(request, OPEN_OFFER), 'bolt12', 'invreq_chain');
    }
  });

  test('an offer in a currency is asked for with an amount, or without: its issuer names it', () => {
    const offer = makeOffer({ currency: 'USD', amount: 100n });
    for (const amountMsat of [1n, undefined]) {
      const parts = amountMsat === undefined ? {} : { amountMsat };
      const request = decodeInvoiceRequest(makeRequest(offer, parts).bytes);
      expect(request.amountMsat).toBe(amountMsat ?? null);
      expect(() => verifyInvoiceRequest(request, offer)).not.toThrow();
    }
  });
});
