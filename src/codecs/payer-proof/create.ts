import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import {
  type Bolt12Invoice,
  encodeBolt12String,
  INVOICE_FIELDS,
  invalidDocument,
  merkleRoot,
  signRoot,
  writeFields,
} from '../bolt12/index.ts';
import { encodeTlvStream } from '../tlv.ts';
import { discloseRecords } from './disclosure.ts';
import { isDisclosableType, PAYER_PROOF_FIELDS, PROOF_SIGNATURE } from './fields.ts';

/** The values that a payer proof is made from. */
export interface PayerProofParts {
  readonly invoice: Bolt12Invoice;
  /** The 32 bytes that the payment of the invoice revealed. */
  readonly preimage: Uint8Array;
  /** 32-byte secret key of the invoice's `invreq_payer_id`. */
  readonly payerSecretKey: Uint8Array;
  readonly disclose: {
    /** TLV types to disclose besides those of every proof; a type that the invoice does not have is left out. */
    readonly types: readonly (number | bigint)[];
  };
  /** A signed text that every reader of the proof sees, such as a verifier's challenge. */
  readonly note?: string;
  /** Fresh random bytes for the signature, see `Signer`. */
  readonly auxRand?: Uint8Array;
}

/** The fields that every proof discloses if the invoice has them. */
const ALWAYS_DISCLOSED = [
  INVOICE_FIELDS.invreqPayerId,
  INVOICE_FIELDS.invoicePaymentHash,
  INVOICE_FIELDS.invoiceFeatures,
  INVOICE_FIELDS.invoiceNodeId,
].map(({ type }) => type);

/** The types of the fields that every proof of the invoice discloses. */
export function alwaysDisclosedTypes({ records }: Bolt12Invoice): bigint[] {
  return records.map(({ type }) => type).filter((type) => ALWAYS_DISCLOSED.includes(type));
}

const invalid: Invalid = invalidDocument('payer-proof', 'payer proof', 'change its values');

/**
 * Writes a payer proof (`lnp1...`). It proves that the invoice was paid by the holder of its payer key, and discloses
 * the requested fields. Throws `CodecError('payer-proof')` when the preimage or the key does not belong to the invoice,
 * and when a type can never be disclosed (`isDisclosableType`).
 */
export function createPayerProof(parts: PayerProofParts): string {
  const { invoice, preimage, payerSecretKey, note } = parts;
  const chosen = parts.disclose.types.map(disclosableType);
  const shown = new Set([...ALWAYS_DISCLOSED, ...chosen]);
  if (hex.encode(sha256(preimage)) !== invoice.paymentHash) {
    invalid('the preimage does not belong to the payment hash of the invoice');
  }
  if (hex.encode(secp256k1.getPublicKey(payerSecretKey, true)) !== invoice.payerId) {
    invalid('the key does not belong to the payer id of the invoice');
  }
  const [metadata, ...records] = invoice.records;
  if (metadata?.type !== 0n) return invalid('the invoice has no invreq_metadata');
  const disclosure = discloseRecords([metadata, ...records], (type) => shown.has(type));

  const unsigned = writeFields(
    PAYER_PROOF_FIELDS,
    {
      signature: invoice.signature,
      proofPreimage: hex.encode(preimage),
      proofOmittedTlvs: disclosure.markers.length === 0 ? null : disclosure.markers,
      proofMissingHashes: disclosure.missingHashes,
      proofLeafHashes: disclosure.leafHashes,
      proofNote: note === '' ? null : (note ?? null),
    },
    disclosure.disclosed,
    invalid,
  );
  const root = merkleRoot(unsigned) ?? invalid('it is empty');
  const proofSignature = signRoot(PROOF_SIGNATURE, root, {
    secretKey: payerSecretKey,
    auxRand: parts.auxRand,
  });
  const proof = writeFields(PAYER_PROOF_FIELDS, { proofSignature }, unsigned, invalid);
  return encodeBolt12String('lnp', encodeTlvStream(proof));
}

function disclosableType(type: number | bigint): bigint {
  if (!Number.isSafeInteger(Number(type)) || !isDisclosableType(BigInt(type))) {
    invalid(`field ${type} can never be disclosed`);
  }
  return BigInt(type);
}
