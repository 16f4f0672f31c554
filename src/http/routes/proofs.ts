import { z } from 'zod';
import { checkedProofJson, checkPayerProof } from '../../model/payer-proof.ts';
import { paymentIndexInput } from '../../model/payment-index.ts';
import { noteInput } from '../../model/text.ts';
import { createProof } from '../../wallet/proofs.ts';
import { route } from '../route.ts';
import { examplePayment } from './examples.ts';

/** The members of `disclosures` with their default and BOLT 12 TLV type (contract, create_payer_proof). */
const DISCLOSURES = {
  offer_description: { type: 10, shown: true },
  offer_issuer: { type: 18, shown: false },
  invreq_payer_note: { type: 89, shown: true },
  invoice_amount: { type: 170, shown: true },
  invoice_created_at: { type: 164, shown: true },
} as const;
type Disclosure = keyof typeof DISCLOSURES;

const choice = z.boolean().optional();
const disclosuresInput = z.object({
  offer_description: choice.meta({ description: 'Offer description (10); default true.' }),
  offer_issuer: choice.meta({ description: "Payee's self-reported name (18); default false." }),
  invreq_payer_note: choice.meta({ description: "Payer's message (89); default true." }),
  invoice_amount: choice.meta({ description: 'Invoice amount (170); default true.' }),
  invoice_created_at: choice.meta({ description: 'Invoice creation time (164); default true.' }),
  additional_disclosures: z
    .array(z.int().min(0))
    .max(100)
    .optional()
    .meta({ description: 'Raw TLV types; the request fails if one cannot be disclosed.' }),
});

const exampleProof = `lnp1${'q'.repeat(40)}`;

/** Proofs of payment. */
export const proofRoutes = [
  route({
    method: 'post',
    path: '/v2/node/create_payer_proof',
    group: 'proofs',
    access: 'create_payer_proof',
    summary: 'Prove that the wallet paid an offer',
    description:
      'A proof always carries the payer id, payment hash, payee node id, signature and invoice features.',
    body: z.object({
      index: paymentIndexInput.meta({ description: 'A completed outbound offer payment.' }),
      disclosures: disclosuresInput.optional(),
      proof_note: noteInput
        .optional()
        .meta({ description: 'Bound to the proof, readable by anyone shown it.' }),
    }),
    response: z.object({ proof: z.string().startsWith('lnp1') }),
    errors: ['refused', 'notFound', 'unsupported', 'unreachable', 'unreadable'],
    example: { body: { index: examplePayment.index }, response: { proof: exampleProof } },
    handler: async ({ session }, { body }) => ({
      proof: await createProof(session, {
        index: body.index,
        types: chosenTypes(body.disclosures ?? {}),
        additionalTypes: body.disclosures?.additional_disclosures ?? [],
        note: body.proof_note ?? null,
      }),
    }),
  }),
  route({
    method: 'post',
    path: '/v2/node/verify_payer_proof',
    group: 'proofs',
    access: 'public',
    summary: 'Check a payer proof and show what it discloses',
    description:
      'A valid proof may still concern another payment: compare payee, amount and note with what you expect.',
    addition: true,
    body: z.object({ proof: z.string().min(1).max(100_000) }),
    response: checkedProofJson,
    example: {
      body: { proof: exampleProof },
      response: { valid: false, reason: 'The payer proof cannot be used.' },
    },
    handler: async (_context, { body }) => checkPayerProof(body.proof),
  }),
];

function chosenTypes(disclosures: Partial<Record<Disclosure, boolean | undefined>>): number[] {
  return (Object.keys(DISCLOSURES) as Disclosure[])
    .filter((name) => disclosures[name] ?? DISCLOSURES[name].shown)
    .map((name) => DISCLOSURES[name].type);
}
