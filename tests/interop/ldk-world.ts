import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { paymentHashOf } from '../../src/codecs/preimage.ts';
import { ApiError } from '../../src/model/errors.ts';
import type { ConformanceWorld } from '../conformance/world.ts';
import { randomHex } from '../contracts/node/steps.ts';
import { type EsploraChain, startEsploraChain } from '../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { minedUntil, SEEN_WITHIN_MS } from '../support/ldk-network.ts';
import { freePort } from '../support/ports.ts';
import { type Body, succeedingCalls } from '../support/requests.ts';
import { waitUntil } from '../support/until.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { answered, type Controls, withoutFrame } from './outside-controls.ts';

/** A domain on loopback, since without --require-auth no other is allowed. */
const DOMAIN = 'names.localhost';
const COINS_SAT = 20_000_000n;
const COINS = 4;
const CHANNEL_SAT = '10000000';

/**
 * Opens the world of the conformance tests on two LDK nodes, each inside a compiled binary of its own. Alice's is the
 * default wallet; bob's is the second, and acts as the outside world: what is asked with credentials of his goes to his
 * sidecar.
 */
export async function openLdkWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  const chain = startEsploraChain();
  const folder = temporaryFolder('ldk-world');
  const open = async (name: string, flags: readonly string[]) => {
    const seedPath = join(folder, name);
    writeFileSync(seedPath, randomHex(32), { mode: 0o600 });
    return startNodeSidecar([
      ...['--node', 'ldk', '--network', 'regtest', '--esplora-url', chain.url],
      ...['--root-seed-path', seedPath, '--address-domain', DOMAIN, ...flags],
      ...(webhookUrl === undefined ? [] : ['--webhook-url', webhookUrl]),
    ]);
  };
  const bobsAddress = `127.0.0.1:${freePort()}`;
  const bob = await open('bob', ['--lightning-listen-addr', bobsAddress]);
  const bobPk: string = (await bob.get('/v2/node/node_info')).node_pk;
  const listen = `127.0.0.1:${freePort()}`;
  const alice = await open('alice', [
    ...['--channel-peer', `${bobPk}@${bobsAddress}`, '--lightning-listen-addr', listen],
  ]);
  const { node_pk } = await alice.get('/v2/node/node_info');
  await openChannels(chain, [
    [alice, `${bobPk}@${bobsAddress}`],
    [bob, `${node_pk}@${listen}`],
  ]);
  const bobs = new Set<string>();
  const toBob: NodeSidecar['call'] = async (...request) => {
    const answer = await bob.call(...request);
    if (answer.body?.client_credentials) bobs.add(answer.body.client_credentials);
    return answer;
  };
  const asBob = succeedingCalls(toBob);
  const newBob = () => asBob.post('/v2/node/create_client', { scopes: ['full'], label: 'sandbox' });
  const controls: Controls = {
    ...ldkControls(chain, alice, asBob, node_pk),
    '/sandbox/wallets': async () => {
      const { client_credentials } = await newBob();
      return { client_credentials, node_pk: bobPk };
    },
  };
  const call: ConformanceWorld['call'] = async (method, path, options = {}) => {
    const control = path.startsWith('/sandbox/') ? controls[path] : undefined;
    if (control) return answered(() => control(options.body as Body));
    const { credentials } = options;
    const isBobs = credentials !== undefined && bobs.has(credentials);
    const answer = await (isBobs ? toBob : alice.call)(method, path, options);
    // The one who is paid looks at the chain once in a while.
    if (path === '/v2/node/pay_onchain' && answer.status === 200) await Bun.sleep(SEEN_WITHIN_MS);
    return answer;
  };
  return {
    baseUrl: alice.baseUrl,
    port: Number(new URL(alice.baseUrl).port),
    domain: DOMAIN,
    dataDir: alice.dataDir,
    bob: (await newBob()).client_credentials,
    call,
    ...succeedingCalls(call),
    async restart() {
      expect(await alice.stop()).toBe(0);
      await alice.start();
      await usable(alice);
    },
    sidecar: () => alice.process(),
    async close() {
      await Promise.all([alice.close(), bob.close()]);
      chain.stop();
      removeFolder(folder);
    },
  };
}

