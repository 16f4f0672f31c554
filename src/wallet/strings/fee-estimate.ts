import type { WalletNode } from '../../nodes/node.ts';
import type { PayMethod } from './method-terms.ts';

/** How long `analyze` waits for an estimate at most: it must answer while the node is out of reach, too. */
const WITHIN_MS = 1000;

/** A way to pay, with the fee that the node expects. */
export type PricedMethod = PayMethod & {
  /** In millisatoshis; null where no amount is known, or the node knows no fee. */
  readonly feeEstimateMsat: bigint | null;
};

/** Adds to each method the fee that the node expects now. Sends nothing and never throws (docs/decisions.md 115). */
export async function withFeeEstimates(
  methods: readonly PayMethod[],
  node: WalletNode,
): Promise<PricedMethod[]> {
  const tooLate = Promise.withResolvers<null>();
  const timer = setTimeout(() => tooLate.resolve(null), WITHIN_MS);
  const priced = methods.map(async (method) => {
    const estimate = estimateMsat(method, node).catch(() => null);
    return { ...method, feeEstimateMsat: await Promise.race([estimate, tooLate.promise]) };
  });
  try {
    return await Promise.all(priced);
  } finally {
    clearTimeout(timer);
  }
}

async function estimateMsat(method: PayMethod, node: WalletNode): Promise<bigint | null> {
  const { kind, amountMsat } = method;
  if (amountMsat === null) return null;
  switch (kind) {
    case 'invoice': {
      const { payeePubkey: nodePk, routeHints } = method.invoice;
      return node.estimateRoutingFeeMsat({ nodePk, amountMsat, routeHints });
    }
    case 'offer': {
      const { issuerId: nodePk } = method.offer;
      return nodePk === null
        ? null
        : node.estimateRoutingFeeMsat({ nodePk, amountMsat, routeHints: [] });
    }
    case 'onchain': {
      const payment = { address: method.address, amountMsat, priority: 'normal' } as const;
      return (await node.onchain?.estimateFeeMsat(payment)) ?? null;
    }
    case 'lnurl-pay':
      // Only the service's invoice says which node is paid, and asking for one is a request to it.
      return null;
  }
}
