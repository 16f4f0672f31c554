import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { NodeCredentials } from '../../src/model/credentials.ts';
import { openCln } from '../../src/nodes/cln/index.ts';
import { openLnd } from '../../src/nodes/lnd/index.ts';
import type { NodeConnector } from '../../src/nodes/node.ts';
import type { NodeWorld } from '../contracts/node/kind.ts';
import { memoryState } from '../support/memory-state.ts';
import { remoteOptions } from '../support/remote-options.ts';
import { waitUntil } from '../support/until.ts';
import { commitmentsSettled } from './commitments.ts';
import { caughtUp } from './harness/channels.ts';
import type { RealNetwork, RealNode } from './kinds.ts';
import type { HoldInvoice } from './outsider.ts';

const OPEN = { lnd: openLnd, cln: openCln };

/**
 * The connector of these wallets of one kind, whose channel peer is bob. `elapsedMs` is a monotonic clock in place of
 * the machine's.
 */
export function openConnector(
  { bob }: { readonly bob: Pick<RealNode, 'pubkey' | 'peerAddress'> },
  entries: readonly [NodeCredentials, ...NodeCredentials[]],
  state = memoryState(),
  elapsedMs?: () => number,
): NodeConnector {
  return OPEN[entries[0].kind](
    remoteOptions(entries, {
      state,
      ...(elapsedMs && { elapsedMs }),
      channelPeer: { pubkey: bob.pubkey, host: bob.peerAddress },
    }),
  );
}

/** Alice's wallet for the contract of nodes. The others are bob and the miner. */
export async function openNodeWorld(network: RealNetwork): Promise<NodeWorld> {
  const { alice, bob, btcd, channelUsable } = network;
  const entry = await alice.entry();
  const connector = openConnector(network, [entry]);
  const steps = [alice.steps, bob.steps];
  const held = new Map<string, HoldInvoice>();
  const bobsAddress = await bob.steps.address();
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
          const hold = await bob.holds(`${amountMsat}`);
          held.set(hold.hash, hold);
          return hold;
        }
        const made = await bob.invoice({ amountMsat: `${amountMsat}`, expirySecs });
        if (behavior === 'fail') await bob.cancel(made.hash);
        return made;
      },
      async decide(hash, settle) {
        const hold = held.get(hash);
        await hold?.accepted();
        await (settle ? hold?.settle() : hold?.cancel());
      },
      async pays(invoice) {
        if (!(await bob.pays(invoice))) throw new Error('The invoice cannot be paid.');
      },
      async paysHeld(invoice) {
        const { isHeld } = alice;
        if (isHeld === null) throw new Error('The node holds no invoices.');
        const { paymentHash } = decodeBolt11(invoice);
        const over = bob.pays(invoice).then(() => Promise.reject(new Error('It was not held.')));
        await Promise.race([over, waitUntil('the payment is held', () => isHeld(paymentHash))]);
        over.catch(() => undefined);
      },
      address: () => bobsAddress,
      async sendsCoins(address, amountMsat) {
        await btcd.send([{ address, amountSat: amountMsat / 1000n }]);
        await mine(1);
      },
      mine,
      advanceClock: () => Promise.reject(new Error('The clock of a real node cannot be moved.')),
      offer: bob.offer && (async () => (await bob.offer?.('tea'))?.offer ?? ''),
      cut: {
        away: () => alice.stop(),
        async back() {
          await alice.start();
          await channelUsable();
        },
      },
    },
    close: () => connector.close(),
  };
}
