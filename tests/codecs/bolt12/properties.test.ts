import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  decodeInvoice,
  decodeInvoiceRequest,
  decodeOffer,
  encodeBolt12String,
  encodeOffer,
  type OfferFields,
  verifyInvoice,
  verifyInvoiceRequest,
} from '../../../src/codecs/bolt12/index.ts';
import { CodecError } from '../../../src/codecs/codec-error.ts';
import { NETWORKS } from '../../../src/codecs/network.ts';
import { verifyPayerProof } from '../../../src/codecs/payer-proof/index.ts';
import { encodeTlvStream, type TlvRecord } from '../../../src/codecs/tlv.ts';
import {
  makeInvoice,
  makeRequest,
  NODE_ID,
  PATH,
  publicKey,
  REGTEST,
} from '../../support/bolt12-fixtures.ts';
import { rounds } from '../../support/rounds.ts';

const uint64 = fc.bigInt({ min: 1n, max: (1n << 64n) - 1n });
const bytes = fc.uint8Array({ maxLength: 40 });
const text = fc.string({ unit: 'grapheme', maxLength: 40 });

/** Unknown odd fields from one range, types ascending. */
const oddRecords = (min: number, max: number, known: readonly number[] = []) =>
  fc
    .uniqueArray(
      fc
        .integer({ min, max })
        .map((n) => n | 1)
        .filter((n) => n <= max && !known.includes(n)),
      { maxLength: 4 },
    )
    .chain((types) =>
      fc.tuple(
        ...types
          .toSorted((a, b) => a - b)
          .map((type) => bytes.map((value): TlvRecord => ({ type: BigInt(type), value }))),
      ),
    );

const path = fc
  .tuple(
    fc.constantFrom(NODE_ID, `01${'07'.repeat(8)}`),
    fc.array(bytes, { minLength: 1, maxLength: 3 }),
  )
  .map(([introduction, data]) => ({
    introduction,
    pathKey: publicKey(0x44),
    hops: data.map((encryptedRecipientData) => ({
      blindedNodeId: publicKey(0x45),
      encryptedRecipientData,
    })),
  }));

const chains = fc.uniqueArray(
  fc.constantFrom(...Object.values(NETWORKS).map(({ chainHash }) => chainHash)),
  { maxLength: 3 },
);

const features = bytes.map((list) => list.map((byte) => byte & 0xaa));

/** Values for any offer on regtest without a currency. */
const payableFields: fc.Arbitrary<OfferFields> = fc.record(
  {
    chains: chains.map((others) => [...new Set([...others, REGTEST])]),
    issuerId: fc.constant(NODE_ID),
    description: text,
    metadata: bytes,
    amount: fc.bigInt({ min: 1n, max: 1n << 40n }),
    features,
    absoluteExpirySecs: fc.maxSafeNat(),
    paths: fc.array(path, { minLength: 1, maxLength: 3 }),
    issuer: text,
    quantityMax: fc.bigInt({ min: 0n, max: 1n << 64n }).map((n) => n >> 1n),
    otherRecords: fc
      .tuple(oddRecords(23, 79), oddRecords(1_000_000_000, 1_999_999_999))
      .map((lists) => lists.flat()),
  },
  { requiredKeys: ['chains', 'issuerId', 'description'] },
);

const anyFields = fc.oneof(
  payableFields,
  fc
    .tuple(payableFields, fc.stringMatching(/^[A-Z]{3}$/), uint64)
    .map(([fields, currency, amount]) => ({ ...fields, currency, amount })),
);

