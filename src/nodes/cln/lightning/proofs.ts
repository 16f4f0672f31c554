import type { CreateProofCommand } from '../../node-groups.ts';
import { unreadable } from '../../remote/calls/broken.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { proofsShape } from '../words/wire.ts';

/** Makes a payer proof; see `NodeWholeProofs.createProof`. The node keeps the payer's key for itself. */
export async function createProof(
  rpc: ClnRpc,
  { invoice, types, note }: CreateProofCommand,
): Promise<string> {
  const params = {
    invstring: invoice.text,
    include: types,
    ...(note === null ? {} : { note }),
  };
  const { proofs } = await rpc.read('createproof', params, proofsShape);
  // The invoice was paid once, so there is one proof.
  const [proof] = proofs;
  if (proof === undefined) throw unreadable('Core Lightning', new Error('no proof'), false);
  return proof.bolt12;
}
