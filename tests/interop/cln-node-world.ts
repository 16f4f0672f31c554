import { systemClock } from '../../src/lib/clock.ts';
import { encodeNodeCredentials, type NodeCredentials } from '../../src/model/credentials.ts';
import { openCln } from '../../src/nodes/cln/index.ts';
import type { NodeConnector } from '../../src/nodes/node.ts';
import type { NodeWorld } from '../contracts/node/kind.ts';
import { type FaultProxy, startFaultProxy } from '../hostile/fault-proxy.ts';
import { memoryState } from '../support/memory-state.ts';
import { clnOutsider } from './cln-outsider.ts';
import { commitmentsSettled } from './commitments.ts';
import { caughtUp } from './harness/channels.ts';
import { clnSteps } from './harness/cln-steps.ts';
import type { ClnNetwork, ClnNode } from './harness/index.ts';
import type { HoldInvoice } from './outsider.ts';

/** The configured wallet of a node, with its own rune. */
export async function entryOf({ url, certPath, pubkey, rune }: ClnNode) {
  return {
    kind: 'cln' as const,
    url,
    cert: await Bun.file(certPath).text(),
    nodePk: pubkey,
    network: 'regtest' as const,
    token: rune,
  } satisfies NodeCredentials;
}

/** Starts a proxy before a node's clnrest, by which answers can be lost, and makes credentials that name the proxy. */
export async function behindFaultProxy(
  node: ClnNode,
): Promise<{ readonly proxy: FaultProxy; readonly credentials: string }> {
  const entry = await entryOf(node);
  const proxy = await startFaultProxy({ url: entry.url, cert: entry.cert });
  const place = { url: proxy.url, cert: proxy.cert };
  return { proxy, credentials: encodeNodeCredentials({ ...entry, ...place }) };
}

/** The connector of these wallets, whose channel peer is bob. `elapsedMs` is a monotonic clock in place of the machine's. */
export function openConnector(
  { bob }: ClnNetwork,
  entries: readonly NodeCredentials[],
  state = memoryState(),
  elapsedMs?: () => number,
): NodeConnector {
  return openCln({
    state,
    ...(elapsedMs && { elapsedMs }),
    clock: systemClock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    root: null,
    entries,
    proxy: null,
    channelPeer: { pubkey: bob.pubkey, host: bob.peerAddress },
    mark: 'aa'.repeat(16),
  });
}

/** Alice's wallet for the contract of nodes. The others are bob and the miner. */
export async function openClnNodeWorld(network: ClnNetwork): Promise<NodeWorld> {
  const { alice, bob, btcd, channelUsable } = network;
  const entry = await entryOf(alice);
  const connector = openConnector(network, [entry]);
  const outside = clnOutsider(bob);
  const steps = [clnSteps(alice), clnSteps(bob)];
  const held = new Map<string, HoldInvoice>();
  const { bech32 } = await bob.rpc<{ bech32: string }>('newaddr', { addresstype: 'bech32' });
  const mine = async (blocks: number) => {
    await btcd.generate(blocks);
    await caughtUp(btcd, steps);
  };
  return {
    connector,
    async openOwner() {
      const wallet = await connector.connectConfigured(entry);
      // A balance changes with the commitment, a moment after the payment has ended.
      const info = async () => {
        await commitmentsSettled(steps);
        return wallet.node.info();
      };
      return { ...wallet, node: { ...wallet.node, info } };
    },
    outside: {
      async invoice({ amountMsat, behavior, expirySecs = 3600 }) {
        if (behavior === 'hold') {
          const hold = await outside.holds(`${amountMsat}`);
          held.set(hold.hash, hold);
          return hold;
        }
        const made = await outside.invoice({ amount_msat: `${amountMsat}`, expiry: expirySecs });
        if (behavior === 'fail') await outside.cancel(made.hash);
        return made;
      },
      async decide(hash, settle) {
        const hold = held.get(hash);
        await hold?.accepted();
        await (settle ? hold?.settle() : hold?.cancel());
      },
      async pays(invoice) {
        if (!(await outside.pays(invoice))) throw new Error('The invoice cannot be paid.');
      },
      paysHeld: () => Promise.reject(new Error('Core Lightning holds no invoices.')),
      address: () => bech32,
      async sendsCoins(address, amountMsat) {
        await btcd.send([{ address, amountSat: amountMsat / 1000n }]);
        await mine(1);
      },
      mine,
      advanceClock: () => Promise.reject(new Error('The clock of a real node cannot be moved.')),
      offer: async () => (await outside.offer('tea')).offer,
      async cut() {
        await alice.stop();
        await alice.start();
        await channelUsable();
      },
    },
    close: () => connector.close(),
  };
}
