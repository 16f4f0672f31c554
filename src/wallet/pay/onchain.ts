import { hex } from '@scure/base';
import { type DecodedAddress, decodeAddress } from '../../codecs/address.ts';
import { CodecError } from '../../codecs/codec-error.ts';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { ApiError, refused, rejected } from '../../model/errors.ts';
import type { Payment, Priority } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import type { WalletNode } from '../../nodes/node.ts';
import { FEE_HEADROOM } from '../budget.ts';
import { nodeGroup, type Session } from '../session.ts';
import { broadcastOf, type SendContext, type SendPlan, send } from './send.ts';

/** A request to send on chain. */
export interface OnchainPaymentRequest {
  readonly address: string;
  readonly amountMsat: bigint;
  readonly priority: Priority;
  /** 64 hex characters; the idempotency key of the payment. Null draws one. */
  readonly clientPaymentId: string | null;
  readonly personalNote: string | null;
  /** The transaction is not made when it would cost more; null is no limit of the request's own. */
  readonly maxFeeMsat: bigint | null;
}

/** Why the node cannot pay the address, or null when it can. Throws {@link CodecError} when it is no address. */
export function addressObstacle(address: string, node: WalletNode): string | null {
  return networkObstacle(decodeAddress(address), node);
}

/** Broadcasts the payment, once for its client_payment_id whatever becomes of it, and returns it pending. */
export async function payOnchain(
  context: SendContext,
  request: OnchainPaymentRequest,
): Promise<Payment> {
  const address = payableAddress(request, context.session.node);
  const plan = await planOnchainPayment(context, { ...request, address });
  const { session, signal } = context;
  const payment = await broadcastOf(session, (await send(context, plan)).payment, signal);
  if (sameAddress(payment.address, address) && payment.amountMsat === request.amountMsat) {
    return payment;
  }
  throw refused(
    'This client_payment_id was used for a payment to another address or of another amount: use a new one.',
  ).with({ sent: 'no' });
}

/** The address in its canonical form. Throws errors 7 and 106. */
function payableAddress(request: OnchainPaymentRequest, node: WalletNode): string {
  if (request.amountMsat % MSAT_PER_SAT !== 0n) {
    throw rejected('amount', 'must be whole satoshis: the chain knows nothing smaller');
  }
  const decoded = readAddress(request.address);
  const obstacle = networkObstacle(decoded, node);
  if (obstacle !== null) throw refused(obstacle);
  return decoded.canonical;
}

function networkObstacle({ networks }: DecodedAddress, node: WalletNode): string | null {
  const { network } = node.descriptor;
  if (networks.includes(network)) return null;
  return `The address is for ${networks.join(' or ')} and this wallet's node is on ${network}.`;
}

function readAddress(address: string): DecodedAddress {
  try {
    return decodeAddress(address);
  } catch (error) {
    if (error instanceof CodecError) throw rejected('address', error.message);
    throw error;
  }
}

/** Rows of the first version keep addresses as they were given. */
function sameAddress(kept: string | null, canonical: string): boolean {
  return kept === canonical || kept?.toLowerCase() === canonical.toLowerCase();
}

async function planOnchainPayment(
  { session, names }: SendContext,
  request: OnchainPaymentRequest,
): Promise<SendPlan> {
  const onchain = nodeGroup(session, 'onchain');
  const { address, amountMsat, priority, personalNote } = request;
  const id = paymentId('os', request.clientPaymentId ?? hex.encode(names.bytes('payment')));
  const maxFeeMsat = await feeLimitMsat(session, request);
  const command = { address, amountMsat, priority, personalNote, maxFeeMsat };
  return {
    id,
    rail: 'onchain',
    amountMsat,
    maxFeeMsat: maxFeeMsat ?? 0n,
    again: 'never',
    details: { address, priority, personalNote, statusMsg: 'pending' },
    sign: (identity) => onchain.sign({ ...identity, ...command }),
    start: async (identity, signed) => {
      if (signed) return onchain.publish({ ...identity, ...command }, signed);
      return { state: 'refused', error: new ApiError('internal', 'Nothing was signed.') };
    },
  };
}

/** A bound on the fee: the request's own, and what a budget must account for before the transaction is made. */
async function feeLimitMsat(
  session: Session,
  request: OnchainPaymentRequest,
): Promise<bigint | null> {
  if (!session.hasBudget()) return request.maxFeeMsat;
  const estimateMsat = await nodeGroup(session, 'onchain').estimateFeeMsat(request);
  const boundMsat = estimateMsat * FEE_HEADROOM;
  const { maxFeeMsat } = request;
  return maxFeeMsat !== null && maxFeeMsat < boundMsat ? maxFeeMsat : boundMsat;
}
