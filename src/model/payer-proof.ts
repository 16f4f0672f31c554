import { z } from 'zod';
import { readOr } from '../codecs/codec-error.ts';
import { verifyPayerProof } from '../codecs/payer-proof/index.ts';
import { once } from '../lib/once.ts';
import { amountOutput, formatNullableAmountMsat } from './amount.ts';
import { hexOutput, timestamp } from './text.ts';

/** The result of checking a payer proof, in an answer (docs/decisions.md 101). */
export const checkedProofJson = once(() =>
  z
    .discriminatedUnion('valid', [
      z.object({
        valid: z.literal(true).describe('Whether the proof is valid.'),
        payer_id: hexOutput(33).describe('Key that the payer signed with.'),
        payee_node_id: hexOutput(33).describe('Key that signed the invoice.'),
        payment_hash: hexOutput(32).describe('Hash of the payment.'),
        preimage: hexOutput(32).describe('Preimage of the hash, which payment reveals.'),
        proof_note: z.string().nullable().describe('Note bound to the proof.'),
        invoice_amount: amountOutput()
          .nullable()
          .describe('Amount of the invoice in sats; null when withheld.'),
        invoice_created_at: timestamp()
          .nullable()
          .describe('When the invoice was made, in milliseconds; null when withheld.'),
        offer_description: z
          .string()
          .nullable()
          .describe('Description of the offer; null when withheld.'),
        offer_issuer: z
          .string()
          .nullable()
          .describe('Name that the payee gives itself; null when withheld.'),
        invreq_payer_note: z
          .string()
          .nullable()
          .describe("The payer's message; null when withheld."),
        disclosed_types: z.array(z.int()).describe('TLV types of the invoice shown.'),
      }),
      z.object({
        valid: z.literal(false).describe('Whether the proof is valid.'),
        reason: z.string().describe('Why it is not valid.'),
      }),
    ])
    .meta({ id: 'CheckedProof', description: 'What a payer proof shows, or why it is not valid.' }),
);
type CheckedProofJson = z.infer<ReturnType<typeof checkedProofJson>>;

/**
 * Checks a payer proof (docs/decisions.md 101). Returns what it discloses, or why it is not valid. A field is null when
 * the proof withholds it or the invoice did not have it.
 */
export function checkPayerProof(text: string): CheckedProofJson {
  return readOr<CheckedProofJson, CheckedProofJson>(
    () => disclosedBy(verifyPayerProof(text)),
    ({ message }) => ({ valid: false, reason: message }),
  );
}

function disclosedBy(proof: ReturnType<typeof verifyPayerProof>): CheckedProofJson {
  return {
    valid: true,
    payer_id: proof.payerId,
    payee_node_id: proof.nodeId,
    payment_hash: proof.paymentHash,
    preimage: proof.preimage,
    proof_note: proof.note,
    invoice_amount: formatNullableAmountMsat(proof.amountMsat),
    invoice_created_at: proof.createdAtSecs === null ? null : proof.createdAtSecs * 1000,
    offer_description: proof.description,
    offer_issuer: proof.issuer,
    invreq_payer_note: proof.payerNote,
    disclosed_types: proof.disclosedTypes.map(Number),
  };
}
