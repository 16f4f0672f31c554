import { describe, expect, test } from 'bun:test';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { encodeBolt12String } from '../../../src/codecs/bolt12/index.ts';
import { CodecError } from '../../../src/codecs/codec-error.ts';
import {
  createPayerProof,
  isDisclosableType,
  verifyPayerProof,
} from '../../../src/codecs/payer-proof/index.ts';
import { encodeTlvStream, sortTlvRecords, type TlvRecord } from '../../../src/codecs/tlv.ts';
import {
  makeInvoice,
  makeOffer,
  makeRequest,
  PAYER_KEY,
  PREIMAGE,
  signInvoice,
} from '../../support/bolt12-fixtures.ts';
import { rounds } from '../../support/rounds.ts';

const BASE = makeInvoice(makeRequest(makeOffer(), { amountMsat: 1000n, payerNote: 'hi' }));
const ALWAYS_SHOWN = [88n, 168n, 174n, 176n];

const oddType = fc
  .oneof(
    fc.integer({ min: 23, max: 239 }),
    fc.constantFrom(1, 239, 1_000_000_001, 3_999_999_999),
    fc.integer({ min: 1_000_000_000, max: 3_999_999_998 }),
  )
  .map((n) => BigInt(Math.floor(n / 2) * 2 + 1))
  .filter((type) => type !== 89n && type !== 91n);

/** A signed invoice with unknown and experimental fields, and some of its types to disclose. */
const invoiceAndChoice = fc
  .uniqueArray(fc.tuple(oddType, fc.uint8Array({ maxLength: 20 })), {
    selector: ([type]) => type,
    maxLength: 12,
  })
  .map((extra) => {
    const added = extra.map(([type, value]): TlvRecord => ({ type, value }));
    return signInvoice(sortTlvRecords([...BASE.records, ...added]));
  })
  .chain((invoice) => {
    const types = invoice.records.map(({ type }) => type).filter(isDisclosableType);
    return fc.record({ invoice: fc.constant(invoice), types: fc.subarray(types) });
  });

const note = fc.option(fc.string({ unit: 'grapheme', minLength: 1 }), { nil: undefined });

describe('payer proofs', () => {
  test('any invoice with any choice of fields verifies and shows exactly what was chosen', () => {
    fc.assert(
      fc.property(invoiceAndChoice, note, ({ invoice, types }, proofNote) => {
        const text = createPayerProof({
          invoice,
          preimage: PREIMAGE,
          payerSecretKey: PAYER_KEY,
          disclose: { types },
          ...(proofNote === undefined ? {} : { note: proofNote }),
        });
        const proof = verifyPayerProof(text);
        const shown = (type: bigint) => types.includes(type) || ALWAYS_SHOWN.includes(type);
        const isShown = ({ type }: TlvRecord) => shown(type);
        expect(proof.records.filter(({ type }) => isDisclosableType(type))).toEqual(
          invoice.records.filter(isShown),
        );
        expect(proof.disclosedTypes).toEqual(invoice.records.filter(isShown).map((r) => r.type));
        expect(proof).toMatchObject({
          text,
          invoiceRoot: invoice.invoiceRoot,
          payerId: invoice.payerId,
          nodeId: invoice.nodeId,
          note: proofNote ?? null,
          preimage: bytesToHex(PREIMAGE),
        });
      }),
      { numRuns: rounds(30, 150) },
    );
  });

  test('a proof with any byte changed is refused', () => {
    const changed = fc.tuple(
      invoiceAndChoice,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(changed, ([{ invoice, types }, where, flip]) => {
        const proof = verifyPayerProof(
          createPayerProof({
            invoice,
            preimage: PREIMAGE,
            payerSecretKey: PAYER_KEY,
            disclose: { types },
            note: 'challenge',
          }),
        );
        const bytes = encodeTlvStream(proof.records);
        const at = Math.min(Math.floor(where * bytes.length), bytes.length - 1);
        const other = bytes.with(at, (bytes[at] ?? 0) ^ flip);
        const read = () => verifyPayerProof(encodeBolt12String('lnp', other));
        expect(read).toThrow(CodecError);
      }),
      { numRuns: rounds(40, 200) },
    );
  });

  test('no proof contains the secret metadata of the invoice', () => {
    fc.assert(
      fc.property(invoiceAndChoice, ({ invoice, types }) => {
        const text = createPayerProof({
          invoice,
          preimage: PREIMAGE,
          payerSecretKey: PAYER_KEY,
          disclose: { types },
        });
        const metadata = bytesToHex(invoice.values.invreqMetadata ?? hexToBytes('00'));
        const hex = bytesToHex(encodeTlvStream(verifyPayerProof(text).records));
        expect(hex).not.toContain(metadata);
      }),
      { numRuns: rounds(12, 50) },
    );
  });
});
