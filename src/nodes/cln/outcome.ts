import type { SendOutcome, SendQuestion } from '../node-sends.ts';
import { asBegun } from '../remote/as-begun.ts';
import { labelOf } from './labels.ts';
import { onchainOutcome } from './onchain-outcome.ts';
import { tipOf } from './pages.ts';
import type { ClnRpc } from './rpc.ts';
import { attemptsToPay, labeled } from './sends.ts';
import { outboundObservation } from './translate.ts';
import type { ClnWallet } from './wallet.ts';

/**
 * Core Lightning does not begin to pay an expired invoice. This much later by its own clock, no request on its way can
 * be accepted any more (docs/decisions.md 37).
 */
const AFTER_EXPIRY_MS = 10 * 60_000;

const UNKNOWN: SendOutcome = { state: 'unknown' };

/** Finds out what became of a send; see `WalletNode.sendOutcome`. */
export async function sendOutcome(
  owner: ClnRpc,
  wallet: ClnWallet,
  question: SendQuestion,
): Promise<SendOutcome> {
  if (question.payment.rail === 'onchain') return onchainOutcome(owner, wallet, question);
  const { payment } = question;
  const { hash } = payment;
  if (hash === null) return UNKNOWN;
  // This is read before the list, so an attempt that is not in the list cannot be added to it later.
  const isOver = await isLongExpired(owner, question);
  const mine = labeled(await attemptsToPay(owner, hash), labelOf(payment.index));
  if (mine) {
    const failure = wallet.endings.failureOf(mine);
    const seen = outboundObservation(mine, { nowMs: wallet.clock.now(), failure });
    return { state: 'known', ...asBegun(seen, payment) };
  }
  return isOver && (await isListComplete(owner)) ? { state: 'never', reason: 'not sent' } : UNKNOWN;
}

/** Whether the invoice expired long ago by the node's own clock. */
async function isLongExpired(owner: ClnRpc, { payment, fetched }: SendQuestion): Promise<boolean> {
  const expiresAtMs = fetched ? fetched.expiresAtSecs * 1000 : payment.expiresAtMs;
  if (expiresAtMs === null) return false;
  const nodeMs = await owner.nodeTimeMs();
  return nodeMs !== null && nodeMs >= expiresAtMs + AFTER_EXPIRY_MS;
}

/** Whether the node has never deleted a payment from its list, as its plugin autoclean does. */
async function isListComplete(owner: ClnRpc): Promise<boolean> {
  return (await tipOf(owner, 'sendpays', 'deleted')) === 0;
}
