import { describe, expect, test } from 'bun:test';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import {
  decodeInvoice,
  decodeOffer,
  encodeBolt12String,
  merkleRoot,
} from '../../../src/codecs/bolt12/index.ts';
import { taggedHash } from '../../../src/codecs/bolt12/merkle.ts';
import { discloseRecords } from '../../../src/codecs/payer-proof/disclosure.ts';
import { createPayerProof, verifyPayerProof } from '../../../src/codecs/payer-proof/index.ts';
import { nextMarker, orderLeaves } from '../../../src/codecs/payer-proof/markers.ts';
import { rebuildInvoiceRoot } from '../../../src/codecs/payer-proof/verify.ts';
import { paysIssuerOf } from '../../support/pays-issuer.ts';
import ldk from '../../vectors/bolt12-payer-proof-ldk.json';
import markerVectors from '../../vectors/bolt12-payer-proof-markers.json';
import vectors from '../../vectors/bolt12-payer-proof-test.json';
import { expectInvalid } from '../expect-invalid.ts';

const invalid = (problem: string): never => {
  throw new Error(problem);
};

describe('payer-proof-test.json, valid', () => {
  describe.each(vectors.valid_vectors)('$name', (vector) => {
    const { input, working, result } = vector;
    const note = 'note' in input ? input.note : undefined;
    const fields = input.invoice_fields.filter(({ type }) => type !== 240);

    test('the writer makes it byte for byte', () => {
      const written = createPayerProof({
        invoice: decodeInvoice(input.invoice),
        preimage: hexToBytes(input.preimage),
        payerSecretKey: hexToBytes(vectors.payer_secret),
        disclose: { types: fields.filter(({ included }) => included).map(({ type }) => type) },
        ...(note === undefined ? {} : { note }),
      });
      expect(written).toBe(result.bech32);
    });

    test('the reader finds in it what the vector states', () => {
      const proof = verifyPayerProof(result.bech32);
      expect(proof).toMatchObject({
        text: result.bech32,
        payerId: vectors.keys.invreq_payer_id.pubkey,
        nodeId: vectors.keys.invoice_node_id.pubkey,
        preimage: input.preimage,
        note: note ?? null,
        invoiceSignature: working.invoice_signature,
        proofSignature: result.payer_sig,
        invoiceRoot: working.invoice_merkle_root,
      });
      expect(proof.values.proofOmittedTlvs).toEqual(working.proof_omitted_tlvs.map(BigInt));
      expect(proof.values.proofMissingHashes).toEqual(working.proof_missing_hashes);
      expect(proof.values.proofLeafHashes).toEqual(working.proof_leaf_hashes);
      expect(proof.disclosedTypes.map(Number)).toEqual(
        fields.filter(({ included }) => included).map(({ type }) => type),
      );
      expect(proof.records.map(({ type, value }) => [Number(type), bytesToHex(value)])).toEqual(
        result.proof_fields.map(({ type, hex }) => [type, hex]),
      );
    });

    test('what the recipient signed is that stated', () => {
      const digest = taggedHash(utf8ToBytes('lightninginvoicesignature'));
      const root = hexToBytes(verifyPayerProof(result.bech32).invoiceRoot);
      expect(bytesToHex(digest(root))).toBe(working.invoice_sighash);
    });

    test('the root that the payer signs is that stated', () => {
      const root = merkleRoot(verifyPayerProof(result.bech32).records);
      expect(bytesToHex(root ?? new Uint8Array())).toBe(working.proof_merkle_root);
    });
  });
});

/** The message of the rule that each invalid vector breaks. */
const REASONS: Readonly<Record<string, string>> = {
  missing_invreq_payer_id: 'invreq_payer_id is missing',
  missing_invoice_node_id: 'invoice_node_id is missing',
  missing_proof_preimage: 'proof_preimage is missing',
  missing_proof_leaf_hashes: 'proof_leaf_hashes is missing',
  missing_proof_signature: 'proof_signature is missing',
  proof_omitted_tlvs_not_ascending: 'proof_omitted_tlvs is not in ascending order',
  proof_omitted_tlvs_contains_signature_field:
    'contains 241, which is not the type of an invoice field',
  proof_omitted_tlvs_contains_proof_field:
    'contains 1001, which is not the type of an invoice field',
  proof_omitted_tlvs_contains_high_field:
    'contains 4000000000, which is not the type of an invoice',
  proof_omitted_tlvs_not_sequential: 'contains 100 where 90 is expected',
  proof_leaf_hashes_too_many: 'proof_leaf_hashes holds 4 hashes for 3 disclosed fields',
  proof_missing_hashes_too_few: 'proof_missing_hashes has too few hashes',
  proof_missing_hashes_too_many: 'proof_missing_hashes has too many hashes',
  wrong_proof_signature: 'proof_signature is not by invreq_payer_id',
  contains_invreq_metadata: 'contains invreq_metadata',
};

describe('payer-proof-test.json, invalid', () => {
  test.each(vectors.invalid_vectors)('$reason', ({ reason, bech32 }) => {
    const expected = REASONS[reason] ?? 'every case has its reason';
    expectInvalid(() => verifyPayerProof(bech32), 'payer-proof', expected);
  });
});