const usable = (sidecar: NodeSidecar) =>
  waitUntil(
    'its channels can be used',
    async () => (await sidecar.get('/v2/node/node_info')).num_usable_channels === 2,
  );

/** Gives both coins, and each a channel with the other. */
async function openChannels(
  chain: EsploraChain,
  nodes: readonly (readonly [sidecar: NodeSidecar, peer: string])[],
): Promise<void> {
  for (const [sidecar] of nodes) {
    const { address } = await sidecar.post('/v2/node/get_next_unused_address');
    for (let made = 0; made < COINS; made++) chain.fund(address, COINS_SAT);
  }
  chain.mine(6);
  for (const [sidecar, peer] of nodes) {
    await waitUntil(
      'the coins are there',
      async () => (await sidecar.get('/v2/node/node_info')).onchain_balance !== '0',
    );
    const order = { value: CHANNEL_SAT, peer, user_channel_id: randomHex(16) };
    await sidecar.post('/v2/node/open_channel', order);
  }
  const counts = async () =>
    Promise.all(
      nodes.map(async ([one]) => (await one.get('/v2/node/node_info')).num_usable_channels),
    );
  await minedUntil(
    chain,
    async () => (await counts()).every((count) => count === 2),
    'both channels can be used',
  );
  // A payee that is a block ahead of its payer finds that the payer leaves too little time.
  await Bun.sleep(SEEN_WITHIN_MS);
}

/** The sandbox's controls, carried out by the chain and by bob's sidecar. */
function ldkControls(
  chain: EsploraChain,
  alice: NodeSidecar,
  bob: ReturnType<typeof succeedingCalls>,
  alicePk: string,
): Controls {
  const held = new Map<string, { readonly index: string; readonly preimage: string }>();
  return {
    async '/sandbox/blocks'({ count }) {
      await Bun.sleep(SEEN_WITHIN_MS);
      chain.mine(count);
      await Bun.sleep(2 * SEEN_WITHIN_MS);
      return { height: chain.height() };
    },
    async '/sandbox/invoice'({ amount, behavior, description = '', expiration_secs = 3600 }) {
      const preimage = randomHex(32);
      const made = await bob.post('/v2/node/create_invoice', {
        ...{ amount, expiration_secs },
        ...(description !== '' && { description }),
        ...(behavior === 'hold' && { payment_hash: paymentHashOf(preimage) }),
      });
      const { invoice, index, payment_hash } = made;
      if (behavior === 'hold') held.set(payment_hash, { index, preimage });
      if (behavior === 'fail') await bob.post('/v2/node/cancel_payment', { index });
      return { invoice, payment_hash };
    },
    '/sandbox/offer': ({ description }) =>
      bob.post('/v2/node/create_offer', description ? { description } : {}),
    async '/sandbox/holds'({ payment_hash, settle }) {
      const hold = held.get(payment_hash);
      if (hold === undefined) throw new ApiError('notFound', 'No such held payment');
      held.delete(payment_hash);
      const { index, preimage } = hold;
      await waitUntil(
        'it is held',
        async () => (await bob.get('/v2/node/payment', { index })).status_msg === 'held',
      );
      if (settle) await bob.post('/v2/node/settle_invoice', { index, preimage });
      else await bob.post('/v2/node/cancel_payment', { index });
      await waitUntil('the payer knows', async () => {
        const id = `ln_${payment_hash}`;
        const { payments } = await alice.get('/v2/node/list_payments', { filter: 'pending' });
        return !payments.some(
          (one: Body) => one.index.endsWith(id) && one.direction === 'outbound',
        );
      });
      return {};
    },
    async '/sandbox/pay'({ payable, amount, message }) {
      if (payable.startsWith('bcrt1')) {
        chain.fund(payable, BigInt(amount ?? 0));
        return { status: 'pending' };
      }
      if (payable === alicePk) {
        const order = { node_pk: payable, amount: amount ?? '1', message };
        return { status: (await bob.post('/v2/node/pay_spontaneous', order)).status };
      }
      const order = { payable: withoutFrame(payable), amount };
      return { status: (await bob.post('/v2/node/pay', order)).status };
    },
  };
}
