import { base64, hex } from '@scure/base';
import type { RouteHint } from '../../codecs/bolt11/index.ts';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { isApiError } from '../../model/errors.ts';
import type { RoutingQuestion } from '../node.ts';
import type { LndRest } from './rest.ts';
import type { LndWallet } from './wallet.ts';
import { routeFeeShape } from './wire.ts';

/** How many private routes of an invoice are tried; each is a call of LND. */
const MOST_HINTS = 3;
const PPM = 1_000_000n;

/**
 * Returns what LND's graph says of the fee; see `WalletNode.estimateRoutingFeeMsat`. A receiver that is not in the
 * graph is asked for by the first node of each private route, with the fees that the route states.
 */
export async function estimateRoutingFeeMsat(
  owner: LndRest,
  wallet: LndWallet,
  { nodePk, amountMsat, routeHints }: RoutingQuestion,
): Promise<bigint | null> {
  if (nodePk === wallet.nodePk) return null;
  const directMsat = await graphFeeMsat(owner, nodePk, amountMsat);
  if (directMsat !== null) return directMsat;
  const known: bigint[] = [];
  for (const hint of routeHints.slice(0, MOST_HINTS)) {
    const feeMsat = await hintFeeMsat(owner, wallet, hint, amountMsat);
    if (feeMsat !== null) known.push(feeMsat);
  }
  return known.length === 0 ? null : known.reduce((least, one) => (one < least ? one : least));
}

async function hintFeeMsat(
  owner: LndRest,
  { nodePk }: LndWallet,
  hint: readonly RouteHint[],
  amountMsat: bigint,
): Promise<bigint | null> {
  // The sender of a payment pays itself no fee.
  const own = hint.findLastIndex(({ pubkey }) => pubkey === nodePk);
  const hops = hint.slice(own + 1);
  const atFirstMsat = hops.reduceRight(
    (passedMsat, hop) => passedMsat + hopFeeMsat(hop, passedMsat),
    amountMsat,
  );
  const hintMsat = atFirstMsat - amountMsat;
  const [first] = hops;
  if (own >= 0 || first === undefined) return own >= 0 ? hintMsat : null;
  const toFirstMsat = await graphFeeMsat(owner, first.pubkey, atFirstMsat);
  return toFirstMsat === null ? null : toFirstMsat + hintMsat;
}

function hopFeeMsat(
  { feeBaseMsat, feeProportionalMillionths }: RouteHint,
  passedMsat: bigint,
): bigint {
  return BigInt(feeBaseMsat) + (passedMsat * BigInt(feeProportionalMillionths)) / PPM;
}

/**
 * The fee of a route in LND's graph; null when there is none. With `dest` LND only reads its graph. With
 * `payment_request` it would send probes.
 */
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
