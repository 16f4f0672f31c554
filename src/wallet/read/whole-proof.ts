import { readOr } from '../../codecs/codec-error.ts';
import {
  alwaysDisclosedTypes,
  type PayerProof,
  verifyPayerProof,
} from '../../codecs/payer-proof/index.ts';
import { ApiError } from '../../model/errors.ts';
import type { CreateProofCommand } from '../../nodes/node.ts';

/** What a proof that a node made must be. */
interface ProofTerms extends CreateProofCommand {
  /** The kind of node, for messages. */
  readonly node: string;
}

/**
 * Checks a payer proof that the node made, and returns its canonical text (docs/decisions.md 101). Throws `unreadable`
 * when it does not prove the payment of the invoice, and `unsupported` (error 110) when it shows other fields than
 * asked for, or another note.
 */
export function checkedWholeProof(text: string, terms: ProofTerms): string {
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
