import type { SendOutcome, SendQuestion } from '../../node-sends.ts';
import { isLongExpired } from '../../remote/orders/long-expired.ts';
import { publishedSend } from '../../remote/orders/onchain-send.ts';
import { otherSeen, ownSeen } from '../lightning/running-send.ts';
import { attemptsToPay, isPaid } from '../lightning/sends.ts';
import { seenSend } from '../onchain/send-seen.ts';
import { readChain } from '../reads/chain.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import { isSendListComplete } from '../reads/tips.ts';
import type { ClnOwned } from '../reads/wallet.ts';
import { LOST_BY_OTHER } from '../words/certainty.ts';
import { hasLostPart } from '../words/translate.ts';

const UNKNOWN: SendOutcome = { state: 'unknown' };

/** Finds out what became of a send; see `WalletNode.sendOutcome`. */
export async function sendOutcome(
  { owner, wallet }: ClnOwned,
  question: SendQuestion,
): Promise<SendOutcome> {
  if (question.payment.rail === 'onchain') return onchainOutcome({ owner, wallet }, question);
  const { payment } = question;
  const { hash } = payment;
  if (hash === null) return UNKNOWN;
  const label = wallet.labels.of(payment.index);
  // This is read before the list, so an attempt that is not in the list cannot be added to it later.
  const isOver = await cannotBegin(owner, question);
  const attempts = await attemptsToPay(owner, wallet, hash);
  const mine = ownSeen({ wallet, command: payment, label }, attempts);
  if (mine) return { state: 'known', ...mine };
  const paid = attempts.findLast(isPaid);
  if (paid && question.fetched)
    return { state: 'never', reason: 'invoice paid by another payment' };
  if (paid) return { state: 'taken', ...otherSeen(wallet, paid) };
  if (attempts.some(hasLostPart)) return { state: 'never', reason: LOST_BY_OTHER };
  return isOver && (await isSendListComplete(owner))
    ? { state: 'never', reason: 'not sent' }
    : UNKNOWN;
}

/** Whether the invoice expired long ago by the node's own clock. */
async function cannotBegin(owner: ClnRpc, { payment, fetched }: SendQuestion): Promise<boolean> {
  const expiresAtMs = fetched ? fetched.expiresAtSecs * 1000 : payment.expiresAtMs;
  if (expiresAtMs === null) return false;
  const nodeMs = await owner.nodeTimeMs();
  return nodeMs !== null && isLongExpired(expiresAtMs, nodeMs);
}

/** Finds out what became of an on-chain send; see `WalletNode.sendOutcome`. */
export async function onchainOutcome(
  { owner, wallet }: ClnOwned,
  { payment, signed }: SendQuestion,
): Promise<SendOutcome> {
  if (signed === null) return { state: 'unknown' };
  const published = publishedSend(payment, signed).payment;
  const seen = await seenSend(owner, wallet, await readChain(owner), published);
  switch (seen.state) {
    case 'seen':
      return { state: 'known', ...seen.observation };
    case 'replaced':
      return { state: 'never', reason: 'replaced' };
    case 'unseen':
      return { state: 'unknown' };
  }
}
