import { hex } from '@scure/base';
import { type DecodedAddress, decodeAddress } from '../../codecs/address.ts';
import { readOr } from '../../codecs/codec-error.ts';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { refused, rejected } from '../../model/errors.ts';
import { type Payment, type Priority, type SendWords, sendWords } from '../../model/payment.ts';
import { type PaymentId, paymentId } from '../../model/payment-index.ts';
import { FEE_HEADROOM, lesserMsat } from '../budget/budget.ts';
import { approveAboveMsat, nodeGroup, type Spender } from '../session/session.ts';
import { addressNetworkObstacle, requireNone } from '../strings/obstacles.ts';
import { isSamePrice } from '../strings/offer-price.ts';
import { broadcastOf } from './await-end.ts';
import { type SendContext, send } from './send.ts';
import type { SendPlan } from './send-plan.ts';

/** A request to send on chain. */
interface OnchainPaymentRequest extends SendWords {
  readonly address: DecodedAddress;
  /** Null sends everything that the wallet can send in one transaction. */
  readonly amountMsat: bigint | null;
  readonly priority: Priority;
  /** 64 hex characters that name the payment, which is sent once for them; null draws an id. */
  readonly clientPaymentId: string | null;
  /** The highest fee, in millisatoshis: the transaction is not made if it would cost more. Null sets no limit. */
  readonly maxFeeMsat: bigint | null;
}

/** Reads an address from a request, alone or in a BIP 321 URI without parameters. Throws error 7 for `address`. */
export function readAddress(text: string): DecodedAddress {
  const [, address = text] = /^bitcoin:(?:\/\/)?([^?#]*)$/i.exec(text.trim()) ?? [];
  return readOr(
    () => decodeAddress(address.trim()),
    ({ message }) => {
      const isUri = /^bitcoin:.*[?#]/is.test(address);
      throw rejected(
        'address',
        isUri ? 'must be an address alone: use pay for a URI with parameters' : message,
      );
    },
  );
}

/**
 * Publishes the payment once for its `client_payment_id`, also when it fails, and returns it
 * (docs/decisions.md 39). Throws errors 7, 106, 109 and 110.
 */
export async function payOnchain(
  context: SendContext,
  request: OnchainPaymentRequest,
): Promise<Payment> {
  const { address, amountMsat } = request;
  const { session, signal } = context;
  if (amountMsat !== null && amountMsat % MSAT_PER_SAT !== 0n) {
    throw rejected('amount', 'must be whole satoshis: on-chain amounts have no decimals');
  }
  requireNone(addressNetworkObstacle(address, session.node));
  const sent = await sendOnce(context, request);
  const payment = await broadcastOf(session, sent, signal);
  const sameAmount = amountMsat === null || payment.amountMsat === amountMsat;
  // A repeat comes when the rate may be another.
  const sameTerms = sameAmount || isSamePrice(request.price, payment.price);
  if (sameAddress(payment.address, address) && sameTerms) return payment;
  throw refused(
    'This client_payment_id was used for a payment to another address or of another amount: use a new one.',
  ).with({ sent: 'no' });
}

/**
 * Sends, or finds what was sent for the same id. What everything amounts to is asked only for a new payment: a repeat
 * would find nothing left. The lock holds a repeat until the first request has sent.
 */
async function sendOnce(context: SendContext, request: OnchainPaymentRequest): Promise<Payment> {
  const { session, names } = context;
  const id = paymentId('os', request.clientPaymentId ?? hex.encode(names.bytes('payment')));
  const { amountMsat } = request;
  if (amountMsat !== null) {
    const plan = await planOnchainPayment(session, id, { ...request, amountMsat, feeMsat: null });
    return (await send(context, plan)).payment;
  }
  return session.locks.run(`everything_${id}`, async () => {
    const earlier = await session.history.latest(id);
    const terms = earlier
      ? { amountMsat: earlier.amountMsat ?? 0n, feeMsat: 0n }
      : await nodeGroup(session, 'onchain').mostSendable({
          address: request.address,
          priority: request.priority,
        });
    const plan = await planOnchainPayment(session, id, { ...request, ...terms });
    return (await send(context, plan)).payment;
  });
}

/** A request whose amount is known. */
interface OnchainTerms extends OnchainPaymentRequest {
  readonly amountMsat: bigint;
  /** The fee where the node has told it already; null otherwise. */
  readonly feeMsat: bigint | null;
}

/** Rows of version 0.1 hold addresses as they were given. The case of a segwit address makes no difference. */
function sameAddress(kept: string | null, { canonical, witnessVersion }: DecodedAddress): boolean {
  return kept === canonical || (witnessVersion !== null && kept?.toLowerCase() === canonical);
}

async function planOnchainPayment(
  session: Spender,
  id: PaymentId,
  request: OnchainTerms,
): Promise<SendPlan> {
  const onchain = nodeGroup(session, 'onchain');
  const { address, amountMsat, priority } = request;
  const words = sendWords(request);
  const maxFeeMsat = await feeLimitMsat(session, request);
  const command = { address, amountMsat, priority, ...words, maxFeeMsat };
  return {
    id,
    rail: 'onchain',
    amountMsat,
    maxFeeMsat: maxFeeMsat ?? 0n,
    again: 'never',
    repeat: { maxFeeMsat: maxFeeMsat ?? 0n },
    details: { address: address.canonical, priority, ...words, statusMsg: 'pending' },
    sign: (identity) => onchain.sign({ ...identity, ...command }),
    start: (identity, signed) => onchain.publish({ ...identity, ...command }, signed),
  };
}

/**
 * The limit on the fee, in millisatoshis: the request's own or, if lower, the one for clients with a budget or whose
 * payments wait for approval, which must be known before the transaction is made (docs/decisions.md 68, 187). Null
 * without a limit.
 */
async function feeLimitMsat(session: Spender, request: OnchainTerms): Promise<bigint | null> {
  if (!session.hasBudget() && approveAboveMsat(session) === null) return request.maxFeeMsat;
  const { maxFeeMsat, feeMsat } = request;
  // A fee that leaves nothing cannot be higher.
  const boundMsat =
    feeMsat ?? (await nodeGroup(session, 'onchain').estimateFeeMsat(request)) * FEE_HEADROOM;
  return lesserMsat(maxFeeMsat, boundMsat);
}
