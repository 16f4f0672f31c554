import { describe, expect, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBigSize } from '../../../src/codecs/bigsize.ts';
import { encodeBolt12String } from '../../../src/codecs/bolt12/index.ts';
import {
  createPayerProof,
  isDisclosableType,
  verifyPayerProof,
} from '../../../src/codecs/payer-proof/index.ts';
import { encodeTlvStream, joinBytes } from '../../../src/codecs/tlv.ts';
import {
  makeInvoice,
  makeOffer,
  makeRequest,
  NODE_ID,
  PATH,
  PAYER_KEY,
  PAYMENT_HASH,
  PREIMAGE,
  patchRecords,
  publicKey,
  secretKey,
  signInvoice,
} from '../../support/bolt12-fixtures.ts';
import { paysIssuerOf } from '../../support/pays-issuer.ts';
import { expectInvalid } from '../expect-invalid.ts';
import { patchProof, resignProof } from './fixtures.ts';

const REQUEST = makeRequest(makeOffer({ issuer: 'kiosk' }), {
  amountMsat: 1000n,
  payerNote: 'thanks',
});
/** An invoice that ends in two unknown fields. If 176 is disclosed and they are not, their markers are 177 and 178. */
const INVOICE = signInvoice(
  patchRecords(
    makeInvoice(REQUEST, { features: Uint8Array.of(2, 0, 0) }).records,
    new Map([
      [177n, Uint8Array.of(1)],
      [3_999_999_999n, Uint8Array.of(2)],
    ]),
  ),
);
const PARTS = { invoice: INVOICE, preimage: PREIMAGE, payerSecretKey: PAYER_KEY };
const PROOF = verifyPayerProof(
  createPayerProof({ ...PARTS, disclose: { types: [10, 170] }, note: 'for Carol' }),
);
const CUT_SHORT = encodeBolt12String('lnp', encodeTlvStream(PROOF.records).subarray(0, -1));
const MARKERS = PROOF.values.proofOmittedTlvs ?? [];
const bigSizes = (...numbers: bigint[]) => joinBytes(numbers.map(encodeBigSize));
const hashes = (list: readonly string[] | null) => hexToBytes((list ?? []).join(''));
const missing = hashes(PROOF.values.proofMissingHashes);
const leaves = hashes(PROOF.values.proofLeafHashes);

