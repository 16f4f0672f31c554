import type { Payment } from '../../../model/payment.ts';
import type { RoutingQuestion } from '../../node.ts';
import { outsideKeys, walletOfNode } from '../world/wallets.ts';
import type { World } from '../world/world.ts';

/** The fee to the outside world: a base and parts per million. Between wallets of the sandbox it is free. */
const ROUTING_FEE = { baseMsat: 1_000n, ppm: 1_000n };

/** Returns what routing an amount to the outside world costs, in millisatoshis. */
export function routingFeeMsat(amountMsat: bigint): bigint {
  return ROUTING_FEE.baseMsat + (amountMsat * ROUTING_FEE.ppm) / 1_000_000n;
}

/** Returns what a payment of the wallet to a node would cost; null for a node that cannot be paid from here. */
export function estimateRoutingFeeMsat(
  world: World,
  userPk: string,
  { nodePk, amountMsat }: RoutingQuestion,
): bigint | null {
  if (nodePk === outsideKeys(world).nodePk) return routingFeeMsat(amountMsat);
  const receiver = walletOfNode(world, nodePk);
  return receiver === null || receiver === userPk ? null : 0n;
}

/** The fee that a partner takes of an inbound payment (docs/api.md, Payment). */
type PartnerTerms = Pick<Payment, 'partnerPropFeePpm' | 'partnerBaseFeeMsat'>;

/** Returns the partner's fee on a payment of `paidMsat`, rounded down to a millisatoshi. */
export function partnerFeeMsat(terms: PartnerTerms, paidMsat: bigint): bigint {
  const proportional = (paidMsat * BigInt(terms.partnerPropFeePpm ?? 0)) / 1_000_000n;
  return proportional + (terms.partnerBaseFeeMsat ?? 0n);
}
