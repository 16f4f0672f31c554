import { hex } from '@scure/base';
import { type Bolt12Invoice, decodeInvoice } from '../../codecs/bolt12/index.ts';
import { readOr } from '../../codecs/codec-error.ts';
import {
  alwaysDisclosedTypes,
  createPayerProof,
  isDisclosableType,
  type PayerProof,
  verifyPayerProof,
} from '../../codecs/payer-proof/index.ts';
import { ApiError, refused, rejected } from '../../model/errors.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { CreateProofCommand, NodeProofMaterial, NodeWholeProofs } from '../../nodes/node.ts';
import { paymentNotFound } from '../session/own-payments.ts';
import { maySee } from '../session/paid-by-another.ts';
import { nodeGroup, type Onlooker, type Reader, type WithHistory } from '../session/session.ts';

/** A payer proof to create. */
export interface ProofRequest {
  readonly index: PaymentIndex;
  /** TLV types to disclose if the invoice has them. */
  readonly types: readonly number[];
  /** TLV types that must be disclosed, or the request fails. */
  readonly additionalTypes: readonly number[];
  readonly note: string | null;
}

/**
 * Creates a payer proof that the wallet paid an offer (docs/decisions.md 101). Throws errors 7, 106, 107 and 110. What
 * the caller may not see is not there for it (docs/decisions.md 175).
 */
export async function createProof(
  session: Onlooker & Reader,
  request: ProofRequest,
): Promise<string> {
  const proofs = nodeGroup(session, 'proofs');
  if (!(await maySee(session, request.index))) throw paymentNotFound();
  return proofs.kind === 'material'
    ? fromMaterial(session, proofs, request)
    : madeByNode(session, proofs, request);
}

async function fromMaterial(
  { history }: WithHistory,
  proofs: NodeProofMaterial,
  request: ProofRequest,
): Promise<string> {
  const material = await proofs.proofMaterial(request.index);
  if (material === null) {
    if ((await history.payment(request.index)) === null) throw paymentNotFound();
    throw unprovable();
  }
  const invoice = decodeInvoice(material.invoiceTlv);
  return createPayerProof({
    invoice,
    preimage: hex.decode(material.preimage),
    payerSecretKey: material.payerSecretKey,
    disclose: { types: chosenTypes(invoice, request) },
    ...(request.note === null ? {} : { note: request.note }),
  });
}

async function madeByNode(
  session: Reader,
  proofs: NodeWholeProofs,
  request: ProofRequest,
): Promise<string> {
  const { index, note } = request;
  const payment = await session.history.payment(index);
  if (payment === null) throw paymentNotFound();
  const { rail, direction, status } = payment;
  if (rail !== 'offer' || direction !== 'outbound' || status !== 'completed') throw unprovable();
  const text = await session.store.spends.fetchedInvoice(session.userPk, index);
  if (text === null) {
    throw refused(
      'The invoice of this payment is not stored here, so it cannot be proven: only offers that were paid through this sidecar can.',
    );
  }
  const invoice = decodeInvoice(text);
  const types = chosenTypes(invoice, request);
  const { kind } = session.node.descriptor;
  return checkedWholeProof(await proofs.createProof({ invoice, types, note }), {
    invoice,
    types,
    note,
    node: kind,
  });
}

/** The types to show that the invoice has. Throws error 7 for an additional one that cannot be shown. */
function chosenTypes(
  { records }: Bolt12Invoice,
  { types, additionalTypes }: ProofRequest,
): number[] {
  const present = new Set(records.map(({ type }) => type));
  for (const type of additionalTypes) {
    if (isDisclosableType(BigInt(type)) && present.has(BigInt(type))) continue;
    throw rejected(
      'disclosures.additional_disclosures',
      `type ${type} cannot be disclosed: the invoice has no such field, or it must stay secret`,
    );
  }
  return [...new Set([...types, ...additionalTypes])].filter((type) => present.has(BigInt(type)));
}

function unprovable(): ApiError {
  return refused('Only a completed outbound offer payment can be proven: check the index.');
}

interface ProofTerms extends CreateProofCommand {
  readonly node: string;
}

/**
 * Checks a payer proof that the node made, and returns its canonical text (docs/decisions.md 101). Throws `unreadable`
 * when it does not prove the payment of the invoice, and `unsupported` (error 110) when it shows other fields than
 * asked for, or another note.
 */
function checkedWholeProof(text: string, terms: ProofTerms): string {
  const { invoice, types, note, node } = terms;
  const proof = readOr(
    () => verifyPayerProof(text),
    (error): PayerProof => {
      throw new ApiError(
        'unreadable',
        `The node made a payer proof that is not valid: ${error.message}`,
        { cause: error },
      );
    },
  );
  if (proof.invoiceRoot !== invoice.invoiceRoot) {
    throw new ApiError('unreadable', 'The node made a payer proof of another payment: try again.');
  }
  const unsupported = (problem: string) =>
    new ApiError(
      'unsupported',
      `This wallet's node (${node}) makes its payer proofs itself, and ${problem}.`,
      {
        data: { node },
      },
    );
  const wanted = new Set([...alwaysDisclosedTypes(invoice), ...types.map(BigInt)]);
  const shown = new Set(proof.disclosedTypes);
  const missing = [...wanted.difference(shown)];
  if (missing.length > 0) {
    throw unsupported(`this one does not show type ${missing.join(', ')} of the invoice`);
  }
  const further = [...shown.difference(wanted)];
  if (further.length > 0) {
    throw unsupported(
      `this one would also show type ${further.join(', ')} of the invoice: ask for that too, if it may be shown`,
    );
  }
  if ((proof.note ?? '') !== (note ?? '')) throw unsupported('this one holds another note');
  return proof.text;
}
