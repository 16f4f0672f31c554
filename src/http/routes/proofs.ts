import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { checkedProofJson, checkPayerProof } from '../../model/payer-proof.ts';
import { paymentIndexInput } from '../../model/payment-index.ts';
import { noteInput } from '../../model/text.ts';
import { createProof } from '../../wallet/read/proofs.ts';
import { exampleCheckedProof, exampleOfferPayment, exampleProof } from '../examples.ts';
import { post } from '../route.ts';

/** The members of `disclosures`, with default and BOLT 12 TLV type. */
const DISCLOSURES = {
  offer_description: { type: 10, shown: true },
  offer_issuer: { type: 18, shown: false },
  invreq_payer_note: { type: 89, shown: true },
  invoice_amount: { type: 170, shown: true },
  invoice_created_at: { type: 164, shown: true },
} as const;
type Disclosure = keyof typeof DISCLOSURES;

/** A longer proof does not fit the body of a public route (docs/decisions.md 161). */
const MOST_PROOF_CHARACTERS = 16_000;

const disclosuresInput = once(() =>
  z.object({
    offer_description: choice('offer_description', 'the description of the offer'),
    offer_issuer: choice('offer_issuer', 'the name that the payee gives itself'),
    invreq_payer_note: choice('invreq_payer_note', "the payer's message"),
    invoice_amount: choice('invoice_amount', 'the amount of the invoice'),
    invoice_created_at: choice('invoice_created_at', 'when the invoice was created'),
    additional_disclosures: z
      .array(z.int().min(0))
      .max(100)
      .optional()
      .describe('Further TLV types to show; if one cannot be shown, the request fails.'),
  }),
);

function choice(name: Disclosure, what: string) {
  const { type, shown } = DISCLOSURES[name];
  const description = `Show ${what} (TLV type ${type}).`;
  return z.boolean().optional().meta({ description, default: shown });
}

/** Routes that create and verify payer proofs. */
export const proofRoutes = [
  post('/v2/node/create_payer_proof', 'proofs', {
    access: 'create_payer_proof',
    specified: true,
    summary: 'Prove that the wallet paid an offer',
    description:
      'A proof always shows the payer id, payment hash, payee node id, signature and the features of the invoice.',
    body: () => ({
      index: paymentIndexInput().meta({
        description: 'Index of a completed outbound offer payment.',
        examples: [exampleOfferPayment.index],
      }),
      disclosures: disclosuresInput().optional().describe('Which fields of the invoice to show.'),
      proof_note: noteInput().optional().describe('Note in the proof, for all who see it.'),
    }),
    response: () => ({
      proof: z.string().regex(/^lnp1/).describe('The proof.'),
    }),
    errors: ['notFound', 'unsupported'],
    example: {
      body: { index: exampleOfferPayment.index, proof_note: 'For order 17' },
      response: { proof: exampleProof },
    },
    handler: async ({ session }, { body }) => ({
      proof: await createProof(session, {
        index: body.index,
        types: chosenTypes(body.disclosures ?? {}),
        additionalTypes: body.disclosures?.additional_disclosures ?? [],
        note: body.proof_note ?? null,
      }),
    }),
  }),
  post('/v2/node/verify_payer_proof', 'proofs', {
    access: 'public',
    summary: 'Check a payer proof and show what it discloses',
    description:
      'A valid proof may still concern another payment: compare payee, amount and note with what you expect.',
    body: () => ({
      proof: z.string().min(1).max(MOST_PROOF_CHARACTERS).describe('The proof, `lnp1...`.'),
    }),
    response: checkedProofJson,
    example: {
      body: { proof: exampleProof },
      response: exampleCheckedProof,
    },
    handler: async (_context, { body }) => checkPayerProof(body.proof),
  }),
];

function chosenTypes(disclosures: Partial<Record<Disclosure, boolean | undefined>>): number[] {
  return (Object.keys(DISCLOSURES) as Disclosure[])
    .filter((name) => disclosures[name] ?? DISCLOSURES[name].shown)
    .map((name) => DISCLOSURES[name].type);
}