const toText = (hex: string) => encodeBolt12String('lnp', hexToBytes(hex));
const toOffer = (hex: string) => decodeOffer(encodeBolt12String('lno', hexToBytes(hex)));

describe('proofs frozen in LDK', () => {
  test.each(ldk.vectors)(
    '$name verifies and says what LDK reads in it',
    ({ proof_hex, stated }) => {
      const proof = verifyPayerProof(toText(proof_hex));
      if ('offer_issuer' in stated) {
        expect(proof).toMatchObject({
          amountMsat: BigInt(stated.invoice_amount_msats ?? 0),
          createdAtSecs: stated.invoice_created_at_secs,
          description: stated.offer_description,
          issuer: stated.offer_issuer,
          note: stated.proof_note,
        });
      } else {
        expect(proof).toMatchObject({ amountMsat: null, description: null, note: null });
      }
    },
  );

  const offered = ldk.vectors.flatMap(({ proof_hex, offer_hex, other_offer_hex }) =>
    offer_hex === undefined || other_offer_hex === undefined
      ? []
      : [{ proof: verifyPayerProof(toText(proof_hex)), offer_hex, other_offer_hex }],
  );
  test('a proof names the recipient of the offer paid, and of no other', () => {
    expect(offered).toHaveLength(1);
    for (const { proof, offer_hex, other_offer_hex } of offered) {
      expect(paysIssuerOf(proof, toOffer(offer_hex))).toBe(true);
      expect(paysIssuerOf(proof, toOffer(other_offer_hex))).toBe(false);
    }
  });

  test.each(ldk.vectors)('$name is refused with any byte changed', ({ proof_hex }) => {
    const bytes = hexToBytes(proof_hex);
    for (let i = 0; i < bytes.length; i++) {
      const changed = Uint8Array.from(bytes);
      changed[i] = (changed[i] ?? 0) ^ 1;
      const text = encodeBolt12String('lnp', changed);
      expectInvalid(() => verifyPayerProof(text), 'payer-proof', 'This payer proof is not valid');
    }
  });

  test.each(ldk.vectors)('$name is refused with an odd field added', ({ proof_hex }) => {
    const text = toText(`${proof_hex}fd27110100`);
    expectInvalid(() => verifyPayerProof(text), 'payer-proof', 'proof_signature is not by');
  });
});

describe('markers as LDK tests them', () => {
  test.each(markerVectors.compute)('$id: the writer makes the markers stated', (vector) => {
    const [first, ...rest] = vector.tlv_types.map((type) => ({
      type: BigInt(type),
      value: Uint8Array.of(type),
    }));
    const records = [first ?? invalid('no records'), ...rest] as const;
    const included = vector.included.map(BigInt);
    const { markers, missingHashes, leafHashes } = discloseRecords(records, (type) =>
      included.includes(type),
    );
    expect(markers.map(String)).toEqual(vector.markers);
    expect(leafHashes).toHaveLength(included.length);
    if (vector.missing_hash_count !== undefined) {
      expect(missingHashes).toHaveLength(vector.missing_hash_count);
    }
    if (vector.reconstruct === 'fails') {
      const disclosure = { disclosed: [], markers, missingHashes, leafHashes };
      expect(() => rebuildInvoiceRoot(disclosure, invalid)).toThrow('it discloses no field');
    }
    if (vector.positions_included !== undefined) {
      const leaves = orderLeaves(included, markers, invalid);
      const positions = [false, ...leaves.map(({ isMarker }) => !isMarker)];
      expect(positions).toEqual(vector.positions_included);
    }
  });

  const judge = ({ included, markers }: { included: number[]; markers: string[] }) =>
    orderLeaves(included.map(BigInt), markers.map(BigInt), invalid);

  test.each(markerVectors.validate.filter(({ accept }) => accept))('$id is accepted', (vector) => {
    expect(judge(vector)).toHaveLength(vector.included.length + vector.markers.length);
  });

  const reasons: Readonly<Record<string, string>> = {
    'zero-first': 'contains 0',
    'signature-type': 'contains 250, which is not the type',
    'data-range-low': 'contains 1001, which is not the type',
    'data-range-mid': 'contains 500000000, which is not the type',
    'above-experimental': 'contains 4000000000, which is not the type',
    'not-ascending': 'not in ascending order',
    'is-included-type': 'contains 10, which is disclosed',
    'not-minimal-in-run': 'contains 15 where 12 is expected',
    'zero-only': 'contains 0',
    duplicate: 'not in ascending order',
    'equals-included': 'contains 10, which is disclosed',
  };
  test.each(markerVectors.validate.filter(({ accept }) => !accept))('$id is refused', (vector) => {
    expect(() => judge(vector)).toThrow(reasons[vector.id] ?? 'every case has its reason');
  });

  test.each([
    [0n, 1n],
    [238n, 239n],
    [239n, 1_000_000_000n],
    [1_000_000_000n, 1_000_000_001n],
    [3_999_999_998n, 3_999_999_999n],
  ])('after %p the next marker is %p', (previous, next) => {
    expect(nextMarker(previous)).toBe(next);
  });
});
