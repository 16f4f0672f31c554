import { createHash, createHmac } from 'node:crypto';
import { hex } from '@scure/base';
import { decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { rejected } from '../../model/errors.ts';
import type { Payment } from '../../model/payment.ts';
import { type PaymentIndex, paymentId } from '../../model/payment-index.ts';
import {
  type Challenges,
  type Claim,
  challengesOf,
  claimsIn,
  type Mac,
  requestText,
  type SoldRequest,
} from '../../net/paid/index.ts';
import type { EffectNames } from '../session/effect-names.ts';
import type { Reader, ServedWallet, Session } from '../session/session.ts';
import { issueInvoice, NO_PARTNER } from './receive.ts';

type Seller = ServedWallet & Reader & Pick<Session, 'caller'>;

/** The request that a paywall is for: as it is, or its hash (hex), or both; neither for a paywall of any request. */
export interface ForRequest {
  readonly request: SoldRequest | null;
  readonly requestHash: string | null;
}

interface PaywallOrder extends ForRequest {
  readonly amountMsat: bigint;
  readonly description: string;
  readonly expirationSecs: number;
}

interface Paywall {
  readonly index: PaymentIndex;
  readonly invoice: string;
  readonly challenges: Challenges;
}

/** A payment that a proof has proven, and the header lines that tell the buyer so. */
export interface Proven {
  readonly index: PaymentIndex;
  /** Hex. */
  readonly paymentHash: string;
  readonly receipt: readonly string[];
}

/** Where it is kept which proofs were taken. */
const KIND = 'paywall';

/**
 * Creates an invoice, and what asks for its payment in each way of HTTP 402 (docs/decisions.md 188). Nothing but the
 * invoice is kept: what a buyer sends back shows by itself that it is of this caller. Throws `unsupported` (error 110)
 * where the node makes no invoice of a hash alone and the request is not given.
 */
export async function createPaywall(
  session: Seller,
  order: PaywallOrder,
  names: EffectNames,
): Promise<Paywall> {
  const { amountMsat, description, expirationSecs, request } = order;
  const hash = hashOf(order);
  const { payment, invoice } = await issueInvoice(
    session,
    {
      amountMsat,
      description,
      descriptionHash: hash === null ? null : { hash, text: request && requestText(request) },
      expirationSecs,
      personalNote: null,
      externalId: null,
      ...NO_PARTNER,
    },
    names,
  );
  const url = request?.url ?? null;
  const sale = { invoice: decodeBolt11(invoice), description, url, mac: macOf(session) };
  return { index: payment.index, invoice, challenges: challengesOf(sale) };
}

/**
 * Returns the payment that the headers of a request prove, of a paywall that the same caller has made; null where they
 * prove none, or one that was returned before. A payment is returned once, for ever; to a repeat with the same
 * Idempotency-Key again. Nothing else is told, and the node is asked only for a payment whose preimage is known.
 */
export async function verifyPaywall(
  session: Seller,
  headers: Parameters<typeof claimsIn>[0],
  asked: ForRequest,
  names: EffectNames,
): Promise<Proven | null> {
  const hash = hashOf(asked);
  // The same for every repeat of the request, so that it finds what it has taken, also after a crash.
  const taker = hex.encode(names.bytes('paywall'));
  const { userPk, store } = session;
  for (const claim of claimsIn(headers, macOf(session))) {
    const { paymentHash, needsRequest } = claim;
    if (needsRequest && hash === null) continue;
    const payment = await paymentOf(session, claim);
    if (payment === null || !isPaidFor(payment, hash)) continue;
    const first = await store.connectorState.putFirst(userPk, KIND, paymentHash, taker);
    if (first !== taker) continue;
    const receipt = claim.receipt(payment.finalizedAtMs ?? payment.updatedAtMs);
    return { index: payment.index, paymentHash, receipt };
  }
  return null;
}

/** The request's hash, or null. Throws error 7 where it is not that of the request. */
function hashOf({ request, requestHash }: ForRequest): string | null {
  if (request === null) return requestHash;
  const hash = createHash('sha256').update(requestText(request)).digest('hex');
  if ((requestHash ?? hash) === hash) return hash;
  throw rejected('request_hash', 'must be the hash of the request, where both are given');
}

/**
 * The payment of a proof. A buyer has the preimage as soon as the node has the money, which may be before the node's
 * change has come up: so the node is asked.
 */
async function paymentOf(session: Seller, { paymentHash }: Claim): Promise<Payment | null> {
  const { node, feed, history } = session;
  const id = paymentId('ln', paymentHash);
  const known = await history.latest(id);
  if (known?.status !== 'pending') return known;
  const now = await node.payment(known.index);
  if (now !== null) await feed.observe(now, node);
  return history.latest(id);
}

/**
 * Whether it is money that has arrived, and, with a hash, for that request. What is completed is not less than its
 * invoice (docs/decisions.md 43).
 */
function isPaidFor({ direction, status, invoice }: Payment, hash: string | null): boolean {
  if (direction !== 'inbound' || status !== 'completed') return false;
  return hash === null || (invoice !== null && decodeBolt11(invoice).descriptionHash === hash);
}

/** What one caller writes is not taken for another's of the same wallet, who may sell for less. */
function macOf({ userPk, store, caller }: Seller): Mac {
  return (...texts) =>
    createHmac('sha256', store.identity.secret)
      .update(JSON.stringify(['paywall', userPk, caller.id, ...texts]))
      .digest('hex');
}
