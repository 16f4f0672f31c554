import { decodeInvoice, isBolt12InvoiceExpired } from '../../codecs/bolt12/index.ts';
import type { ClientRecord } from '../../model/clients/client.ts';
import { ApiError, isApiError, refused } from '../../model/errors.ts';
import { NOT_APPROVED, type Payment, sendWords } from '../../model/payment.ts';
import { idOfIndex, type PaymentIndex } from '../../model/payment-index.ts';
import type { SignedSend } from '../../nodes/node.ts';
import type { Spend } from '../../store/ports.ts';
import { paymentOf } from '../read/payments.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { type Approver, approveAboveMsat, nodeGroup } from '../session/session.ts';
import { tellingDoubt } from '../session/telling-sent.ts';
import { isWaiting, mayPay, mayWait } from './approvals.ts';
import { releaseCoins, startedPayment } from './send.ts';
import { requestOf } from './send-again.ts';
import { planText, readOnchainOrder, readSpend, readTerms } from './spend.ts';

/**
 * Has a payment sent that waits for approval, exactly as it was asked for, with the token of the client that asked
 * (docs/decisions.md 187). Returns it as the node shows it, or pending when the outcome is unknown, or failed where its
 * invoice has expired or the node refuses. Throws errors 106, 107, 108 and 109, and what the node throws before
 * anything is sent; the payment then waits on, unless error 106 says that it does not wait.
 */
export function approvePayment(
  session: Approver,
  index: PaymentIndex,
  names: EffectNames,
): Promise<Payment> {
  return decided(session, { index, names }, async (spend) => {
    const { node, store, approvals, guard, feed, userPk } = session;
    const client = await payerOf(session, spend);
    const nowMs = node.clock.now();
    if (client === null || !mayWait(spend, client, nowMs)) {
      throw notWaiting(await approvals.end(spend.payment, NOT_APPROVED, node));
    }
    if (isExpired(spend, nowMs)) return approvals.end(spend.payment, 'expired', node);
    if (client.budgetState === 'set') await guard.requireKept();
    const payer = { ...session, node: await session.nodeOf(client) };
    const sent = await feed.whileSending(idOfIndex(index), payer.node, async () => {
      const order = await askedFor(payer, spend);
      if ('ended' in order) return order.ended;
      const { signed, start } = order;
      const { payment } = (await store.spends.get(userPk, index)) ?? spend;
      const shown = node.history ? null : await store.journal.get(userPk, index);
      if (shown) feed.emit(shown);
      const undo = (error: ApiError) => approvals.end(payment, error.message, node);
      return startedPayment(payer, payment, { signed, start, undo });
    });
    return sent ?? paymentOf(session, index);
  });
}

/** What is decided about a payment that waits for approval, besides the payment. */
export interface Asked {
  /** Who asked for it; null for a client that is not there any more. */
  readonly client: ClientRecord | null;
  readonly clientPk: string;
  readonly maxFeeMsat: bigint;
  /** Hex key of the node that is paid; null on chain. */
  readonly nodePk: string | null;
  /** By the node's clock. */
  readonly untilMs: number;
}

/** Returns what is decided about a payment that waits. Throws 107, and 106 for one that does not wait. */
export async function approvalOf(session: Approver, index: PaymentIndex): Promise<Asked> {
  const { store, userPk } = session;
  const spend = await store.spends.get(userPk, index);
  if (spend === null || !isWaiting(spend)) throw notWaiting(await paymentOf(session, index));
  const client = await payerOf(session, spend);
  const { caller: clientPk, approveUntilMs } = spend;
  return { client, clientPk, ...readTerms(spend), untilMs: approveUntilMs ?? 0 };
}

/** Ends a payment that waits for approval; nothing was sent. Throws errors 106, 107 and 108. */
export function rejectPayment(
  session: Approver,
  index: PaymentIndex,
  names: EffectNames,
): Promise<Payment> {
  return decided(session, { index, names }, ({ payment }) =>
    session.approvals.end(payment, NOT_APPROVED, session.node),
  );
}

/**
 * Decides under the lock by which payments of that id are sent one after another. A repeat of a request with a key,
 * which may have decided before, gets the payment as it stands.
 */
