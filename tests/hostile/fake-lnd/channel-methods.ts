import {
  type Channels,
  channelJson,
  closedChannelJson,
  pendingChannelJson,
  waitingCloseJson,
} from './channels.ts';
import { outpointOf, rateOf } from './onchain-methods.ts';
import { type Input, type JsonObject, LndError, type RpcMethod } from './rpc.ts';
import type { Wallet } from './wallet.ts';

const READ = ['offchain:read'];
const SPEND = ['onchain:write', 'offchain:write'];

/** The REST methods of channels and peers. */
export function channelMethods(channels: Channels, wallet: Wallet): RpcMethod[] {
  return [
    {
      http: 'GET',
      path: '/v1/balance/channels',
      rpc: '/lnrpc.Lightning/ChannelBalance',
      needs: READ,
      answer: () => balanceJson(channels),
    },
    {
      http: 'GET',
      path: '/v1/channels',
      rpc: '/lnrpc.Lightning/ListChannels',
      needs: READ,
      answer: () => ({
        channels: channels
          .list()
          .filter(({ pending }) => !pending)
          .map(channelJson),
      }),
    },
    {
      http: 'GET',
      path: '/v1/channels/pending',
      rpc: '/lnrpc.Lightning/PendingChannels',
      needs: READ,
      answer: () => ({
        total_limbo_balance: '0',
        pending_open_channels: channels
          .list()
          .filter(({ pending }) => pending)
          .map(pendingChannelJson),
        pending_closing_channels: [],
        pending_force_closing_channels: [],
        waiting_close_channels: channels.closings(false).map(waitingCloseJson),
      }),
    },
    {
      http: 'GET',
      path: '/v1/channels/closed',
      rpc: '/lnrpc.Lightning/ClosedChannels',
      needs: READ,
      answer: () => ({ channels: channels.closings(true).map(closedChannelJson) }),
    },
    {
      http: 'POST',
      path: '/v1/channels',
      rpc: '/lnrpc.Lightning/OpenChannelSync',
      needs: SPEND,
      answer: ({ input }) => {
        const { point } = open(channels, input);
        const [txid = '', vout] = point.split(':');
        return { funding_txid_bytes: wireTxid(txid), output_index: Number(vout) };
      },
    },
    {
      http: 'DELETE',
      path: '/v1/channels/{txid_str}/{output_index}',
      rpc: '/lnrpc.Lightning/CloseChannel',
      needs: SPEND,
      items: async function* ({ input, signal }) {
        const txid = channels.close(outpointOf(input));
        const blocks = wallet.blocks.follow(signal);
        const closing = wireTxid(txid);
        yield {
          close_pending: {
            txid: closing,
            output_index: 0,
            fee_per_vbyte: '2',
            local_close_tx: true,
          },
        };
        for await (const _ of blocks) {
          if (wallet.get(txid).height === null) continue;
          const outputs = {
            local_close_output: null,
            remote_close_output: null,
            additional_outputs: [],
          };
          yield { chan_close: { closing_txid: closing, success: true, ...outputs } };
          return;
        }
      },
    },
    {
      http: 'POST',
      path: '/v1/peers',
      rpc: '/lnrpc.Lightning/ConnectPeer',
      needs: ['peers:write'],
      answer: ({ input }) => {
        const { pubkey, host } = peerOf(input);
        channels.connect(pubkey, host);
        return { status: `connection to ${pubkey}@${host} initiated` };
      },
    },
    {
      http: 'GET',
      path: '/v1/peers',
      rpc: '/lnrpc.Lightning/ListPeers',
      needs: ['peers:read'],
      answer: () => ({
        peers: [...channels.peers].map(([pubkey, host]) => peerJson(pubkey, host)),
      }),
    },
  ];
}

function open(channels: Channels, input: Input) {
  const pubkey = input.bytes('node_pubkey').toString('hex') || input.text('node_pubkey_string');
  const outpoints = input.list('outpoints').map(outpointOf);
  return channels.open(
    {
      pubkey,
      amountSat: input.int('local_funding_amount'),
      pushSat: input.int('push_sat'),
      memo: input.text('memo'),
      isPrivate: input.bool('private'),
    },
    {
      satPerKw: rateOf(input),
      spendUnconfirmed: input.bool('spend_unconfirmed'),
      ...(outpoints.length > 0 ? { outpoints } : {}),
    },
  );
}

function peerOf(input: Input): { pubkey: string; host: string } {
  const address = input.object('addr');
  const pubkey = address.text('pubkey');
  if (!/^0[23][0-9a-f]{64}$/.test(pubkey)) throw new LndError('invalid peer pubkey');
  return { pubkey, host: address.text('host') };
}

function peerJson(pub_key: string, address: string): JsonObject {
  return {
    pub_key,
    address,
    bytes_sent: '0',
    bytes_recv: '0',
    sat_sent: '0',
    sat_recv: '0',
    inbound: false,
    ping_time: '0',
    sync_type: 'ACTIVE_SYNC',
    features: {},
    errors: [],
    flap_count: 0,
    last_flap_ns: '0',
    last_ping_payload: '',
  };
}

function balanceJson(channels: Channels): JsonObject {
  const sum = (pending: boolean) =>
    channels
      .list()
      .filter((channel) => channel.pending === pending)
      .reduce((total, { localMsat }) => total + localMsat, 0n);
  const amount = (msat: bigint) => ({ sat: `${msat / 1000n}`, msat: `${msat}` });
  return {
    balance: `${sum(false) / 1000n}`,
    pending_open_balance: `${sum(true) / 1000n}`,
    local_balance: amount(sum(false)),
    remote_balance: amount(0n),
    unsettled_local_balance: amount(0n),
    unsettled_remote_balance: amount(0n),
    pending_open_local_balance: amount(sum(true)),
    pending_open_remote_balance: amount(0n),
    custom_channel_data: '',
  };
}

/** A txid in wire byte order, as base64. */
function wireTxid(txid: string): string {
  return Buffer.from(txid, 'hex').reverse().toString('base64');
}
