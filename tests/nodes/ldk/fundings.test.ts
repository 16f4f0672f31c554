import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { shapes } from '../../../src/nodes/ldk/words/words.ts';
import type { WalletNode } from '../../../src/nodes/node.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { hasLdkHelper, type LdkNetwork, openLdkNetwork } from '../../support/ldk-network.ts';
import { ldkScripts } from '../../support/ldk-scripts.ts';
import { until } from '../../support/until.ts';

setDefaultTimeout(90_000);
const HELPER = hasLdkHelper();
const VALUE_MSAT = 200_000_000n;
let network: LdkNetwork;
let node: WalletNode;

beforeAll(async () => {
  if (!HELPER) return;
  network = await openLdkNetwork();
  ({ node } = await network.connector.connectRoot(network.rootSeed));
});

afterAll(async () => {
  await network?.close();
});

const open = async (userChannelId = randomHex(16)) => {
  await node.channels?.openChannel({
    ...{ valueMsat: VALUE_MSAT, userChannelId, peer: null, maxFeeMsat: null },
  });
  return userChannelId;
};

/** Whether the channel can be used and the wallet shows each coin that the chain has for it, and no other. */
async function areRight(...ids: readonly string[]): Promise<boolean> {
  const channels = (await node.channels?.listChannels()) ?? [];
  const usable = channels.filter((one) => one.isUsable).map((one) => one.userChannelId);
  const { onchainBalanceMsat, lightningBalanceMsat } = await node.info();
  const oursMsat = channels.reduce((sum, one) => sum + one.ourBalanceMsat, 0n);
  return (
    ids.every((id) => usable.includes(id)) &&
    onchainBalanceMsat === network.chain.unspentSat(ldkScripts(network.rootSeed)) * 1000n &&
    lightningBalanceMsat === oursMsat
  );
}

test.skipIf(!HELPER)('channels that are opened at once spend coins of their own', async () => {
  const ids = await Promise.all([open(), open(), open()]);
  await until(async () => {
    await network.mine(6);
    return areRight(...ids);
  }, 'all three can be used');
});

test.skipIf(!HELPER)(
  'no channel is opened while a signed send is not published, and one is after it was given back',
  async () => {
    const { call } = network.outside;
    const order = { script: `0014${'ab'.repeat(20)}`, amount_msat: 1_000_000n, sat_per_vbyte: 2 };
    const { inputs } = await call<{ inputs: string[] }>('sign', order, shapes().signed);
    const peer = { pk: (await node.info()).nodePk, address: '127.0.0.1:1' };
    const opening = { user_id: randomHex(16), peer, value_msat: VALUE_MSAT };
    const openIt = () => call<{ first: boolean }>('open_channel', opening, shapes().channel);
    expect(await openIt().catch((error: unknown) => error)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is signed and not published yet'),
    });
    await call('release', { inputs }, shapes().done);
    expect((await openIt()).first).toBe(true);
  },
);

test.skipIf(!HELPER)('a channel whose funding was not taken is not counted twice', async () => {
  const before = await node.info();
  const totalMsat = before.onchainBalanceMsat + before.lightningBalanceMsat;
  network.chain.takesNothing = true;
  const id = await open();
  const { onchainBalanceMsat, lightningBalanceMsat } = await node.info();
  network.chain.takesNothing = false;
  expect(onchainBalanceMsat + lightningBalanceMsat).toBe(totalMsat);
  await until(async () => {
    await network.mine(6);
    return areRight(id);
  }, 'it can be used');
});

test.skipIf(!HELPER)(
  'a funding that a kill kept from the chain is published afterwards',
  async () => {
    network.chain.takesNothing = true;
    const id = await open();
    await network.killHelper();
    network.chain.takesNothing = false;
    await until(async () => (await node.info().catch(() => null)) !== null, 'the node is back');
    await until(async () => {
      await network.mine(6);
      return areRight(id);
    }, 'it can be used');
  },
);
