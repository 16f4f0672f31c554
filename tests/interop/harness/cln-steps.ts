import type { NodeSteps } from './channels.ts';
import type { ClnNode } from './cln.ts';

interface PeerChannel {
  readonly state: string;
  readonly peer_connected: boolean;
  readonly private: boolean;
  readonly short_channel_id?: string;
  readonly htlcs?: readonly unknown[];
  readonly updates?: { readonly remote?: unknown };
}

/** One direction of a channel that the node knows from gossip. */
interface GossipChannel {
  readonly source: string;
  readonly destination: string;
  readonly short_channel_id: string;
  readonly direction: number;
  readonly active: boolean;
}

/** The steps of the harness on Core Lightning. */
export function clnSteps({ rpc, ...node }: ClnNode): NodeSteps {
  /** Whether the node knows the fees of both ends of an announced channel for which `isIt` is true. */
  async function knowsBothEnds(isIt: (channel: GossipChannel) => boolean): Promise<boolean> {
    const { channels } = await rpc<{ channels: GossipChannel[] }>('listchannels');
    const ends = channels.filter((one) => one.active && isIt(one));
    return new Set(ends.map((one) => one.direction)).size === 2;
  }

  return {
    name: node.name,
    pubkey: node.pubkey,
    peerAddress: node.peerAddress,
    async address() {
      return (await rpc<{ bech32: string }>('newaddr', { addresstype: 'bech32' })).bech32;
    },
    async coinsSat() {
      const { outputs } = await rpc<{ outputs: { amount_msat: number; status: string }[] }>(
        'listfunds',
      );
      const confirmed = outputs.filter((output) => output.status === 'confirmed');
      return confirmed.reduce((sum, output) => sum + BigInt(output.amount_msat) / 1000n, 0n);
    },
    async knowsBlock(height) {
      return (await rpc<{ blockheight: number }>('getinfo')).blockheight >= height;
    },
    connect: (to) => rpc('connect', { id: `${to.pubkey}@${to.peerAddress}` }),
    open: (to, { fundingSat, pushSat, isPrivate }) =>
      rpc('fundchannel', {
        id: to.pubkey,
        amount: `${fundingSat}sat`,
        push_msat: `${pushSat}sat`,
        announce: !isPrivate,
      }),
    close: (to) => rpc('close', { id: to.pubkey }),
    async canRoute() {
      const { channels } = await rpc<{ channels: PeerChannel[] }>('listpeerchannels');
      const [channel] = channels.filter((one) => one.state === 'CHANNELD_NORMAL');
      if (!channel?.peer_connected || channel.updates?.remote === undefined) return false;
      const id = channel.short_channel_id;
      return channel.private || knowsBothEnds((one) => one.short_channel_id === id);
    },
    reaches: (other) =>
      knowsBothEnds((one) => [one.source, one.destination].includes(other.pubkey)),
    async hasHtlcs() {
      const { channels } = await rpc<{ channels: PeerChannel[] }>('listpeerchannels');
      return channels.some(({ htlcs = [] }) => htlcs.length > 0);
    },
  };
}
