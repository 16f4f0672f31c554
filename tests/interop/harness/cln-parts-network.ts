import { waitUntil } from '../../support/until.ts';
import type { ClnBinaries } from './binaries.ts';
import { type OnChain, startOnChain } from './chain.ts';
import { fund, openChannel, PUSH_SAT } from './channels.ts';
import { type ClnNode, startCln } from './cln.ts';
import { clnOn } from './cln-network.ts';
import { partsPlugin } from './cln-plugins.ts';
import { clnSteps } from './cln-steps.ts';

/** A chain and three Core Lightning nodes, of which the first can pay the last in parts. */
export interface ClnPartsNetwork extends OnChain {
  /** The version of its nodes, such as `26.06.6`. */
  readonly version: string;
  /** It opened two channels to bob, each with half of it on either side. */
  readonly alice: ClnNode;
  /** He opened a channel to carol, and takes fees for what he passes on. */
  readonly bob: ClnNode;
  /** She can hold each part of what she is paid, and has nothing to send at the start. */
  readonly carol: ClnNode;
}

/** Announced channels, each with two ends. */
const ENDS = 2 * 3;

/** Starts btcd and three Core Lightning nodes, and opens two channels from alice to bob and one from him to carol. */
export function startClnPartsNetwork(binaries: ClnBinaries): Promise<ClnPartsNetwork> {
  return startOnChain(binaries.btcd, async (chain) => {
    const { btcd } = chain;
    const common = clnOn(chain, binaries);
    const plugin = await partsPlugin(chain.folder);
    const [alice, bob, carol] = await Promise.all([
      startCln({ ...common, name: 'alice' }),
      startCln({ ...common, name: 'bob' }),
      startCln({ ...common, name: 'carol', flags: [`--plugin=${plugin}`] }),
    ]);
    const [first, middle, last] = [clnSteps(alice), clnSteps(bob), clnSteps(carol)];
    await fund(btcd, [first, middle], 4n);
    await openChannel(btcd, first, middle, { pushSat: PUSH_SAT });
    await openChannel(btcd, first, middle, { pushSat: PUSH_SAT });
    await openChannel(btcd, middle, last);
    await Promise.all([alice, carol].map(knowsAllChannels));
    await alice.restAnswers();
    return { version: binaries.clnVersion, alice, bob, carol };
  });
}

async function knowsAllChannels({ name, rpc }: ClnNode): Promise<void> {
  await waitUntil(`${name} knows all channels`, async () => {
    const { channels } = await rpc<{ channels: { active: boolean }[] }>('listchannels');
    return channels.filter(({ active }) => active).length === ENDS;
  });
}
