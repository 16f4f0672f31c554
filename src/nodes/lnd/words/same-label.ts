import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { Payment } from '../../../model/payment.ts';
import { byStanding, labelOf } from './replaced.ts';
import { sendLabel } from './translate.ts';
import type { LndTransaction } from './wire.ts';

/**
 * LND's labels are not unique: two sidecars that do not share a store can send for one client_payment_id at once. Only
 * transactions that share a coin are one payment, since only one of them can confirm (docs/decisions.md 153).
 */

/** An on-chain send and the outpoints that its transaction spends. */
export interface BumpableSend {
  readonly payment: Pick<Payment, 'index' | 'address' | 'amountMsat'>;
  readonly txid: string;
  readonly outpoints: readonly string[];
}

/** Transactions that are one payment: each shares a coin with another. */
type Strand = readonly LndTransaction[];

/**
 * Returns, of the transactions with one label, the one of each payment that stands, each under a label of its own.
 * Pure. A payment of `sends` keeps its label. Another keeps the label of its transaction where no other has it; else
 * its id is that of its oldest transaction. Where several payments share a label, one that `wasTold` and is not in
 * `sends` is left out: it is over, under a name that is not known here.
 */
export function paymentsOfLabel(
  listed: Strand,
  sends: readonly BumpableSend[],
  wasTold: (transaction: LndTransaction) => boolean,
): LndTransaction[] {
  const [label] = listed.map((one) => one.label);
  const strands = strandsOf(listed);
  const ofLabel = sends.filter(({ payment }) => labelOf(payment) === label);
  const others = sends.filter((one) => !ofLabel.includes(one));
  const named = strands.map((strand) => ({
    strand,
    send:
      ofLabel.find((one) => hasTransactionOf(strand, one) || spendsCoinOf(strand, one)) ??
      others.find((one) => hasTransactionOf(strand, one) || isBumpOfNamed(strand, one)),
  }));
  const told = strands.filter((strand) => strands.length > 1 && strand.some(wasTold));
  let isTaken = told.length > 0 || ofLabel.length > 0;
  return named.flatMap(({ strand, send }) => {
    const [stands] = strand.toSorted(byStanding);
    const [oldest] = strand;
    if (stands === undefined || oldest === undefined) return [];
    if (send) return [{ ...stands, label: labelOf(send.payment) }];
    if (told.includes(strand)) return [];
    if (isTaken) return [{ ...stands, label: sendLabel(oldest.tx_hash) }];
    isTaken = true;
    return [stands];
  });
}

/** The payments among the transactions, the one with the oldest transaction first. */
function strandsOf(listed: Strand): Strand[] {
  let strands: LndTransaction[][] = [];
  for (const transaction of listed.toSorted(byAge)) {
    const coins = coinsOf(transaction);
    const linked = strands.filter((strand) =>
      strand.some((one) => coinsOf(one).some((coin) => coins.includes(coin))),
    );
    strands = strands.filter((strand) => !linked.includes(strand));
    strands.push([...linked.flat(), transaction].toSorted(byAge));
  }
  return strands.toSorted(([a], [b]) => (a && b ? byAge(a, b) : 0));
}

function hasTransactionOf(strand: Strand, { txid }: BumpableSend): boolean {
  return strand.some(({ tx_hash }) => tx_hash === txid);
}

function spendsCoinOf(strand: Strand, { outpoints }: BumpableSend): boolean {
  return strand.some((one) => coinsOf(one).some((coin) => outpoints.includes(coin)));
}

/**
 * Whether it bumps a send of another label, which can only be one that was told by its txid. Every other transaction
 * that has a label of its own and spends the coins of a send is a payment of its own, and the send's rival.
 */
function isBumpOfNamed(strand: Strand, send: BumpableSend): boolean {
  const isNamedByTxid = labelOf(send.payment) === sendLabel(send.txid);
  return isNamedByTxid && spendsCoinOf(strand, send) && strand.some((one) => pays(one, send));
}

/** Whether the transaction pays the receiver of the send as much as the send. */
export function pays(
  { output_details }: LndTransaction,
  { payment: { address, amountMsat } }: Pick<BumpableSend, 'payment'>,
): boolean {
  if (address === null || amountMsat === null) return false;
  return output_details.some(
    (output) =>
      output.address.toLowerCase() === address.toLowerCase() &&
      output.amount * MSAT_PER_SAT >= amountMsat,
  );
}

function coinsOf({ previous_outpoints }: LndTransaction): string[] {
  return previous_outpoints.map(({ outpoint }) => outpoint);
}

function byAge(a: LndTransaction, b: LndTransaction): number {
  return a.time_stamp - b.time_stamp || (a.tx_hash < b.tx_hash ? -1 : 1);
}
