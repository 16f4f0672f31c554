import { isApiError } from '../../../model/errors.ts';
import { routeFeeWithHints } from '../../remote/orders/hinted-fee.ts';
import type { RoutingQuestion } from '../../wallet-node.ts';
import type { ClnOwned } from '../reads/wallet.ts';
import { routesShape } from '../words/wire.ts';

/** Blocks that the last hop is left, as most receivers ask. It changes no fee. */
const FINAL_CLTV = 18;
/** Uses the node's own channels as they are, without the fees that others pay for them. */
const LAYERS = ['auto.localchans', 'auto.sourcefree'];

/** What the node's graph says of the fee; see `WalletNode.estimateRoutingFeeMsat`. Nothing is sent. */
export function estimateRoutingFeeMsat(
  { owner, wallet: { nodePk } }: ClnOwned,
  question: RoutingQuestion,
): Promise<bigint | null> {
  return routeFeeWithHints(nodePk, question, async (destination, amountMsat) => {
    try {
      const { routes } = await owner.read(
        'getroutes',
        {
          source: nodePk,
          destination,
          amount_msat: `${amountMsat}msat`,
          layers: LAYERS,
          // The most that is asked about; what a payment may cost is decided elsewhere.
          maxfee_msat: `${amountMsat}msat`,
          final_cltv: FINAL_CLTV,
        },
        routesShape,
      );
      const sentMsat = routes.reduce((sum, { path }) => sum + (path[0]?.amount_in_msat ?? 0n), 0n);
      return sentMsat - routes.reduce((sum, route) => sum + route.amount_msat, 0n);
    } catch (error) {
      if (isApiError(error, 'refused', 'forbidden', 'unsupported')) return null;
      throw error;
    }
  });
}
