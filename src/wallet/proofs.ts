import { hex } from '@scure/base';
import { decodeInvoice } from '../codecs/bolt12/index.ts';
import { createPayerProof, isDisclosableType } from '../codecs/payer-proof/index.ts';
import { refused, rejected } from '../model/errors.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import { nodeGroup, type Session } from './session.ts';
import { paymentNotFound } from './wait.ts';

/** A payer proof to create. */
export interface ProofRequest {
  readonly index: PaymentIndex;
  /** TLV types to disclose if the invoice has them. */
  readonly types: readonly number[];
  /** TLV types that must be disclosed, or the request fails. */
  readonly additionalTypes: readonly number[];
  readonly note: string | null;
}

/** Creates a payer proof that the wallet paid an offer (docs/decisions.md 101). Throws errors 7, 106, 107 and 110. */
export async function createProof(session: Session, request: ProofRequest): Promise<string> {
  const material = await nodeGroup(session, 'proofs').proofMaterial(request.index);
  if (material === null) {
    if ((await session.history.payment(request.index)) === null) throw paymentNotFound();
    throw refused('Only a completed outbound offer payment can be proven: check the index.');
  }
  const invoice = decodeInvoice(material.invoiceTlv);
  const present = new Set(invoice.records.map(({ type }) => type));
  for (const type of request.additionalTypes) {
    if (isDisclosableType(BigInt(type)) && present.has(BigInt(type))) continue;
    throw rejected(
      'disclosures.additional_disclosures',
      `type ${type} cannot be disclosed: the invoice has no such field, or it must stay secret`,
    );
  }
  return createPayerProof({
    invoice,
    preimage: hex.decode(material.preimage),
    payerSecretKey: material.payerSecretKey,
    disclose: { types: [...request.types, ...request.additionalTypes] },
    ...(request.note === null ? {} : { note: request.note }),
  });
}
