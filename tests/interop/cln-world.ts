import type { ConformanceWorld } from '../conformance/world.ts';
import { clnOutsider } from './cln-outsider.ts';
import { commitmentsSettled } from './commitments.ts';
import { connectCln } from './connect.ts';
import { caughtUp } from './harness/channels.ts';
import { clnSteps } from './harness/cln-steps.ts';
import { type ClnNetwork, findClnBinaries, startClnNetwork } from './harness/index.ts';
import { outsideControls } from './outside-controls.ts';
import { openRealWorld } from './real-world.ts';

/** All files of a test run share one network, since real nodes take seconds to start. It ends with the process. */
let network: Promise<ClnNetwork> | null = null;

/** The world of the conformance tests on two Core Lightning nodes: alice's is the default wallet and bob's the second. */
export async function openClnWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  network ??= start();
  const { alice, bob, btcd } = await network;
  const outside = clnOutsider(bob);
  const steps = [clnSteps(alice), clnSteps(bob)];
  const controls = outsideControls({
    ...outside,
    btcd,
    alicePubkey: alice.pubkey,
    caughtUp: () => caughtUp(btcd, steps),
    invoice: ({ amountMsat, description, expirySecs }) =>
      outside.invoice({ amount_msat: amountMsat ?? 'any', description, expiry: expirySecs }),
    keysends: async (amountMsat, message) =>
      (await outside.keysends(alice, amountMsat, message)) !== null,
    hasEnded: async (payment_hash) => {
      const { payments } = await alice.rpc<{ payments: { status: string }[] }>('listsendpays', {
        payment_hash,
      });
      return payments.every(({ status }) => status !== 'pending');
    },
  });
  const nodes = {
    aliceCredentials: await connectCln(alice),
    bobCredentials: await connectCln(bob),
    bob,
    controls: {
      ...controls,
      '/sandbox/offer': ({ description = '' }) => outside.offer(description),
    },
    settled: () => commitmentsSettled(steps),
  };
  return openRealWorld(nodes, webhookUrl);
}

async function start(): Promise<ClnNetwork> {
  const [binaries] = findClnBinaries();
  if (binaries === undefined) {
    throw new Error('the conformance tests on Core Lightning need lightningd, clnrest and btcd');
  }
  return startClnNetwork(binaries);
}
