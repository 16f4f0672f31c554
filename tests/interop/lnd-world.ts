import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '../../src/model/errors.ts';
import type { ConformanceWorld } from '../conformance/world.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { type Answer, type Body, succeedingCalls } from '../support/requests.ts';
import { waitUntil } from '../support/until.ts';
import { commitmentsSettled } from './commitments.ts';
import { connectLnd } from './connect.ts';
import { findBinaries, type Network, startNetwork } from './harness/index.ts';
import { startNodeSidecar } from './node-sidecar.ts';
import { type HoldInvoice, outsider } from './outsider.ts';

/**
 * The world of the conformance tests on real nodes: the default wallet is alice's LND and the second wallet is bob's.
 * The sandbox's controls are carried out with bob's LND and btcd.
 */
export async function openLndWorld(webhookUrl?: string): Promise<ConformanceWorld> {
  network ??= start();
  return openWorldOn(await network, webhookUrl);
}

/** A domain on loopback, since without --require-auth no other is allowed. */
const DOMAIN = 'names.localhost';

/** All files of a test run share one network, since real nodes take seconds to start. It ends with the process. */
let network: Promise<Network> | null = null;

async function start(): Promise<Network> {
  const [binaries] = findBinaries();
  if (binaries === undefined) throw new Error('the conformance tests on LND need lnd and btcd');
  return startNetwork(binaries);
}

async function openWorldOn(network: Network, webhookUrl?: string): Promise<ConformanceWorld> {
  const bob = await connectLnd(network.bob);
  // The sidecar connects only to nodes that the configuration names (docs/decisions.md 56).
  const folder = temporaryFolder('lnd-world');
  const bobPath = join(folder, 'bob.credentials');
  writeFileSync(bobPath, `${bob}\n`, { mode: 0o600 });
  const sidecar = await startNodeSidecar([
    '--client-credentials',
    await connectLnd(network.alice),
    '--node-credentials-path',
    bobPath,
    '--channel-peer',
    `${network.bob.pubkey}@${network.bob.peerAddress}`,
    ...['--address-domain', DOMAIN],
    ...(webhookUrl === undefined ? [] : ['--webhook-url', webhookUrl]),
  ]);
  const controls: Readonly<Record<string, Control>> = {
    ...outsideWorld(network),
    // There are only two wallets, so each call creates another client of bob's.
    async '/sandbox/wallets'() {
      const body = { scopes: ['full'], label: 'sandbox' };
      const { client_credentials } = await sidecar.post('/v2/node/create_client', body, bob);
      return { client_credentials, node_pk: network.bob.pubkey };
    },
  };
  const call: ConformanceWorld['call'] = async (method, path, options = {}) => {
    const control = path.startsWith('/sandbox/') ? controls[path] : undefined;
    if (control) return answered(() => control(options.body as Body));
    if (path === '/v2/node/node_info') await commitmentsSettled(network);
    return sidecar.call(method, path, options);
  };
  return {
    baseUrl: sidecar.baseUrl,
    port: Number(new URL(sidecar.baseUrl).port),
    domain: DOMAIN,
    dataDir: sidecar.dataDir,
    bob,
    call,
    ...succeedingCalls(call),
    async restart() {
      expect(await sidecar.stop()).toBe(0);
      await sidecar.start();
    },
    sidecar: () => sidecar.process(),
    async close() {
      await sidecar.close();
      removeFolder(folder);
    },
  };
}

type Control = (body: Body) => Promise<unknown>;

function outsideWorld({ alice, bob, btcd }: Network): Readonly<Record<string, Control>> {
  const outside = outsider(bob);
  const holds = new Map<string, HoldInvoice>();
  const mine = async (count: number) => {
    await btcd.generate(count);
    const tip = await btcd.height();
    for (const node of [alice, bob]) {
      await waitUntil('the tip is known', async () => {
        const info = await node.rest<{ block_height: number; synced_to_chain: boolean }>(
          'GET',
          '/v1/getinfo',
        );
        return info.synced_to_chain && info.block_height >= tip;
      });
    }
    return { height: tip };
  };
  const invoice = async (body: Body) => {
    const amountMsat = `${Math.round(Number(body.amount ?? 0) * 1000)}`;
    if (body.behavior === 'hold') {
      const hold = await outside.holds(amountMsat);
      holds.set(hold.hash, hold);
      return { invoice: hold.invoice, payment_hash: hold.hash };
    }
    const made = await outside.invoice({
      value_msat: amountMsat,
      memo: body.description ?? '',
      expiry: `${body.expiration_secs ?? 3600}`,
    });
    if (body.behavior === 'fail') await outside.cancel(made.hash);
    return { invoice: made.invoice, payment_hash: made.hash };
  };
  return {
    '/sandbox/invoice': invoice,
    '/sandbox/blocks': ({ count }) => mine(count),
    async '/sandbox/holds'({ payment_hash, settle }) {
      const hold = holds.get(payment_hash);
      if (hold === undefined) throw new ApiError('notFound', 'No such held payment');
      holds.delete(payment_hash);
      await hold.accepted();
      await (settle ? hold.settle() : hold.cancel());
      await waitUntil('the payer knows', async () => {
        const { payments } = await alice.rest<{
          payments: { payment_hash: string; status: string }[];
        }>('GET', '/v1/payments?include_incomplete=true&reversed=true&max_payments=20');
        const paid = payments.find((payment) => payment.payment_hash === payment_hash);
        return paid?.status !== 'IN_FLIGHT';
      });
      return {};
    },
    async '/sandbox/pay'({ payable, amount, message }) {
      const amountMsat = amount === undefined ? undefined : `${Math.round(Number(amount) * 1000)}`;
      if (payable === alice.pubkey) {
        const { status } = await outside.keysends(alice, amountMsat ?? '1000', message ?? '');
        return { status: status === 'SUCCEEDED' ? 'completed' : 'failed' };
      }
      if (payable.startsWith('bcrt1')) {
        await btcd.send([{ address: payable, amountSat: BigInt(amount ?? 0) }]);
        return { status: 'pending' };
      }
      const link = payable.slice(payable.indexOf('lnbcrt'));
      const status = await outside.pays(link, amountMsat);
      return { status: status === 'SUCCEEDED' ? 'completed' : 'failed' };
    },
  };
}

async function answered(act: () => Promise<unknown>): Promise<Answer> {
  const headers = new Headers();
  try {
    return { status: 200, headers, body: (await act()) as Body };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { status: error.httpStatus, headers, body: error.body() };
  }
}
