import { base64, hex } from '@scure/base';
import { ApiError } from '../../../model/errors.ts';
import { labelOf } from '../words/replaced.ts';
import { type BumpableSend, paymentsOfLabel, pays } from '../words/same-label.ts';
import { isSendLabel, sendLabel } from '../words/translate.ts';
import { anyShape, type LndTransaction } from '../words/wire.ts';
import type { LndRest } from './rest.ts';

/**
 * A fee bump is the same payment (docs/decisions.md 39): another transaction that spends a coin of the send and pays
 * its receiver as much. LND's own `bumpfee` adds a child transaction and changes nothing here; a replacement is made
 * with other tools, and may lack the label by which the send is known.
 */

/** Labels that say nothing: none, and the one that LND puts on what it is given to publish without a label. */
const NO_LABEL: ReadonlySet<string> = new Set(['', 'external']);

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

function isBumpOf(transaction: LndTransaction, send: BumpableSend) {
  const { payment, txid, outpoints } = send;
  if (payment.address === null || payment.amountMsat === null) return false;
  if (isSendLabel(transaction.label)) return false;
  // A send that was made without the sidecar has no label, and its transaction's id in the label's place.
  if (labelOf(payment) === sendLabel(transaction.tx_hash)) return false;
  // After the first look the payment's own transaction is the bump.
  if (transaction.tx_hash === txid) return true;
  return (
    transaction.previous_outpoints.some(({ outpoint }) => outpoints.includes(outpoint)) &&
    pays(transaction, send)
  );
}

/**
 * Returns, of several transactions of one send, only the one that stands. Sends of one label that share no coin are
 * told apart by the sends that are known; see {@link paymentsOfLabel}.
 */
export function standing(
  listed: readonly LndTransaction[],
  sends: readonly BumpableSend[] = [],
  wasTold: (transaction: LndTransaction) => boolean = () => false,
): LndTransaction[] {
  const byLabel = Map.groupBy(
    listed.filter(({ label }) => isSendLabel(label)),
    ({ label }) => label,
  );
  const stands = new Map(
    [...byLabel.values()]
      .flatMap((group) => paymentsOfLabel(group, sends, wasTold))
      .map((one) => [one.tx_hash, one] as const),
  );
  return listed.flatMap((one) => (isSendLabel(one.label) ? (stands.get(one.tx_hash) ?? []) : one));
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
