import type { SendReport, WalletNode } from '../../nodes/node.ts';
import type { Spend } from '../../store/ports.ts';

/** What a repeat must send again, beside the payment itself: the plan of the spend's row, as JSON. */
export interface StoredSpontaneous {
  readonly nodePk: string;
  readonly preimage: string;
  readonly maxFeeMsat: string;
}

/**
 * Asks the node again for a payment without an invoice, which it makes once for its hash (docs/decisions.md 114). Null
 * for every other spend.
 */
export async function repeatSpontaneous(
  node: WalletNode,
  { payment, plan }: Pick<Spend, 'payment' | 'plan'>,
): Promise<SendReport | null> {
  if (payment.rail !== 'spontaneous' || plan === null || !node.spontaneous) return null;
  const { nodePk, preimage, maxFeeMsat } = JSON.parse(plan) as StoredSpontaneous;
  const { index, createdAtMs, amountMsat, message, personalNote } = payment;
  return node.spontaneous.pay({
    index,
    createdAtMs,
    nodePk,
    preimage,
    amountMsat: amountMsat ?? 0n,
    maxFeeMsat: BigInt(maxFeeMsat),
    message,
    personalNote,
  });
}
