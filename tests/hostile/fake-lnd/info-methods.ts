import type { Channels } from './channels.ts';
import type { Identity } from './identity.ts';
import { blockHash } from './onchain-methods.ts';
import type { JsonObject, RpcMethod } from './rpc.ts';
import type { Wallet } from './wallet.ts';

/** lnrpc.WalletState */
export type WalletState =
  | 'NON_EXISTING'
  | 'LOCKED'
  | 'UNLOCKED'
  | 'RPC_ACTIVE'
  | 'SERVER_ACTIVE'
  | 'WAITING_TO_START';

/** LND's messages while its wallet is not open (rpcperms/interceptor.go). */
export const NOT_OPEN: Readonly<Partial<Record<WalletState, string>>> = {
  NON_EXISTING: 'wallet not created, create one to enable full RPC access',
  LOCKED: 'wallet locked, unlock it to enable full RPC access',
  UNLOCKED: 'the RPC server is in the process of starting up, but not yet ready to accept calls',
  WAITING_TO_START: 'waiting to start, RPC services not available',
};

/** A version that LND does not have, so that nothing recorded with it counts as verified against LND. */
export const FAKE_VERSION = '0.21.2-beta.fake';

interface Told {
  readonly identity: Identity;
  readonly wallet: Wallet;
  readonly channels: Channels;
  readonly state: () => WalletState;
  readonly network: string;
  readonly nowMs: () => number;
  readonly isNativeSql: () => boolean;
}

/** The REST methods about the node and its state. */
export function infoMethods(told: Told): RpcMethod[] {
  return [
    {
      http: 'GET',
      path: '/v1/getinfo',
      rpc: '/lnrpc.Lightning/GetInfo',
      needs: ['info:read'],
      answer: () => infoJson(told),
    },
    {
      http: 'GET',
      path: '/v1/state',
      rpc: '/lnrpc.State/GetState',
      needs: null,
      answer: () => ({ state: told.state() }),
    },
    {
      http: 'GET',
      path: '/v1/getdebuginfo',
      rpc: '/lnrpc.Lightning/GetDebugInfo',
      needs: ['info:read', 'offchain:read', 'onchain:read', 'peers:read'],
      answer: () => ({ config: { 'db.use-native-sql': `${told.isNativeSql()}` }, log: [] }),
    },
  ];
}

function infoJson({ identity, wallet, channels, network, nowMs }: Told): JsonObject {
  return {
    version: `${FAKE_VERSION} commit=v${FAKE_VERSION}`,
    commit_hash: 'f'.repeat(40),
    identity_pubkey: identity.pubkey,
    alias: 'fake',
    color: '#3399ff',
    num_pending_channels: channels.list().filter(({ pending }) => pending).length,
    num_active_channels: 1,
    num_inactive_channels: 0,
    num_peers: 1,
    block_height: wallet.height,
    block_hash: blockHash(wallet.height),
    best_header_timestamp: `${Math.floor(nowMs() / 1000)}`,
    synced_to_chain: true,
    synced_to_graph: true,
    testnet: false,
    chains: [{ chain: 'bitcoin', network }],
    uris: [],
    features: {},
    require_htlc_interceptor: false,
    store_final_htlc_resolutions: false,
    wallet_synced: true,
    graph_cache_status: null,
  };
}
