import { isPreimageOf } from '../../codecs/preimage.ts';
import { isApiError, refused, rejected } from '../../model/errors.ts';
import { type PaymentIndex, paymentId } from '../../model/payment-index.ts';
import type { CreatedInvoiceJson } from '../../model/receive.ts';
import { renewToken } from '../clients/client-tokens.ts';
import { paymentOf } from '../read/payments.ts';
import type { EffectNames } from '../session/effect-names.ts';
import {
  type Keeper,
  nodeGroup,
  type Reader,
  type ServedWallet,
  type Session,
} from '../session/session.ts';
import { encodeCreated, type InvoiceRequest, keepIssued, requireInvoice } from './receive.ts';

type HoldingSession = ServedWallet & Keeper & Reader & Pick<Session, 'tokenId'>;

/**
 * Creates an invoice for a hash whose preimage the caller keeps, and watches that it is held and how it ends
 * (docs/decisions.md 116). With a key, a repeat returns the same invoice. Throws `refused` (error 106) when the wallet
 * has a payment of that hash, in either direction.
 */
export async function createHoldInvoice(
  session: HoldingSession,
  request: InvoiceRequest & { readonly paymentHash: string },
  names: EffectNames,
): Promise<CreatedInvoiceJson> {
  const holdInvoices = nodeGroup(session, 'holdInvoices');
  const { paymentHash } = request;
  return session.locks.run(paymentId('ln', paymentHash), async () => {
    const again = names.earlier('hold invoice') === paymentHash;
    if (!again) await requireUnused(session, paymentHash);
    await names.kept('hold invoice', async () => paymentHash);
    const createdAtMs = session.node.clock.now();
    const order = { ...request, message: null, createdAtMs, again };
    const created = await requireInvoice(session, order, () =>
      withPresentToken(session, () => holdInvoices.create(order)),
    );
    const { index } = created.payment;
    await keepIssued(session, created.payment, [
      { kind: 'payment', index },
      { kind: 'held', index },
    ]);
    return encodeCreated(created, request);
  });
}

/**
 * Completes a held payment with its preimage; does nothing when it is completed. Throws error 7 for a preimage of
 * another hash, error 106 when nothing is held for the invoice, and error 107 when there is no such payment.
 */
export async function settleInvoice(
  session: HoldingSession,
  index: PaymentIndex,
  preimage: string,
): Promise<void> {
  const { node } = session;
  const payment = await paymentOf(session, index);
  if (payment.direction !== 'inbound' || payment.rail !== 'invoice') {
    throw refused(
      'Only an invoice of this wallet can be settled: give the index that create_invoice answered.',
    );
  }
  if (!isPreimageOf(preimage, payment.hash)) {
    throw rejected('preimage', 'must be the one whose SHA-256 is the payment_hash of the invoice');
  }
  if (payment.status === 'completed') return;
  const holdInvoices = nodeGroup(session, 'holdInvoices');
  await withPresentToken(session, () => holdInvoices.settle(index, preimage));
  const settled = await node.payment(index);
  if (settled) await session.feed.observe(settled, node);
}

/**
 * A hash is used once in a wallet: a payment in the other direction would have the same id. The node refuses a second
 * invoice of a hash as well.
 */
async function requireUnused({ history }: Reader, paymentHash: string): Promise<void> {
  const earlier = await history.latest(paymentId('ln', paymentHash));
  if (earlier === null) return;
  throw refused('This payment_hash is in use already: use each hash for one invoice.');
}

/**
 * Runs the work. Where the node does not allow it to a client that has the permission, the client's token is from a
 * version without hold invoices: it is replaced, and the work is run once more.
 */
async function withPresentToken<T>(session: HoldingSession, work: () => Promise<T>): Promise<T> {
  const usedId = session.tokenId();
  try {
    return await work();
  } catch (error) {
    if (!isApiError(error, 'forbidden') || session.isOwner) throw error;
    session.liveClients.changed([await renewToken(session, usedId)]);
    return await work();
  }
}