describe('writing a payer proof', () => {
  test('what every proof shows and what was chosen is shown, nothing else', () => {
    expect(PROOF.disclosedTypes).toEqual([10n, 88n, 168n, 170n, 174n, 176n]);
    expect(PROOF).toMatchObject({
      payerId: publicKey(0x42),
      nodeId: NODE_ID,
      paymentHash: PAYMENT_HASH,
      description: 'tea',
      amountMsat: 1000n,
      note: 'for Carol',
      issuer: null,
      payerNote: null,
      createdAtSecs: null,
      invoiceRoot: INVOICE.invoiceRoot,
      invoiceSignature: INVOICE.signature,
    });
  });

  test('an omitted run after the last disclosed field gets consecutive markers', () => {
    expect(MARKERS.slice(-2)).toEqual([177n, 178n]);
  });

  test('with everything disclosed there are no markers and one missing hash', () => {
    const types = INVOICE.records.map(({ type }) => type).filter(isDisclosableType);
    const proof = verifyPayerProof(createPayerProof({ ...PARTS, disclose: { types } }));
    expect(proof.disclosedTypes).toEqual(types);
    expect(proof.values.proofOmittedTlvs).toBeNull();
    expect(proof.values.proofMissingHashes).toHaveLength(1);
    expect(proof).toMatchObject({ payerNote: 'thanks', issuer: 'kiosk' });
    expect(proof.createdAtSecs).toBe(INVOICE.createdAtSecs);
  });

  test('a marker after a disclosed 239 stands in the experimental range', () => {
    const invoice = signInvoice(patchRecords(INVOICE.records, new Map([[239n, Uint8Array.of(3)]])));
    const written = createPayerProof({ ...PARTS, invoice, disclose: { types: [239n] } });
    expect(verifyPayerProof(written).values.proofOmittedTlvs?.at(-1)).toBe(1_000_000_000n);
  });

  test('a type that the invoice does not have is left out', () => {
    const written = createPayerProof({ ...PARTS, disclose: { types: [91, 10] } });
    expect(verifyPayerProof(written).disclosedTypes).toEqual([10n, 88n, 168n, 174n, 176n]);
  });

  test('there is no note without a note', () => {
    for (const parts of [{}, { note: '' }]) {
      const written = createPayerProof({ ...PARTS, ...parts, disclose: { types: [] } });
      expect(verifyPayerProof(written).note).toBeNull();
      expect(verifyPayerProof(written).records.map(({ type }) => type)).not.toContain(1005n);
    }
  });

  test('other randomness gives another signature that verifies', () => {
    const parts = { ...PARTS, disclose: { types: [10, 170] }, note: 'for Carol' };
    const proof = verifyPayerProof(createPayerProof({ ...parts, auxRand: secretKey(9) }));
    expect(proof.proofSignature).not.toBe(PROOF.proofSignature);
  });

  test.each([0, 240, 241, 1000, 1001, 1005, 999_999_999, 4_000_000_000, -1, 1.5, NaN])(
    'field %p can never be disclosed',
    (type) => {
      const write = () => createPayerProof({ ...PARTS, disclose: { types: [type] } });
      expectInvalid(write, 'payer-proof', `field ${type} can never be disclosed`);
    },
  );

  test.each([
    [{ preimage: new Uint8Array(32) }, 'preimage does not belong to the payment hash'],
    [{ payerSecretKey: secretKey(0x43) }, 'key does not belong to the payer id'],
    [{ note: '\ud800' }, 'proof_note is not valid Unicode text'],
  ])('what does not belong to the invoice is refused (%#)', (parts, reason) => {
    const write = () => createPayerProof({ ...PARTS, disclose: { types: [] }, ...parts });
    expectInvalid(write, 'payer-proof', reason);
  });

  test('which types can be disclosed', () => {
    const can = [1n, 89n, 239n, 1_000_000_000n, 3_999_999_999n];
    const cannot = [0n, 240n, 1000n, 1001n, 999_999_999n, 4_000_000_000n];
    expect(can.every(isDisclosableType)).toBe(true);
    expect(cannot.some(isDisclosableType)).toBe(false);
  });
});

