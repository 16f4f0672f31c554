import { base64, hex } from '@scure/base';
import type { NodeSteps } from './channels.ts';
import type { LndNode } from './lnd.ts';

/** The steps of the harness on LND. */
export function lndSteps(node: LndNode): NodeSteps {
  return {
    name: node.name,
    pubkey: node.pubkey,
    peerAddress: node.peerAddress,
    async address() {
      return (await node.rest<{ address: string }>('GET', '/v1/newaddress?type=2')).address;
    },
    async coinsSat() {
      const path = '/v1/balance/blockchain';
      return BigInt(
        (await node.rest<{ confirmed_balance: string }>('GET', path)).confirmed_balance,
      );
    },
    async knowsBlock(height) {
      const info = await node.rest<{ block_height: number; synced_to_chain: boolean }>(
        'GET',
        '/v1/getinfo',
      );
      return info.synced_to_chain && info.block_height >= height;
    },
    async connect(to) {
      const { peers } = await node.rest<{ peers: { pub_key: string }[] }>('GET', '/v1/peers');
      if (peers.some(({ pub_key }) => pub_key === to.pubkey)) return;
      await node.rest('POST', '/v1/peers', { addr: { pubkey: to.pubkey, host: to.peerAddress } });
    },
    open: (to, { fundingSat, pushSat, isPrivate }) =>
      node.rest('POST', '/v1/channels', {
        node_pubkey: base64.encode(hex.decode(to.pubkey)),
        local_funding_amount: `${fundingSat}`,
        push_sat: `${pushSat}`,
        private: isPrivate,
      }),
    async close(to) {
      const { channels } = await node.rest<{
        channels: { remote_pubkey: string; channel_point: string }[];
      }>('GET', '/v1/channels');
      const channel = channels.find(({ remote_pubkey }) => remote_pubkey === to.pubkey);
      const path = `/v1/channels/${channel?.channel_point.replace(':', '/')}`;
      for await (const _ of node.stream('DELETE', path)) return;
    },
    // An active channel does not suffice: a payment fails with no route until both nodes have announced their fees.
    async canRoute() {
      const { channels } = await node.rest<{ channels: { chan_id: string }[] }>(
        'GET',
        '/v1/channels?active_only=true',
      );
      const [channel] = channels;
      if (channel === undefined) return false;
      return isAnnounced(await node.rest<Edge>('GET', `/v1/graph/edge/${channel.chan_id}`));
    },
    async reaches(other) {
      const path = `/v1/graph/node/${other.pubkey}?include_channels=true`;
      return (await node.rest<{ channels: Edge[] }>('GET', path)).channels.some(isAnnounced);
    },
    async hasHtlcs() {
      const { channels } = await node.rest<{ channels: { pending_htlcs: unknown[] }[] }>(
        'GET',
        '/v1/channels',
      );
      return channels.some((channel) => channel.pending_htlcs.length > 0);
    },
  };
}

interface Edge {
  readonly node1_policy: unknown;
  readonly node2_policy: unknown;
}

/** Whether both ends of the channel have told their fees. */
function isAnnounced({ node1_policy, node2_policy }: Edge): boolean {
  return node1_policy !== null && node2_policy !== null;
}
