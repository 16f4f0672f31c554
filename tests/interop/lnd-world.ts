import type { ConformanceWorld } from '../conformance/world.ts';
import { commitmentsSettled } from './commitments.ts';
import { connectLnd } from './connect.ts';
import { caughtUp } from './harness/channels.ts';
import { findBinaries, type Network, startNetwork } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { outsideControls } from './outside-controls.ts';
import { outsider } from './outsider.ts';
import { openRealWorld } from './real-world.ts';

/** All files of a test run share one network, since real nodes take seconds to start. It ends with the process. */
let network: Promise<Network> | null = null;

/** The world of the conformance tests on two LND nodes: alice's is the default wallet and bob's the second one. */
export async function openLndWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  network ??= start();
  const { alice, bob, btcd } = await network;
  const outside = outsider(bob);
  const steps = [lndSteps(alice), lndSteps(bob)];
  const controls = outsideControls({
    ...outside,
    btcd,
    alicePubkey: alice.pubkey,
    caughtUp: () => caughtUp(btcd, steps),
    invoice: ({ amountMsat, description, expirySecs }) =>
      outside.invoice({
        value_msat: amountMsat ?? '0',
        memo: description,
        expiry: `${expirySecs}`,
      }),
    pays: async (invoice, amountMsat) => (await outside.pays(invoice, amountMsat)) === 'SUCCEEDED',
    async keysends(amountMsat, message) {
      return (await outside.keysends(alice, amountMsat, message)).status === 'SUCCEEDED';
    },
    async hasEnded(hash) {
      const { payments } = await alice.rest<{
        payments: { payment_hash: string; status: string }[];
      }>('GET', '/v1/payments?include_incomplete=true&reversed=true&max_payments=20');
      return payments.find((payment) => payment.payment_hash === hash)?.status !== 'IN_FLIGHT';
    },
  });
  const nodes = {
    aliceCredentials: await connectLnd(alice),
    bobCredentials: await connectLnd(bob),
    bob,
    controls,
    settled: () => commitmentsSettled(steps),
  };
  return openRealWorld(nodes, webhookUrl);
}

async function start(): Promise<Network> {
  const [binaries] = findBinaries();
  if (binaries === undefined) throw new Error('the conformance tests on LND need lnd and btcd');
  return startNetwork(binaries);
}