describe('each reader rule on its own: the payer signed what breaks it', () => {
  const refuses = (patch: (readonly [bigint, Uint8Array | null])[], reason: string) =>
    expectInvalid(() => verifyPayerProof(resignProof(PROOF.records, patch)), 'payer-proof', reason);

  test('signing the proof again with nothing changed gives the same proof', () => {
    expect(resignProof(PROOF.records, [])).toBe(PROOF.text);
  });

  test.each([
    [0n, 'contains invreq_metadata'],
    [24n, 'requires the unknown field 24'],
    [242n, 'requires the unknown field 242'],
    [250n, 'requires the unknown field 250'],
    [1006n, 'requires the unknown field 1006'],
    [1_000_000_000n, 'requires the unknown field 1000000000'],
    [4_000_000_001n, 'field 4000000001, above all types'],
  ])('3: field %p is refused', (type, reason) => {
    refuses([[type, new Uint8Array()]], reason);
  });

  test('3: an unknown odd field of the proof is covered by its signature only', () => {
    const proof = verifyPayerProof(resignProof(PROOF.records, [[1007n, Uint8Array.of(1)]]));
    expect(proof.invoiceRoot).toBe(INVOICE.invoiceRoot);
    expect(proof.disclosedTypes).toEqual(PROOF.disclosedTypes);
  });

  const notAKey = hexToBytes(`02${'ff'.repeat(32)}`);
  test.each([
    [88n, notAKey, 'invreq_payer_id is not a public key'],
    [88n, new Uint8Array(32), 'invreq_payer_id is not a public key'],
    [176n, notAKey, 'invoice_node_id is not a public key'],
    [168n, new Uint8Array(31), 'invoice_payment_hash is not 32 bytes long'],
    [170n, Uint8Array.of(0, 1), 'invoice_amount is a number with a leading zero byte'],
    [10n, Uint8Array.of(0xff), 'offer_description is not UTF-8'],
    [240n, new Uint8Array(63), 'signature is not 64 bytes long'],
    [1001n, new Uint8Array(33), 'proof_preimage is not 32 bytes long'],
    [1002n, Uint8Array.of(0xfd, 0, 1), 'proof_omitted_tlvs is not a list of minimal BigSize'],
    [1002n, Uint8Array.of(1, 0xfd, 1), 'proof_omitted_tlvs is not a list of minimal BigSize'],
    [1003n, missing.subarray(1), 'proof_missing_hashes is not a multiple of 32 bytes'],
    [1004n, leaves.subarray(1), 'proof_leaf_hashes is not a multiple of 32 bytes'],
    [1005n, Uint8Array.of(0xc3), 'proof_note is not UTF-8'],
  ])('4: field %p with a value that it cannot have is refused (%#)', (type, value, reason) => {
    refuses([[type, value]], reason);
  });

  test('4: a proof signature of another length is refused', () => {
    const text = patchProof(PROOF.records, [[241n, new Uint8Array(65)]]);
    const reason = 'proof_signature is not 64 bytes long';
    expectInvalid(() => verifyPayerProof(text), 'payer-proof', reason);
  });

  test.each([
    [88n, 'invreq_payer_id is missing'],
    [168n, 'invoice_payment_hash is missing'],
    [176n, 'invoice_node_id is missing'],
    [240n, 'signature is missing'],
    [1001n, 'proof_preimage is missing'],
    [1003n, 'proof_missing_hashes is missing'],
    [1004n, 'proof_leaf_hashes is missing'],
  ])('5: without field %p it is refused', (type, reason) => {
    refuses([[type, null]], reason);
  });

  test('5: without a proof signature it is refused', () => {
    const text = patchProof(PROOF.records, [[241n, null]]);
    expectInvalid(() => verifyPayerProof(text), 'payer-proof', 'proof_signature is missing');
  });

  test('6: a preimage of another payment is refused', () => {
    refuses([[1001n, new Uint8Array(32)]], 'proof_preimage does not belong');
  });

  test('6: a preimage and payment hash that fit each other but not the invoice are refused', () => {
    const preimage = new Uint8Array(32);
    const patch: [bigint, Uint8Array][] = [
      [1001n, preimage],
      [168n, sha256(preimage)],
    ];
    refuses(patch, 'signature is not by invoice_node_id');
  });

  const body = MARKERS.slice(0, -2);
  test.each([
    ['7: zero', [0n, ...MARKERS], 'contains 0'],
    ['8: a marker twice', [...body, 177n, 177n], 'not in ascending order'],
    ['8: a marker below the one before', [...body, 177n, 1n], 'not in ascending order'],
    ['9: a signature type', [...body, 177n, 240n], 'contains 240, which is not the type'],
    ['9: the last signature type', [...body, 177n, 1000n], 'contains 1000, which is not the type'],
    ['9: a type of proof data', [...body, 177n, 1001n], 'contains 1001, which is not the type'],
    [
      '9: one below experimental',
      [...body, 177n, 999_999_999n],
      '999999999, which is not the type',
    ],
    [
      '9: one above experimental',
      [...body, 177n, 4_000_000_000n],
      '4000000000, which is not the type',
    ],
    ['10: a disclosed type', [...body.filter((m) => m < 176n), 176n, 177n], '176, which is discl'],
    ['11: one too far', [...body, 177n, 179n], 'contains 179 where 178 is expected'],
    [
      '11: the real type',
      [...body, 177n, 3_999_999_999n],
      'contains 3999999999 where 178 is expected',
    ],
    ['11: a jump too early', [...body, 177n, 1_000_000_000n], 'contains 1000000000 where 178'],
    ['11: the first not 1', [2n, ...MARKERS.slice(1)], 'contains 2 where 1 is expected'],
  ])('%s among the markers is refused', (_what, markers, reason) => {
    refuses([[1002n, bigSizes(...markers)]], reason);
  });

  test('12: too many and too few leaf hashes are refused', () => {
    const text = 'hashes for 6 disclosed fields';
    refuses([[1004n, joinBytes([leaves, new Uint8Array(32)])]], `holds 7 ${text}`);
    refuses([[1004n, leaves.subarray(32)]], `holds 5 ${text}`);
    refuses([[1004n, new Uint8Array()]], `holds 0 ${text}`);
  });

  test('12: a leaf hash for each field but the wrong one is refused', () => {
    const swapped = joinBytes([leaves.subarray(32), leaves.subarray(0, 32)]);
    refuses([[1004n, swapped]], 'signature is not by invoice_node_id');
  });

  test('13: too many and too few missing hashes are refused', () => {
    refuses([[1003n, joinBytes([missing, new Uint8Array(32)])]], 'has too many hashes');
    refuses([[1003n, missing.subarray(32)]], 'has too few hashes');
    refuses([[1003n, new Uint8Array()]], 'has too few hashes');
  });

  test('13: a marker left out in front makes the missing hashes not fit', () => {
    const [, ...rest] = MARKERS;
    expect(rest[0]).toBe(11n);
    refuses([[1002n, bigSizes(...rest)]], 'proof_missing_hashes has too few hashes');
  });

  test.each([
    ['a changed field', 170n, Uint8Array.of(3, 0xe9)],
    ['an added odd field', 177n, Uint8Array.of(1)],
    ['another invoice signature', 240n, new Uint8Array(64).fill(1)],
    ['another node id', 176n, hexToBytes(publicKey(0x47))],
  ])('14: %s is refused', (_what, type, value) => {
    // The added field needs a leaf hash and replaces its marker.
    const added: [bigint, Uint8Array][] =
      type === 177n
        ? [
            [1002n, bigSizes(...MARKERS.slice(0, -1).map((m) => (m === 177n ? 178n : m)))],
            [1003n, missing],
            [1004n, joinBytes([leaves, new Uint8Array(32)])],
          ]
        : [];
    refuses([[type, value], ...added], 'signature is not by invoice_node_id');
  });

  test('15: a proof that someone else than the payer signed is refused', () => {
    const text = resignProof(PROOF.records, [], secretKey(0x43));
    const reason = 'proof_signature is not by invreq_payer_id';
    expectInvalid(() => verifyPayerProof(text), 'payer-proof', reason);
  });

  test.each([
    ['changed', utf8ToBytes('for Dave')],
    ['taken out', null],
  ])('15: a note that was %s after signing is refused', (_what, note) => {
    const text = patchProof(PROOF.records, [[1005n, note]]);
    const reason = 'proof_signature is not by invreq_payer_id';
    expectInvalid(() => verifyPayerProof(text), 'payer-proof', reason);
  });

  test('an empty list of markers means none, as its absence does', () => {
    const types = INVOICE.records.map(({ type }) => type).filter(isDisclosableType);
    const all = verifyPayerProof(createPayerProof({ ...PARTS, disclose: { types } }));
    const withEmpty = verifyPayerProof(resignProof(all.records, [[1002n, new Uint8Array()]]));
    expect(withEmpty.disclosedTypes).toEqual(all.disclosedTypes);
    expect(withEmpty.values.proofOmittedTlvs).toEqual([]);
  });

  test.each([
    ['lni1qq', 'does not start with "lnp1"'],
    ['lnp1q', 'more padding'],
    ['lnp1', 'invreq_payer_id is missing'],
    [CUT_SHORT, 'it ends in the middle of field 1005'],
    [`${PROOF.text}+`, 'ends in a "+"'],
  ])('framing comes first (%#)', (text, reason) => {
    expectInvalid(() => verifyPayerProof(text), 'payer-proof', reason);
  });

  test('upper case and joined lines read as the same proof', () => {
    const lines = PROOF.text.slice(0, 50).concat('+\n ', PROOF.text.slice(50));
    expect(verifyPayerProof(lines)).toEqual(PROOF);
    expect(verifyPayerProof(PROOF.text.toUpperCase())).toEqual(PROOF);
  });
});

describe('who was paid', () => {
  test('the node id is the issuer id of the offer', () => {
    expect(paysIssuerOf(PROOF, makeOffer({ description: 'other' }))).toBe(true);
    expect(paysIssuerOf(PROOF, makeOffer({ issuerId: publicKey(0x47) }))).toBe(false);
  });

  test('an issuer id counts even when a path ends at the node', () => {
    const hop = { blindedNodeId: NODE_ID, encryptedRecipientData: new Uint8Array() };
    const offer = makeOffer({ issuerId: publicKey(0x47), paths: [{ ...PATH, hops: [hop] }] });
    expect(paysIssuerOf(PROOF, offer)).toBe(false);
    expect(paysIssuerOf(PROOF, { ...offer, issuerId: null })).toBe(true);
  });
});
