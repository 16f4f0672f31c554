import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import {
  branchHash,
  decodeBolt12String,
  encodeBolt12String,
  INVOICE_SIGNATURE,
  invalidDocument,
  isRootSignature,
  leafHash,
  merkleRoot,
  readFields,
  required,
  safeNumber,
} from '../bolt12/index.ts';
import { isPreimageOf } from '../preimage.ts';
import { decodeTlvStream, type TlvRecord } from '../tlv.ts';
import type { Disclosure } from './disclosure.ts';
import {
  isDisclosableType,
  LAST_INVOICE_TYPE,
  PAYER_PROOF_FIELDS,
  type PayerProofValues,
  PROOF_SIGNATURE,
} from './fields.ts';
import { orderLeaves } from './markers.ts';
import { type Subtree, walkTree } from './tree.ts';

/**
 * A verified payer proof: the payee signed an invoice with the disclosed fields, the invoice was paid, and the holder
 * of its payer key made the proof. It may still be about another payment than the expected one: compare the disclosed
 * fields. Other parties chose the texts in it.
 */
export interface PayerProof {
  /** Canonical string: lower case, no `+`. */
  readonly text: string;
  /** The payer's key, hex. */
  readonly payerId: string;
  /** The payee's key, hex; it need not be the id of a public node. */
  readonly nodeId: string;
  readonly paymentHash: string;
  readonly preimage: string;
  readonly note: string | null;
  /** From here on null means: omitted from the proof, or absent in the invoice. */
  readonly amountMsat: bigint | null;
  readonly createdAtSecs: number | null;
  readonly description: string | null;
  readonly issuer: string | null;
  readonly payerNote: string | null;
  /** The payee's signature of the invoice, 64 bytes, hex. */
  readonly invoiceSignature: string;
  /** The payer's signature of the proof, 64 bytes, hex. */
  readonly proofSignature: string;
  /** Merkle root of the invoice, hex. */
  readonly invoiceRoot: string;
  /** The types of the disclosed invoice fields, ascending. */
  readonly disclosedTypes: readonly bigint[];
  /** The value of every field, by BOLT 12's names. */
  readonly values: PayerProofValues;
  /** All fields in order, including unknown odd ones. */
  readonly records: readonly TlvRecord[];
}

const invalid: Invalid = invalidDocument(
  'payer-proof',
  'payer proof',
  'ask the payer for a new one',
);

function readProof(records: readonly TlvRecord[]): PayerProofValues {
  const last = records.at(-1);
  if (last !== undefined && last.type > LAST_INVOICE_TYPE) {
    invalid(`it has field ${last.type}, above all types that proofs may have`);
  }
  if (records[0]?.type === 0n) invalid('it contains invreq_metadata, which must stay secret');
  return readFields(PAYER_PROOF_FIELDS, records, invalid);
}

/**
 * Reads and verifies a payer proof (`lnp1...`). Both signatures are checked last, since they take the most time.
 * Throws `CodecError('payer-proof')` that names the broken rule.
 */
export function verifyPayerProof(text: string): PayerProof {
  const bytes = decodeBolt12String(text, 'lnp', invalid);
  const records = decodeTlvStream(bytes, invalid);
  const values = readProof(records);
  const fields = PAYER_PROOF_FIELDS;
  const payerId = required(values.invreqPayerId, fields.invreqPayerId, invalid);
  const paymentHash = required(values.invoicePaymentHash, fields.invoicePaymentHash, invalid);
  const nodeId = required(values.invoiceNodeId, fields.invoiceNodeId, invalid);
  const invoiceSignature = required(values.signature, fields.signature, invalid);
  const proofSignature = required(values.proofSignature, fields.proofSignature, invalid);
  const preimage = required(values.proofPreimage, fields.proofPreimage, invalid);
  const missingHashes = required(values.proofMissingHashes, fields.proofMissingHashes, invalid);
  const leafHashes = required(values.proofLeafHashes, fields.proofLeafHashes, invalid);
  if (!isPreimageOf(preimage, paymentHash)) {
    invalid('proof_preimage does not belong to invoice_payment_hash');
  }

  const disclosed = records.filter(({ type }) => isDisclosableType(type));
  const markers = values.proofOmittedTlvs ?? [];
  const invoiceRoot = rebuildInvoiceRoot(
    { disclosed, markers, missingHashes, leafHashes },
    invalid,
  );
  if (!isRootSignature(INVOICE_SIGNATURE, invoiceRoot, invoiceSignature, nodeId)) {
    invalid('signature is not by invoice_node_id over the disclosed invoice');
  }
  const proofRoot = merkleRoot(records) ?? invalid('it is empty');
  if (!isRootSignature(PROOF_SIGNATURE, proofRoot, proofSignature, payerId)) {
    invalid('proof_signature is not by invreq_payer_id over this proof');
  }

  return {
    text: encodeBolt12String('lnp', bytes),
    payerId,
    nodeId,
    paymentHash,
    preimage,
    note: values.proofNote,
    amountMsat: values.invoiceAmount,
    createdAtSecs: safeNumber(values.invoiceCreatedAt),
    description: values.offerDescription,
    issuer: values.offerIssuer,
    payerNote: values.invreqPayerNote,
    invoiceSignature,
    proofSignature,
    invoiceRoot: hex.encode(invoiceRoot),
    disclosedTypes: disclosed.map(({ type }) => type),
    values,
    records,
  };
}

/**
 * Computes the merkle root of the invoice from the disclosed fields of a proof and its hashes for all others. Markers,
 * leaf hashes and missing hashes that do not fit the disclosed fields are invalid.
 */
export function rebuildInvoiceRoot(
  { disclosed, markers, missingHashes, leafHashes }: Disclosure,
  invalid: Invalid,
): Uint8Array {
  const order = orderLeaves(
    disclosed.map(({ type }) => type),
    markers,
    invalid,
  );
  if (leafHashes.length !== disclosed.length) {
    invalid(
      `proof_leaf_hashes holds ${leafHashes.length} hashes for ${disclosed.length} disclosed fields`,
    );
  }
  const nodes = disclosed
    .map((record, i) => branchHash(leafHash(record), hex.decode(leafHashes[i] ?? '')))
    .values();
  const leaves = order.map(({ isMarker }): Subtree<null> => {
    const node = isMarker ? undefined : nodes.next().value;
    return node === undefined ? { omitted: null } : { hash: node };
  });
  const hashes = missingHashes.values();
  const root = walkTree([{ omitted: null }, ...leaves], {
    join: () => null,
    hashOf: () =>
      hex.decode(hashes.next().value ?? invalid('proof_missing_hashes has too few hashes')),
  });
  if (hashes.next().done !== true) invalid('proof_missing_hashes has too many hashes');
  return root ?? invalid('it discloses no field');
}
