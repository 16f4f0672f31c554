import { join } from 'node:path';
import { base64, hex } from '@scure/base';
import { temporaryFolder } from '../../support/folder.ts';
import { waitUntil } from '../../support/until.ts';
import type { Binaries } from './binaries.ts';
import { type Btcd, startBtcd } from './btcd.ts';
import { startFeeEstimates } from './fee-estimates.ts';
import { type LndNode, type LndProcess, startLnd, startLndProcess } from './lnd.ts';
import { startReaper } from './reaper.ts';

const ONCHAIN_SAT = 50_000_000n;
const CHANNEL_SAT = 10_000_000n;
const PUSH_SAT = 5_000_000n;

/** A chain and two nodes that can pay each other. */
export interface Network {
  /** The version of its LND nodes, such as `0.21.2-beta`. */
  readonly version: string;
  readonly btcd: Btcd;
  /** The node that opened the channel. It has 0.5 BTC on chain, less the 0.1 of the channel, half of which is bob's. */
  readonly alice: LndNode;
  /** The other node. It has 0.5 BTC on chain. */
  readonly bob: LndNode;
  /** Resolves when the channel can carry payments, such as after a restart of either node. */
  channelUsable(): Promise<void>;
  /**
   * Adds a node to which bob opens a channel, so that alice pays it through bob and pays his fee. Resolves when alice
   * knows the route. No other node learns of a private channel.
   */
  addBeyondBob(name: string, options?: { readonly isPrivate?: boolean }): Promise<LndNode>;
  /** Adds a node on the same chain without a wallet, macaroons and channels. */
  addFreshNode(name: string): Promise<LndProcess>;
  /** Kills every process and removes every file. Call it in `afterAll`. */
  stop(): Promise<void>;
}

/**
 * Starts btcd and two LND nodes, funds both and opens a channel from alice to bob, with half of it on bob's side.
 * Everything is on 127.0.0.1 and in one temporary folder. Nothing remains if a step fails, or if the test run ends
 * without `stop`.
 */
export async function startNetwork(binaries: Binaries): Promise<Network> {
  const folder = temporaryFolder('interop');
  const reaper = startReaper(folder);
  const fees = startFeeEstimates();
  const stop = async (): Promise<void> => {
    await reaper.reap();
    await fees.stop();
  };
  try {
    const { btcd, access } = await startBtcd(binaries.btcd, join(folder, 'btcd'), reaper);
    const common = {
      binary: binaries.lnd,
      parentFolder: folder,
      chain: access,
      feeUrl: fees.url,
      reaper,
    };
    const [alice, bob] = await Promise.all([
      startLnd({ ...common, name: 'alice' }),
      startLnd({ ...common, name: 'bob' }),
    ]);
    const channelUsable = async (): Promise<void> => {
      await Promise.all([usable(alice), usable(bob)]);
    };
    await fund(btcd, [alice, bob]);
    await openChannel(btcd, alice, bob, PUSH_SAT);
    await channelUsable();
    const addBeyondBob: Network['addBeyondBob'] = async (name, { isPrivate = false } = {}) => {
      const node = await startLnd({ ...common, name });
      await openChannel(btcd, bob, node, 0n, isPrivate);
      await usable(node);
      if (isPrivate) return node;
      await waitUntil(`${alice.name} knows the way to ${name}`, () => isReached(alice, node));
      return node;
    };
    return {
      version: binaries.lndVersion,
      btcd,
      alice,
      bob,
      channelUsable,
      addBeyondBob,
      addFreshNode: (name) => startLndProcess({ ...common, name, wallet: 'none' }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function fund(btcd: Btcd, nodes: readonly LndNode[]): Promise<void> {
  const outputs = await Promise.all(
    nodes.map(async (node) => {
      const { address } = await node.rest<{ address: string }>('GET', '/v1/newaddress?type=2');
      return { address, amountSat: ONCHAIN_SAT };
    }),
  );
  for (const output of outputs) await btcd.send([output]);
  await btcd.generate(1);
  await Promise.all(
    nodes.map((node) =>
      waitUntil(`${node.name} has coins`, async () => {
        const balance = await node.rest<{ confirmed_balance: string }>(
          'GET',
          '/v1/balance/blockchain',
        );
        return BigInt(balance.confirmed_balance) === ONCHAIN_SAT;
      }),
    ),
  );
}

async function openChannel(
  btcd: Btcd,
  from: LndNode,
  to: LndNode,
  pushSat: bigint,
  isPrivate = false,
): Promise<void> {
  await from.rest('POST', '/v1/peers', { addr: { pubkey: to.pubkey, host: to.peerAddress } });
  // Both nodes refuse a channel until they have read the newest block.
  await Promise.all([caughtUp(btcd, from), caughtUp(btcd, to)]);
  await from.rest('POST', '/v1/channels', {
    node_pubkey: base64.encode(hex.decode(to.pubkey)),
    local_funding_amount: `${CHANNEL_SAT}`,
    push_sat: `${pushSat}`,
    private: isPrivate,
  });
  await btcd.generate(6);
  await Promise.all([caughtUp(btcd, from), caughtUp(btcd, to)]);
}

async function caughtUp(btcd: Btcd, node: LndNode): Promise<void> {
  const tip = await btcd.height();
  await waitUntil(`${node.name} knows block ${tip}`, async () => {
    const info = await node.rest<{ block_height: number; synced_to_chain: boolean }>(
      'GET',
      '/v1/getinfo',
    );
    return info.synced_to_chain && info.block_height >= tip;
  });
}

/**
 * Resolves when a node can route over its channel. An active channel does not suffice: a payment fails with no route
 * until both nodes have announced their fees to each other.
 */
async function usable(node: LndNode): Promise<void> {
  await waitUntil(`${node.name} can route over its channel`, async () => {
    const { channels } = await node.rest<{ channels: { chan_id: string }[] }>(
      'GET',
      '/v1/channels?active_only=true',
    );
    const [channel] = channels;
    return channel !== undefined && isAnnounced(node, channel.chan_id);
  });
}

async function isAnnounced(node: LndNode, channelId: string): Promise<boolean> {
  const edge = await node.rest<{ node1_policy: unknown; node2_policy: unknown }>(
    'GET',
    `/v1/graph/edge/${channelId}`,
  );
  return edge.node1_policy !== null && edge.node2_policy !== null;
}

/** Whether `from` knows a channel of `to`, with the fees of both its ends. */
async function isReached(from: LndNode, to: LndNode): Promise<boolean> {
  const { channels } = await to.rest<{ channels: { chan_id: string }[] }>('GET', '/v1/channels');
  const [channel] = channels;
  return channel !== undefined && isAnnounced(from, channel.chan_id);
}
