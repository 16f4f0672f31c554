import { base64, hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { isApiError } from '../../../model/errors.ts';
import type { RoutingQuestion } from '../../node.ts';
import { routeFeeWithHints } from '../../remote/orders/hinted-fee.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndOwned } from '../reads/wallet.ts';
import { routeFeeShape } from '../words/wire.ts';

/** Returns what LND's graph says of the fee; see `WalletNode.estimateRoutingFeeMsat`. */
export function estimateRoutingFeeMsat(
  { owner, wallet }: LndOwned,
  question: RoutingQuestion,
): Promise<bigint | null> {
  return routeFeeWithHints(wallet.nodePk, question, (nodePk, amountMsat) =>
    graphFeeMsat(owner, nodePk, amountMsat),
  );
}

/** The fee of a route in LND's graph; null for none. `dest` alone: with `payment_request` LND sends probes. */
async function graphFeeMsat(
  owner: LndRest,
  nodePk: string,
  amountMsat: bigint,
): Promise<bigint | null> {
  const question = {
    dest: base64.encode(hex.decode(nodePk)),
    amt_sat: `${(amountMsat + MSAT_PER_SAT - 1n) / MSAT_PER_SAT}`,
  };
  try {
    const answer = await owner.post('/v2/router/route/estimatefee', question, routeFeeShape, {
      harmlessTwice: true,
    });
    return answer.routing_fee_msat;
  } catch (error) {
    if (isApiError(error, 'refused', 'notFound', 'forbidden')) return null;
    throw error;
  }
}