function decided(
  session: Approver,
  { index, names }: { readonly index: PaymentIndex; readonly names: EffectNames },
  decide: (spend: Spend) => Promise<Payment>,
): Promise<Payment> {
  if (approveAboveMsat(session) !== null) {
    throw forbidden('Payments of these credentials wait for approval themselves');
  }
  return session.locks.run(idOfIndex(index), async () => {
    await session.resolver.ready();
    const spend = await session.store.spends.get(session.userPk, index);
    if (spend === null || !isWaiting(spend)) {
      const payment = await paymentOf(session, index);
      if (names.earlier('decision') !== null) return payment;
      throw notWaiting(payment);
    }
    if (spend.caller === session.caller.id) {
      throw forbidden('These credentials have asked for this payment themselves');
    }
    await names.kept('decision', async () => 'begun');
    return decide(spend);
  });
}

/**
 * Moves the spend to `asked`, signed where that is needed, and returns the request that makes it; or the payment at its
 * end, where the node refuses to sign.
 */
async function askedFor(session: Approver, spend: Spend) {
  const { node, store, userPk, resolver, approvals } = session;
  const { index, rail } = spend.payment;
  let signed: SignedSend | null = null;
  try {
    if (rail === 'onchain') signed = await signedFor(session, spend);
  } catch (error) {
    if (!isApiError(error, 'refused')) throw error;
    return { ended: await approvals.end(spend.payment, error.message, node) };
  }
  const release = async (error: unknown): Promise<never> => {
    if (signed) await releaseCoins(session, signed);
    throw error;
  };
  const plan = signed ? planText(signed) : spend.plan;
  const prepare = async () => {
    const start = requestOf(node, readSpend({ ...spend, state: 'asked', plan }), false);
    if (start === null) throw new Error(`The row of the payment ${index} lacks what is sent.`);
    return { start, afterAttempt: signed ? null : await node.newestAttempt(idOfIndex(index)) };
  };
  const { start, afterAttempt } = await prepare().catch(release);
  const nowMs = node.clock.now();
  const journaled = node.history === undefined;
  const approved = { plan, afterAttempt, journaled, nowMs };
  const may = (client: ClientRecord | null) => mayPay(spend.payment, client, nowMs);
  const isMoved = await store.spends.approve(userPk, index, approved, may).catch(async (error) => {
    // Where it was stored after all, the node is asked about it like about every other spend.
    await resolver.resolve(index);
    return tellingDoubt(error, index);
  });
  // Its time was over, or its client may not pay any more, since it was looked at.
  if (!isMoved) return release(notWaiting(await approvals.end(spend.payment, NOT_APPROVED, node)));
  return { signed, start };
}

function signedFor(session: Approver, spend: Spend): Promise<SignedSend> {
  const { index, createdAtMs } = spend.payment;
  const order = readOnchainOrder(spend);
  return nodeGroup(session, 'onchain').sign({
    ...{ index, createdAtMs, ...sendWords(spend.payment) },
    ...order,
  });
}

async function payerOf(
  { store, userPk }: Approver,
  { caller }: Spend,
): Promise<ClientRecord | null> {
  const client = await store.clients.find(caller);
  return client?.walletId === userPk ? client : null;
}

/** Whether the invoice that would be paid has expired. */
function isExpired({ payment, fetchedInvoice }: Spend, nowMs: number): boolean {
  if (fetchedInvoice !== null) {
    return isBolt12InvoiceExpired(decodeInvoice(fetchedInvoice), Math.floor(nowMs / 1000));
  }
  return payment.expiresAtMs !== null && payment.expiresAtMs <= nowMs;
}

const SENT = { pending: 'unknown', completed: 'yes', failed: 'no' } as const;

function notWaiting({ index, status, statusMsg }: Payment): ApiError {
  const words = status === statusMsg ? status : `${status} (${statusMsg})`;
  const message = `This payment does not wait for approval: it is ${words}.`;
  return refused(message).with({ sent: SENT[status], index });
}

function forbidden(why: string): ApiError {
  const message = `${why}, so they cannot decide: ask the wallet's owner.`;
  return new ApiError('forbidden', message, { data: { permission: 'approve_payments' } });
}
