import { decodeBolt11 } from '../../../codecs/bolt11/index.ts';
import type { Payment } from '../../../model/payment.ts';
import type { SendOutcome, SendQuestion } from '../../node.ts';
import { isLongExpired } from '../../remote/orders/long-expired.ts';
import { publishedSend } from '../../remote/orders/onchain-send.ts';
import { spentOutpoints } from '../../remote/orders/psbt.ts';
import { asBegun } from '../../remote/orders/sends.ts';
import { everyPayment, trackedPayment } from '../lightning/payments.ts';
import { sentObservation } from '../onchain/onchain.ts';
import { standing, withSendLabels } from '../reads/fee-bump.ts';
import type { LndRest } from '../reads/rest.ts';
import { listedTransactions } from '../reads/transactions.ts';
import type { LndOwned } from '../reads/wallet.ts';
import { attemptOf, isPaymentIndex } from '../words/attempt.ts';
import { isDecided, labelOf, rivalOf } from '../words/replaced.ts';
import { outboundObservation } from '../words/translate.ts';
import { infoShape, type LndPayment } from '../words/wire.ts';

const NS_PER_MS = 1_000_000n;

const UNKNOWN: SendOutcome = { state: 'unknown' };

/** Finds out what became of a send; see `WalletNode.sendOutcome`. */
export async function sendOutcome(node: LndOwned, question: SendQuestion): Promise<SendOutcome> {
  return question.payment.rail === 'onchain'
    ? onchainOutcome(node, question)
    : lightningOutcome(node, question);
}

async function lightningOutcome(node: LndOwned, question: SendQuestion): Promise<SendOutcome> {
  const { payment, attempt } = question;
  const { hash } = payment;
  if (hash === null) return UNKNOWN;
  const outcomeBy = (present: LndPayment): SendOutcome | null => {
    const seen = outboundObservation(present, node.wallet.clock.now());
    if (mayBeAsked(present, question)) {
      return { state: 'known', ...asBegun(seen, payment) };
    }
    return seen.payment.status === 'completed' ? { state: 'taken', ...seen } : null;
  };
  const present = await trackedPayment(node.owner, hash);
  const outcome = present && outcomeBy(present);
  if (outcome) return outcome;
  if (attempt !== null || !(await cannotBegin(node.owner, payment))) return UNKNOWN;
  // The clock was read before the list, so an attempt that is not in the list cannot be added to it later.
  for await (const page of everyPayment(node.owner)) {
    const found = page.find(({ payment_hash }) => payment_hash === hash);
    const told = found && outcomeBy(found);
    if (told) return told;
  }
  return { state: 'never', reason: 'not sent' };
}

/**
 * Whether the attempt that LND has may be the one that is asked about. LND keeps the newest attempt of a hash, so one
 * that is not the one from before the send is later, also where LND's clock was set back. One over another amount was
 * made by another program.
 */
function mayBeAsked(
  present: LndPayment,
  { payment, attempt, afterAttempt }: SendQuestion,
): boolean {
  if (payment.amountMsat !== null && present.value_msat !== payment.amountMsat) return false;
  // What version 0.2 stored cannot be compared for certain: LND may have numbered its payments anew since.
  if (attempt !== null) return isPaymentIndex(attempt) || attemptOf(present) === attempt;
  if (afterAttempt === null || afterAttempt === 0) return true;
  if (!isPaymentIndex(afterAttempt)) return attemptOf(present) !== afterAttempt;
  const createdAtMs = Number(present.creation_time_ns / NS_PER_MS);
  return present.payment_index > afterAttempt || createdAtMs >= payment.createdAtMs;
}

/**
 * Whether the invoice expired long ago by the time of the newest block that LND knows. No operator sets that clock, and
 * it can only be late, by as long as blocks take. A keysend never expires.
 */
async function cannotBegin(owner: LndRest, { invoice }: Payment): Promise<boolean> {
  if (invoice === null) return false;
  const { expiresAtMs } = decodeBolt11(invoice, { verifySignature: false });
  const { best_header_timestamp } = await owner.get('/v1/getinfo', infoShape);
  return isLongExpired(expiresAtMs, best_header_timestamp * 1000);
}

async function onchainOutcome(
  { owner, wallet }: LndOwned,
  { payment, signed }: SendQuestion,
): Promise<SendOutcome> {
  const label = labelOf(payment);
  const outpoints = signed ? spentOutpoints(signed.txHex) : [];
  const bumpable = signed ? [{ payment, txid: signed.txid, outpoints }] : [];
  const listed = standing(withSendLabels(await listedTransactions(owner), bumpable), bumpable);
  const sent =
    listed.find((one) => one.label === label) ??
    listed.find(({ tx_hash }) => tx_hash === signed?.txid);
  if (signed) {
    const rival = rivalOf({ label, txid: signed.txid, outpoints }, listed);
    if (rival && isDecided(rival)) return { state: 'never', reason: 'replaced' };
    if (rival) {
      // The transaction stays in the payment, because the feed needs it to follow the two rival transactions.
      const published = publishedSend(payment, signed).payment;
      const replaced = { ...published, replacement: rival.tx_hash };
      return { state: 'known', payment: replaced, attempt: null };
    }
  }
  if (sent === undefined) return UNKNOWN;
  return { state: 'known', ...sentObservation(sent, payment, wallet.clock.now()) };
}
