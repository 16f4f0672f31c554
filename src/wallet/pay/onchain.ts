import { randomBytes } from 'node:crypto';
import { decodeAddress } from '../../codecs/address.ts';
import { CodecError } from '../../codecs/codec-error.ts';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { refused, rejected } from '../../model/errors.ts';
import type { Payment, Priority } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import type { WalletNode } from '../../nodes/node.ts';
import { nodeGroup, type Session } from '../session.ts';
import { type SendContext, type SendPlan, send } from './send.ts';

/** How far the fee may rise between the estimate and the transaction, for clients with a budget. */
const FEE_HEADROOM = 2n;

/** A request to send on chain. */
export interface OnchainPaymentRequest {
  readonly address: string;
  readonly amountMsat: bigint;
  readonly priority: Priority;
  /** 64 hex characters; the idempotency key of the payment. Null draws one. */
  readonly clientPaymentId: string | null;
  readonly personalNote: string | null;
}

/** Why the node cannot pay the address, or null when it can. Throws {@link CodecError} when it is no address. */
export function addressObstacle(address: string, node: WalletNode): string | null {
  const { network } = node.descriptor;
  const { networks } = decodeAddress(address);
  if (networks.includes(network)) return null;
  return `The address is for ${networks.join(' or ')} and this wallet's node is on ${network}.`;
}

/** Broadcasts the payment, once for its client_payment_id whatever becomes of it, and answers it pending. */
export async function payOnchain(
  context: SendContext,
  request: OnchainPaymentRequest,
): Promise<Payment> {
  requirePayable(request, context.session.node);
  const { payment } = await send(context, await planOnchainPayment(context.session, request));
  if (payment.address === request.address && payment.amountMsat === request.amountMsat) {
    return payment;
  }
  throw refused(
    'This client_payment_id was used for a payment to another address or of another amount: use a new one.',
  );
}

function requirePayable(request: OnchainPaymentRequest, node: WalletNode): void {
  if (request.amountMsat % MSAT_PER_SAT !== 0n) {
    throw rejected('amount', 'must be whole satoshis: the chain knows nothing smaller');
  }
  const obstacle = readAddress(request.address, node);
  if (obstacle !== null) throw refused(obstacle);
}

function readAddress(address: string, node: WalletNode): string | null {
  try {
    return addressObstacle(address, node);
  } catch (error) {
    if (error instanceof CodecError) throw rejected('address', error.message);
    throw error;
  }
}

async function planOnchainPayment(
  session: Session,
  request: OnchainPaymentRequest,
): Promise<SendPlan> {
  const onchain = nodeGroup(session, 'onchain');
  const { address, amountMsat, priority, personalNote } = request;
  const feeLimitMsat = await budgetedFeeMsat(session, request);
  return {
    id: paymentId('os', request.clientPaymentId ?? randomBytes(32).toString('hex')),
    rail: 'onchain',
    amountMsat,
    maxFeeMsat: feeLimitMsat ?? 0n,
    again: 'never',
    details: { address, priority, personalNote, statusMsg: 'pending' },
    start: (identity) =>
      onchain.payOnchain({
        ...identity,
        address,
        amountMsat,
        priority,
        personalNote,
        maxFeeMsat: feeLimitMsat,
      }),
  };
}

/** A bound on the fee, where a budget must account for it before the transaction is made. */
async function budgetedFeeMsat(
  session: Session,
  request: OnchainPaymentRequest,
): Promise<bigint | null> {
  const client = session.client();
  if (!client) return null;
  const { node, store, userPk } = session;
  const budget = await store.budgets.get(userPk, client.clientPk, node.clock.now());
  if (budget === null) return null;
  return (await nodeGroup(session, 'onchain').estimateFeeMsat(request)) * FEE_HEADROOM;
}
