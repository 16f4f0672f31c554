import type { RouteHint } from '../../../codecs/bolt11/index.ts';
import type { RoutingQuestion } from '../../wallet-node.ts';

/** How many private routes of an invoice are tried; each is a call of the node. */
const MOST_HINTS = 3;
const PPM = 1_000_000n;

/** The fee, in millisatoshis, of a route in the node's own graph; null when there is none. */
type GraphFee = (nodePk: string, amountMsat: bigint) => Promise<bigint | null>;

/**
 * The fee of a payment by the node's graph; see `WalletNode.estimateRoutingFeeMsat`. A receiver that is not in the
 * graph is asked for by the first node of each private route, with the fees that the route states. `ownPk` is the
 * payer.
 */
export async function routeFeeWithHints(
  ownPk: string,
  { nodePk, amountMsat, routeHints }: RoutingQuestion,
  graphFee: GraphFee,
): Promise<bigint | null> {
  if (nodePk === ownPk) return null;
  const directMsat = await graphFee(nodePk, amountMsat);
  if (directMsat !== null) return directMsat;
  const known: bigint[] = [];
  for (const hint of routeHints.slice(0, MOST_HINTS)) {
    const feeMsat = await hintFeeMsat(ownPk, hint, amountMsat, graphFee);
    if (feeMsat !== null) known.push(feeMsat);
  }
  return known.length === 0 ? null : known.reduce((least, one) => (one < least ? one : least));
}

async function hintFeeMsat(
  ownPk: string,
  hint: readonly RouteHint[],
  amountMsat: bigint,
  graphFee: GraphFee,
): Promise<bigint | null> {
  // The sender of a payment pays itself no fee.
  const own = hint.findLastIndex(({ pubkey }) => pubkey === ownPk);
  const hops = hint.slice(own + 1);
  const atFirstMsat = hops.reduceRight(
    (passedMsat, hop) => passedMsat + hopFeeMsat(hop, passedMsat),
    amountMsat,
  );
  const hintMsat = atFirstMsat - amountMsat;
  const [first] = hops;
  if (own >= 0 || first === undefined) return own >= 0 ? hintMsat : null;
  const toFirstMsat = await graphFee(first.pubkey, atFirstMsat);
  return toFirstMsat === null ? null : toFirstMsat + hintMsat;
}

function hopFeeMsat(
  { feeBaseMsat, feeProportionalMillionths }: RouteHint,
  passedMsat: bigint,
): bigint {
  return BigInt(feeBaseMsat) + (passedMsat * BigInt(feeProportionalMillionths)) / PPM;
}
