import { idOfIndex, type PaymentId, type PaymentIndex } from '../../../model/payment-index.ts';
import type { Observation } from '../../node-observations.ts';
import { ifAllowed } from '../../remote/calls/if-allowed.ts';
import { incomingPayment } from '../lightning/invoices.ts';
import { sendsSeen } from '../lightning/seen-sends.ts';
import { attemptsToPay } from '../lightning/sends.ts';
import { onchainPayment } from '../onchain/onchain-history.ts';
import type { ClnOwned } from '../reads/wallet.ts';

/**
 * The payment of an index, or null; see `WalletNode.payment`. Null also where the configured rune may not read it, and
 * for the payment of an offer that the sidecar made: only its hash leads to it.
 */
export async function payment(node: ClnOwned, index: PaymentIndex): Promise<Observation | null> {
  const found = await paymentsOf(node, idOfIndex(index));
  return found.find((one) => one.payment.index === index) ?? null;
}

/** The newest payment of an id, or null, as {@link payment} finds it. */
export async function latestPayment(node: ClnOwned, id: PaymentId): Promise<Observation | null> {
  return (await paymentsOf(node, id))[0] ?? null;
}

/** The payments of an id, those that were sent first, the newest of them at the beginning. */
async function paymentsOf(node: ClnOwned, id: PaymentId): Promise<readonly Observation[]> {
  const [prefix, hash = ''] = id.split('_');
  if (prefix === 'os' || prefix === 'or') {
    const seen: Observation | null = await ifAllowed(onchainPayment(node, id));
    return seen === null ? [] : [seen];
  }
  const [sent, received] = await Promise.all([
    prefix === 'fr' ? [] : ifAllowed(sentPayments(node, hash)),
    prefix === 'fs' ? null : ifAllowed(incomingPayment(node, hash)),
  ]);
  return [...(sent ?? []), ...(received ? [received] : [])].filter(
    (one) => idOfIndex(one.payment.index) === id,
  );
}

async function sentPayments(node: ClnOwned, hash: string): Promise<readonly Observation[]> {
  const askedAtMs = node.wallet.elapsedMs();
  const attempts = await attemptsToPay(node.owner, node.wallet, hash);
  node.wallet.recent.keep(hash, attempts, askedAtMs);
  return sendsSeen(attempts, node.wallet).toReversed();
}
