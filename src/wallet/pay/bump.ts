import { refused } from '../../model/errors.ts';
import { isFinal, type Payment, type Priority } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { lesserMsat } from '../budget/budget.ts';
import { leftToOwner } from '../budget/left-to-owner.ts';
import { withReservedFee } from '../budget/reserved-fee.ts';
import { paymentOf } from '../read/payments.ts';
import { type EffectNames, sentBefore } from '../session/effect-names.ts';
import { requireMaySee } from '../session/paid-by-another.ts';
import { approveAboveMsat, nodeGroup, type Payer } from '../session/session.ts';
import { tellingSent } from '../session/telling-sent.ts';

/** A request to raise the fee of an on-chain send that waits for its first confirmation. */
interface BumpRequest {
  readonly index: PaymentIndex;
  readonly priority: Priority;
  /** The most that raising the fee may cost, in millisatoshis; null sets no limit. */
  readonly maxFeeMsat: bigint | null;
}

/**
 * Raises the fee of an on-chain send, which stays the same payment, and returns it (docs/decisions.md 111). What that
 * costs counts in a client's budget, and is bounded before anything is signed. Throws errors 106, 107, 109 and 110,
 * with `data.sent`.
 */
export function bumpFee(
  session: Payer,
  { index, priority, maxFeeMsat }: BumpRequest,
  names: EffectNames,
): Promise<Payment> {
  const onchain = nodeGroup(session, 'onchain');
  return session.locks.run(`bump_${index}`, async () => {
    const before = sentBefore(names, 'bumping');
    const aboveMsat = approveAboveMsat(session);
    if (aboveMsat !== null && before === 'no') throw leftToOwner(aboveMsat, ofAnyBump);
    const txid = await tellingSent(before, () => bumpableTxid(session, index));
    const command = { txid, priority };
    const bound = () => onchain.bumpFeeBoundMsat(command);
    await withReservedFee(session, names, 'bumping', bound, (allowed) =>
      onchain.bumpFee({ ...command, maxFeeMsat: lesserMsat(allowed.maxFeeMsat, maxFeeMsat) }),
    );
    return tellingSent('unknown', () => paymentOf(session, index));
  });
}

/** A higher fee makes a payment cost more than was approved, and one bump follows another. */
function ofAnyBump(aboveSats: string): string {
  return `With these credentials what costs more than ${aboveSats} sats needs approval, and raising the fee of a payment`;
}

/** The transaction of a send whose fee the caller may raise. Throws `refused` (error 106) for any other payment. */
async function bumpableTxid(session: Payer, index: PaymentIndex): Promise<string> {
  const payment = await paymentOf(session, index);
  const { rail, direction, txid } = payment;
  if (rail !== 'onchain' || direction !== 'outbound' || isFinal(payment) || txid === null) {
    throw refused('Only the fee of an on-chain send that is pending can be raised.');
  }
  await requireMaySee(session, payment);
  return txid;
}
