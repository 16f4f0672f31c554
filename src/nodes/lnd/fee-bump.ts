import { base64, hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { ApiError } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import { byStanding, labelOf } from './replaced.ts';
import type { LndRest } from './rest.ts';
import { isSendLabel, sendLabel } from './translate.ts';
import { anyShape, type LndTransaction } from './wire.ts';

/**
 * A fee bump is the same payment (docs/decisions.md 39): another transaction that spends a coin of the send and pays
 * its receiver as much. LND's own `bumpfee` adds a child transaction and changes nothing here; a replacement is made
 * with other tools, and may lack the label by which the send is known.
 */

/** Labels that say nothing: none, and the one that LND puts on what it is given to publish without a label. */
const NO_LABEL: ReadonlySet<string> = new Set(['', 'external']);

/** An on-chain send and the outpoints that its transaction spends. */
export interface BumpableSend {
  readonly payment: Pick<Payment, 'index' | 'address' | 'amountMsat'>;
  readonly txid: string;
  readonly outpoints: readonly string[];
}

/** Returns the transactions with the label of the send that each of them bumps, where they lack it. */
export function withSendLabels(
  listed: readonly LndTransaction[],
  sends: readonly BumpableSend[],
): LndTransaction[] {
  return listed.map((transaction) => {
    const bumped = sends.find((send) => isBumpOf(transaction, send));
    return bumped ? { ...transaction, label: labelOf(bumped.payment) } : transaction;
  });
}

function isBumpOf(transaction: LndTransaction, { payment, txid, outpoints }: BumpableSend) {
  const { address, amountMsat } = payment;
  if (address === null || amountMsat === null || isSendLabel(transaction.label)) return false;
  // A send that was made without the sidecar has no label, and its transaction's id in the label's place.
  if (labelOf(payment) === sendLabel(transaction.tx_hash)) return false;
  // After the first look the payment's own transaction is the bump.
  if (transaction.tx_hash === txid) return true;
  return (
    transaction.previous_outpoints.some(({ outpoint }) => outpoints.includes(outpoint)) &&
    transaction.output_details.some(
      (output) =>
        output.address.toLowerCase() === address.toLowerCase() &&
        output.amount * MSAT_PER_SAT >= amountMsat,
    )
  );
}

/** Returns, of several transactions with the label of one send, only the one that stands. */
export function standing(listed: readonly LndTransaction[]): LndTransaction[] {
  const best = new Map<string, LndTransaction>();
  for (const transaction of listed) {
    const other = best.get(transaction.label);
    if (!other || byStanding(transaction, other) < 0) best.set(transaction.label, transaction);
  }
  return listed.filter((one) => !isSendLabel(one.label) || best.get(one.label) === one);
}

/**
 * Puts the send's label on the bumps that have none at LND, so that they are known when the send is over. It is tried
 * again at the next read of the list; a macaroon that may not do it leaves the label out.
 */
export async function labelBumps(
  rest: LndRest,
  listed: readonly LndTransaction[],
  labeled: readonly LndTransaction[],
): Promise<void> {
  const before = new Map(listed.map(({ tx_hash, label }) => [tx_hash, label]));
  for (const { tx_hash, label } of labeled) {
    const had = before.get(tx_hash);
    if (had === undefined || had === label || !NO_LABEL.has(had)) continue;
    const txid = base64.encode(hex.decode(tx_hash).reverse());
    const body = { txid, label, overwrite: true };
    await rest
      .post('/v2/wallet/tx/label', body, anyShape, { harmlessTwice: true })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError)) throw error;
      });
  }
}
