import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import type { Refuse } from '../bigsize.ts';
import {
  decodeBolt12String,
  encodeBolt12String,
  INVOICE_SIGNATURE,
  isRootSignature,
  merkleRoot,
  type Offer,
  readFields,
  refusal,
  required,
  safeNumber,
} from '../bolt12/index.ts';
import { decodeTlvStream, type TlvRecord } from '../tlv.ts';
import {
  isDisclosableType,
  LAST_INVOICE_TYPE,
  PAYER_PROOF_FIELDS,
  type PayerProofValues,
  PROOF_SIGNATURE,
} from './fields.ts';
import { rebuildInvoiceRoot } from './rebuild.ts';

/**
 * A payer proof that has been verified: the payee signed an invoice with the disclosed fields, it was paid, and
 * whoever asked for it made the proof. It may still be about another payment than the one in question: compare
 * what is disclosed. Texts in it were chosen by others.
 */
export interface PayerProof {
  /** Canonical string: lower case, no `+`. */
  readonly text: string;
  /** Key of the payer, hex. */
  readonly payerId: string;
  /** Key of the payee, hex; need not be the id of a public node. */
  readonly nodeId: string;
  readonly paymentHash: string;
  readonly preimage: string;
  /** The note the payer bound to the proof. */
  readonly note: string | null;
  /** Null here and below: withheld, or never in the invoice. */
  readonly amountMsat: bigint | null;
  readonly createdAtSecs: number | null;
  readonly description: string | null;
  readonly issuer: string | null;
  /** What the payer wrote to the payee with the payment. */
  readonly payerNote: string | null;
  /** The payee's signature of the invoice, 64 bytes, hex. */
  readonly invoiceSignature: string;
  /** The payer's signature of the proof, 64 bytes, hex. */
  readonly proofSignature: string;
  /** Merkle root of the invoice, hex. */
  readonly invoiceRoot: string;
  /** Types of the invoice fields it shows, ascending. */
  readonly disclosedTypes: readonly bigint[];
  /** Every field's value by BOLT 12's names. */
  readonly values: PayerProofValues;
  /** All fields in order, unknown odd ones included. */
  readonly records: readonly TlvRecord[];
}

const refuse: Refuse = refusal('payer-proof', 'payer proof', 'ask the payer for a new one');

function readProof(records: readonly TlvRecord[]): PayerProofValues {
  const last = records.at(-1);
  if (last !== undefined && last.type > LAST_INVOICE_TYPE) {
    refuse(`it has field ${last.type}, beyond all types that proofs may have`);
  }
  if (records[0]?.type === 0n) refuse('it contains invreq_metadata, which must stay secret');
  return readFields(PAYER_PROOF_FIELDS, records, refuse);
}

/**
 * Reads and verifies a payer proof (`lnp1...`), cheap rules first and both signatures last. Throws
 * `CodecError('payer-proof')` that names the broken rule.
 */
export function verifyPayerProof(text: string): PayerProof {
  const bytes = decodeBolt12String(text, 'lnp', refuse);
  const records = decodeTlvStream(bytes, refuse);
  const values = readProof(records);
  const fields = PAYER_PROOF_FIELDS;
  const payerId = required(values.invreqPayerId, fields.invreqPayerId, refuse);
  const paymentHash = required(values.invoicePaymentHash, fields.invoicePaymentHash, refuse);
  const nodeId = required(values.invoiceNodeId, fields.invoiceNodeId, refuse);
  const invoiceSignature = required(values.signature, fields.signature, refuse);
  const proofSignature = required(values.proofSignature, fields.proofSignature, refuse);
  const preimage = required(values.proofPreimage, fields.proofPreimage, refuse);
  const missingHashes = required(values.proofMissingHashes, fields.proofMissingHashes, refuse);
  const leafHashes = required(values.proofLeafHashes, fields.proofLeafHashes, refuse);
  if (hex.encode(sha256(hex.decode(preimage))) !== paymentHash) {
    refuse('proof_preimage does not belong to invoice_payment_hash');
  }

  const disclosed = records.filter(({ type }) => isDisclosableType(type));
  const markers = values.proofOmittedTlvs ?? [];
  const invoiceRoot = rebuildInvoiceRoot({ disclosed, markers, missingHashes, leafHashes }, refuse);
  if (!isRootSignature(INVOICE_SIGNATURE, invoiceRoot, invoiceSignature, nodeId)) {
    refuse('signature is not by invoice_node_id over the disclosed invoice');
  }
  const proofRoot = merkleRoot(records) ?? refuse('it is empty');
  if (!isRootSignature(PROOF_SIGNATURE, proofRoot, proofSignature, payerId)) {
    refuse('proof_signature is not by invreq_payer_id over this proof');
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
 * Whether a proof shows a payment to whoever issued the offer: its node id is the offer's `issuerId`, or without
 * one the end of one of its paths. That names a recipient, not one offer.
 */
export function paysIssuerOf(proof: PayerProof, offer: Offer): boolean {
  return offer.issuerId === null
    ? offer.pathsLastBlindedNodeIds.includes(proof.nodeId)
    : offer.issuerId === proof.nodeId;
}