describe('offers, requests and invoices', () => {
  test('an offer reads back as it was written, and writes back to the same string', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const { otherRecords = [], ...known } = fields;
        const offer = decodeOffer(encodeOffer(fields));
        expect(offer).toMatchObject(known);
        expect(offer.records).toEqual(expect.arrayContaining([...otherRecords]));
        expect(encodeBolt12String('lno', encodeTlvStream(offer.records))).toBe(offer.text);
      }),
    );
  });

  test('a request and its invoice read back as written, and fit each other', () => {
    const conversation = fc.record({
      fields: payableFields,
      tipMsat: fc.bigInt({ min: 1n, max: 1n << 40n }),
      quantity: fc.bigInt({ min: 1n, max: 1000n }),
      payerNote: text,
      relativeExpirySecs: fc.nat(),
      paths: fc.array(path, { minLength: 1, maxLength: 3 }),
    });
    fc.assert(
      fc.property(conversation, ({ fields, tipMsat, quantity, payerNote, ...rest }) => {
        const offer = decodeOffer(encodeOffer(fields));
        const max = offer.quantityMax;
        const items = max !== null && max !== 0n && max < quantity ? max : quantity;
        const amountMsat = (offer.amountMsat ?? 0n) * items + tipMsat;
        const sold = max === null ? {} : { quantity: items };
        const request = makeRequest(offer, { amountMsat, payerNote, ...sold });
        expect(decodeInvoiceRequest(request.text)).toEqual(request);
        verifyInvoiceRequest(decodeInvoiceRequest(request.bytes), offer);

        const payInfo = {
          feeBaseMsat: 0,
          feeProportionalMillionths: 2 ** 32 - 1,
          cltvExpiryDelta: 65535,
          htlcMinimumMsat: 0n,
          htlcMaximumMsat: (1n << 64n) - 1n,
          features: new Uint8Array(),
        };
        const invoice = makeInvoice(request, {
          relativeExpirySecs: rest.relativeExpirySecs,
          paths: rest.paths.map((each) => ({ path: each, payInfo })),
        });
        expect(decodeInvoice(invoice.text)).toEqual(invoice);
        verifyInvoice(decodeInvoice(invoice.bytes), request);
        expect(invoice).toMatchObject({ amountMsat, payerNote, quantity: sold.quantity ?? null });
      }),
      { numRuns: rounds(15, 80) },
    );
  });
});

describe('readers of anything', () => {
  const readers: [string, (text: string) => unknown][] = [
    ['lno1', decodeOffer],
    ['lnr1', decodeInvoiceRequest],
    ['lni1', decodeInvoice],
    ['lnp1', verifyPayerProof],
  ];
  const prefixes = ['lno', 'lnr', 'lni', 'lnp'] as const;

  /** Returns the result of reading, or the message of a CodecError; any other error fails the test. */
  const outcome = (read: () => unknown): unknown => {
    try {
      return read();
    } catch (error) {
      if (error instanceof CodecError) return error.message;
      throw error;
    }
  };

  test('random text is refused with a CodecError', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom(...'qpzry9x8gf2tvdw0s3jn54khce6mua7l+ QP') }),
    );
    fc.assert(
      fc.property(noise, fc.boolean(), (random, withPrefix) => {
        for (const [prefix, read] of readers) {
          const message = outcome(() => read(withPrefix ? prefix + random : random));
          expect(message).toBeString();
        }
      }),
      { numRuns: rounds(150, 800) },
    );
  });

  const valid = encodeTlvStream(
    decodeOffer(encodeOffer({ issuerId: NODE_ID, paths: [PATH] })).records,
  );
  test('streams of random fields, and broken ones, are read or refused with a CodecError', () => {
    const type = fc.oneof(fc.nat(256), fc.integer({ min: 1_000_000_000, max: 4_000_000_001 }));
    const stream = fc
      .uniqueArray(fc.tuple(type, bytes), { selector: ([n]) => n })
      .map((list) =>
        encodeTlvStream(
          list.toSorted(([a], [b]) => a - b).map(([n, value]) => ({ type: BigInt(n), value })),
        ),
      );
    const broken = fc
      .tuple(fc.nat(valid.length - 1), fc.nat(255))
      .map(([at, byte]) => valid.with(at, byte));
    fc.assert(
      fc.property(fc.oneof(stream, broken, fc.uint8Array()), (input) => {
        prefixes.forEach((prefix, i) => {
          outcome(() => readers[i]?.[1](encodeBolt12String(prefix, input)));
        });
        outcome(() => decodeInvoice(input));
        outcome(() => decodeInvoiceRequest(input));
      }),
      { numRuns: rounds(150, 800) },
    );
  });

  test('very long input is refused like short input', () => {
    const long = 1 << 20;
    const many: TlvRecord[] = Array.from({ length: 150_000 }, (_, i) => ({
      type: BigInt(1_000_000_001 + 2 * i),
      value: new Uint8Array(),
    }));
    const inputs = ['q'.repeat(long), '+'.repeat(long), `q+${' '.repeat(long)}`, 'q+'.repeat(long)];
    for (const [prefix, read] of readers) {
      for (const input of inputs) expect(outcome(() => read(prefix + input))).toBeString();
    }
    for (const [i, prefix] of prefixes.entries()) {
      const text = encodeBolt12String(prefix, encodeTlvStream(many));
      expect(outcome(() => readers[i]?.[1](text))).toBeString();
    }
  });
});
