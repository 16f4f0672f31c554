import type { NodeInfo } from '../../model/node-info.ts';
import { liveChannels } from './lightning/channels.ts';
import { routingFeeMsat } from './lightning/routing-fee.ts';
import { onchainBalances } from './onchain/funds.ts';
import { walletKeys } from './world/wallets.ts';
import type { World } from './world/world.ts';

/** Returns the identity and balances of a wallet's node. */
export function nodeInfo(
  world: World,
  userPk: string,
  { version, measurement }: { readonly version: string; readonly measurement: string },
): NodeInfo {
  const { balanceMsat, maxSendableMsat, numChannels, numUsableChannels } = lightning(world, userPk);
  return {
    version,
    measurement,
    userPk,
    nodePk: walletKeys(world, userPk).nodePk,
    lightningBalanceMsat: balanceMsat,
    lightningSendableMsat: withoutRoutingFee(maxSendableMsat),
    lightningMaxSendableMsat: maxSendableMsat,
    ...onchainBalances(world, userPk),
    numChannels,
    numUsableChannels,
  };
}

/** Returns what a wallet has in its channels. */
export function lightning(world: World, userPk: string) {
  const channels = liveChannels(world, userPk);
  return {
    balanceMsat: channels.reduce((sum, channel) => sum + channel.ourBalanceMsat, 0n),
    maxSendableMsat: channels.reduce((sum, channel) => sum + channel.outboundCapacityMsat, 0n),
    numChannels: channels.length,
    numUsableChannels: channels.filter((channel) => channel.isUsable).length,
  };
}

/** The most that can be sent to the outside world after the routing fee. */
function withoutRoutingFee(maxSendableMsat: bigint): bigint {
  let amountMsat = maxSendableMsat;
  // The fee follows the amount; after two rounds the result does not change any more.
  for (let round = 0; round < 3; round++) amountMsat = maxSendableMsat - routingFeeMsat(amountMsat);
  return amountMsat > 0n ? amountMsat : 0n;
}
