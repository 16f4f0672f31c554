import { decodeAddress } from '../../codecs/address.ts';
import { decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { decodeInvoice } from '../../codecs/bolt12/index.ts';
import type { SendReport, SignedSend, WalletNode } from '../../nodes/node.ts';
import type { Spend } from '../../store/ports.ts';

/** What a repeat of a Lightning payment must send again, beside the payment itself: the plan of the spend's row. */
export interface StoredTerms {
  /** In millisatoshis, as decimal text. */
  readonly maxFeeMsat: string;
}

/** {@link StoredTerms} of a payment without an invoice. */
export interface StoredSpontaneous extends StoredTerms {
  readonly nodePk: string;
  readonly preimage: string;
}

/**
 * Asks the node again for exactly what the spend was asked for, which the node makes at most once: the same
 * transaction, the same payment hash. Null where the node does not promise that, or the row does not have the terms
 * (docs/decisions.md 114, 143).
 */
export async function sendAgain(node: WalletNode, spend: Spend): Promise<SendReport | null> {
  const { payment, plan, fetchedInvoice } = spend;
  if (plan === null) return null;
  if (payment.rail === 'onchain') return publishAgain(node, spend, JSON.parse(plan) as SignedSend);
  const { index, createdAtMs, message, personalNote } = payment;
  const terms = JSON.parse(plan) as StoredTerms;
  const command = {
    index,
    createdAtMs,
    amountMsat: payment.amountMsat ?? 0n,
    maxFeeMsat: BigInt(terms.maxFeeMsat),
    message,
    personalNote,
    isRepeat: true,
  };
  if (payment.rail === 'spontaneous') {
    const { nodePk, preimage } = terms as StoredSpontaneous;
    return node.spontaneous?.pay({ ...command, nodePk, preimage }) ?? null;
  }
  if (!node.repeatsSafely) return null;
  if (fetchedInvoice !== null) {
    const invoice = decodeInvoice(fetchedInvoice);
    return node.offers?.payFetched({ ...command, invoice }) ?? null;
  }
  if (payment.invoice === null) return null;
  return node.payInvoice({ ...command, invoice: decodeBolt11(payment.invoice) });
}

async function publishAgain(
  node: WalletNode,
  { payment }: Spend,
  signed: SignedSend,
): Promise<SendReport | null> {
  if (!node.onchain) return null;
  const { index, createdAtMs, address, priority, amountMsat, personalNote } = payment;
  await node.onchain.renew(signed);
  const command = {
    index,
    createdAtMs,
    address: decodeAddress(address ?? ''),
    priority: priority ?? 'normal',
    amountMsat: amountMsat ?? 0n,
    personalNote,
    maxFeeMsat: null,
  };
  return node.onchain.publish(command, signed);
}
