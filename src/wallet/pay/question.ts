import { decodeInvoice } from '../../codecs/bolt12/index.ts';
import type { SendQuestion, SignedSend } from '../../nodes/node.ts';
import type { Spend } from '../../store/ports.ts';

/** What the node is asked about a spend whose request may have left, from the row of the spend. */
export function questionOf(spend: Spend): SendQuestion {
  const { payment, afterAttempt, attempt, plan, fetchedInvoice } = spend;
  return {
    payment,
    afterAttempt,
    attempt,
    signed: payment.rail === 'onchain' && plan !== null ? (JSON.parse(plan) as SignedSend) : null,
    fetched: fetchedInvoice === null ? null : decodeInvoice(fetchedInvoice),
  };
}
