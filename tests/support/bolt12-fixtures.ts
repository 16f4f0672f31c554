import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import {
  type Bolt12Invoice,
  createInvoice,
  createInvoiceRequest,
  decodeInvoice,
  decodeOffer,
  encodeOffer,
  INVOICE_SIGNATURE,
  type InvoicePath,
  type InvoiceRequest,
  type InvoiceRequestParts,
  isSignatureType,
  merkleRoot,
  type Offer,
  type OfferFields,
  oneHopPath,
  signRoot,
} from '../../src/codecs/bolt12/index.ts';
import { NETWORKS } from '../../src/codecs/network.ts';
import { encodeTlvStream, type TlvRecord } from '../../src/codecs/tlv.ts';

/** A 32-byte secret key of one repeated byte. */
export const secretKey = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
/** The compressed public key of `secretKey(byte)`, hex. */
export const publicKey = (byte: number): string =>
  bytesToHex(secp256k1.getPublicKey(secretKey(byte), true));

export const NODE_KEY = secretKey(0x46);
export const NODE_ID = publicKey(0x46);
export const PAYER_KEY = secretKey(0x42);
export const PREIMAGE = new Uint8Array(32).fill(1);
export const PAYMENT_HASH = bytesToHex(sha256(PREIMAGE));
export const METADATA = new Uint8Array(16).fill(7);
export const REGTEST = NETWORKS.regtest.chainHash;

/** Returns a path of one hop, with another node key for each fixture. */
export const PATH = oneHopPath({
  introductionNodeId: NODE_ID,
  pathKey: publicKey(0x44),
  hop: { blindedNodeId: publicKey(0x45), encryptedRecipientData: new Uint8Array(16) },
});

export const INVOICE_PATH: InvoicePath = {
  path: PATH,
  payInfo: {
    feeBaseMsat: 1,
    feeProportionalMillionths: 2,
    cltvExpiryDelta: 3,
    htlcMinimumMsat: 4n,
    htlcMaximumMsat: 5n,
    features: new Uint8Array(),
  },
};

export function makeOffer(fields: OfferFields = {}): Offer {
  const base: OfferFields = { chains: [REGTEST], description: 'tea', issuerId: NODE_ID };
  return decodeOffer(encodeOffer({ ...base, ...fields }));
}

export function makeRequest(
  offer: Offer,
  parts: Partial<InvoiceRequestParts> = {},
): InvoiceRequest {
  return createInvoiceRequest({
    offer,
    payerSecretKey: PAYER_KEY,
    metadata: METADATA,
    chain: REGTEST,
    ...parts,
  });
}

export function makeInvoice(
  invoiceRequest: InvoiceRequest,
  parts: Partial<Parameters<typeof createInvoice>[0]> = {},
): Bolt12Invoice {
  return createInvoice({
    invoiceRequest,
    paymentHash: PAYMENT_HASH,
    amountMsat: invoiceRequest.amountMsat ?? 1000n,
    createdAtSecs: 1_700_000_000,
    nodeSecretKey: NODE_KEY,
    paths: [INVOICE_PATH],
    ...parts,
  });
}

/** Replaces fields of a stream and keeps its order; null removes a field. */
export function patchRecords(
  records: readonly TlvRecord[],
  patch: ReadonlyMap<bigint, Uint8Array | null>,
): TlvRecord[] {
  const kept = records.filter(({ type }) => !patch.has(type));
  const added = [...patch].flatMap(([type, value]) => (value === null ? [] : [{ type, value }]));
  return [...kept, ...added].sort((a, b) => (a.type < b.type ? -1 : 1));
}

const noRefusal = (problem: string): never => {
  throw new Error(problem);
};

/** Signs a stream again, without checking it, and returns its bytes. */
export function signStream(
  records: readonly TlvRecord[],
  subject: Parameters<typeof signRoot>[0],
  key: Uint8Array,
): Uint8Array {
  const type = subject.field === 'signature' ? 240n : 241n;
  const unsigned = records.filter((record) => record.type !== type);
  const root = merkleRoot(unsigned) ?? noRefusal('no records');
  const value = hexToBytes(signRoot(subject, root, { secretKey: key }));
  return encodeTlvStream(patchRecords(unsigned, new Map([[type, value]])));
}

/** Returns an invoice of the given records with a valid signature of the node. */
export function signInvoice(records: readonly TlvRecord[]): Bolt12Invoice {
  const unsigned = records.filter(({ type }) => !isSignatureType(type));
  return decodeInvoice(signStream(unsigned, INVOICE_SIGNATURE, NODE_KEY));
}
