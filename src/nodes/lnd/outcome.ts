import { decodeBolt11 } from '../../codecs/bolt11/index.ts';
import type { Payment } from '../../model/payment.ts';
import type { SendOutcome, SendQuestion } from '../node.ts';
import { asBegun } from '../remote/as-begun.ts';
import { publishedSend } from '../remote/onchain-send.ts';
import { spentOutpoints } from '../remote/psbt.ts';
import { standing, withSendLabels } from './fee-bump.ts';
import { sentObservation } from './onchain.ts';
import { paymentsAfter, trackedPayment } from './payments.ts';
import { isDecided, labelOf, rivalOf } from './replaced.ts';
import type { LndRest } from './rest.ts';
import { listedTransactions } from './transactions.ts';
import { outboundObservation } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { infoShape, type LndPayment } from './wire.ts';

/**
 * LND does not pay an expired invoice. This much later by its chain, no request on its way can be accepted any more
 * (docs/decisions.md 37).
 */
const AFTER_EXPIRY_MS = 10 * 60_000;

const UNKNOWN: SendOutcome = { state: 'unknown' };

/** Finds out what became of a send; see `WalletNode.sendOutcome`. */
export async function sendOutcome(
  owner: LndRest,
  wallet: LndWallet,
  question: SendQuestion,
): Promise<SendOutcome> {
  return question.payment.rail === 'onchain'
    ? onchainOutcome(owner, wallet, question)
    : lightningOutcome(owner, wallet, question);
}

async function lightningOutcome(
  owner: LndRest,
  wallet: LndWallet,
  { payment, attempt, afterAttempt }: SendQuestion,
): Promise<SendOutcome> {
  const { hash } = payment;
  if (hash === null) return UNKNOWN;
  const isThisAttempt = (one: LndPayment) =>
    one.payment_hash === hash &&
    (attempt === null ? one.payment_index > (afterAttempt ?? 0) : one.payment_index === attempt);
  const known = (one: LndPayment): SendOutcome => ({
    state: 'known',
    ...asBegun(outboundObservation(one, wallet.clock.now()), payment),
  });
  const tracked = await trackedPayment(owner, hash);
  if (tracked && isThisAttempt(tracked)) return known(tracked);
  if (attempt !== null || !(await isLongExpired(owner, payment))) return UNKNOWN;
  // The clock was read before the list, so an attempt that is not in the list cannot be added to it later.
  for await (const page of paymentsAfter(owner, afterAttempt ?? 0)) {
    const found = page.find(isThisAttempt);
    if (found) return known(found);
  }
  return { state: 'never', reason: 'not sent' };
}

/**
 * Whether the invoice expired long ago by the time of the newest block that LND knows. No operator sets that clock, and
 * it can only be late, by as long as blocks take. A keysend never expires.
 */
async function isLongExpired(owner: LndRest, { invoice }: Payment): Promise<boolean> {
  if (invoice === null) return false;
  const { expiresAtMs } = decodeBolt11(invoice, { verifySignature: false });
  const { best_header_timestamp } = await owner.get('/v1/getinfo', infoShape);
  return best_header_timestamp * 1000 >= expiresAtMs + AFTER_EXPIRY_MS;
}

async function onchainOutcome(
  owner: LndRest,
  wallet: LndWallet,
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
