import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../contracts/node/steps.ts';
import { type NodeSidecar, startNodeSidecar } from '../interop/node-sidecar.ts';
import { type EsploraChain, startEsploraChain } from './esplora-chain.ts';
import { removeFolder, temporaryFolder } from './folder.ts';
import { minedUntil, type OutsideNode, startOutsideNode } from './ldk-network.ts';
import { freePort } from './ports.ts';
import type { Body } from './requests.ts';
import { until, waitUntil } from './until.ts';

/** The compiled binary with an LDK node, some coins and a channel, and the node at its other end. */
export interface LdkSidecar {
  readonly chain: EsploraChain;
  readonly outside: OutsideNode;
  readonly sidecar: NodeSidecar;
  health(): Promise<string>;
  info(): Promise<Body>;
  /** Waits until the node runs and its channel can be used. */
  usable(): Promise<unknown>;
  payment(index: string): Promise<Body>;
  /** Pays an invoice of the other node, which may hold the money. */
  pay(amountMsat: bigint, holds?: boolean): Promise<{ hash: string; payment: Body }>;
  /** The payment once it has ended. */
  ended(index: string): Promise<Body>;
  close(): Promise<void>;
}

/** Returns the flags of a sidecar with an LDK node whose root seed is written into a folder. */
export function ldkFlags(folder: string, esploraUrl: string): string[] {
  const seedPath = join(folder, 'seed');
  writeFileSync(seedPath, randomHex(32), { mode: 0o600 });
  return [
    ...['--node', 'ldk', '--network', 'regtest', '--esplora-url', esploraUrl],
    ...['--root-seed-path', seedPath, '--lightning-listen-addr', `127.0.0.1:${freePort()}`],
  ];
}

/** Opens it; `esploraOf` says by which address it reads the chain, `env` what is in its environment besides. */
export async function openLdkSidecar({
  dataDir,
  env,
  esploraOf = ({ url }) => url,
}: {
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly esploraOf?: (chain: EsploraChain) => string;
} = {}): Promise<LdkSidecar> {
  const folder = temporaryFolder('ldk-sidecar');
  const chain = startEsploraChain();
  const outside = await startOutsideNode(chain);
  const sidecar = await startNodeSidecar(ldkFlags(folder, esploraOf(chain)), dataDir, env);
  const info = () => sidecar.get('/v2/node/node_info');
  const isUsable = async () => (await info()).num_usable_channels === 1;
  const payment = (index: string) => sidecar.get('/v2/node/payment', { index });
  const { address } = await sidecar.post('/v2/node/get_next_unused_address');
  chain.fund(address, 2_000_000n);
  chain.mine(1);
  await until(async () => (await info()).onchain_balance !== '0', 'the coins are there');
  await sidecar.post('/v2/node/open_channel', {
    ...{ value: '1000000', peer: `${outside.nodePk}@${outside.address}` },
    user_channel_id: randomHex(16),
  });
  await minedUntil(chain, isUsable, 'the channel can be used');
  return {
    ...{ chain, outside, sidecar, info, payment },
    health: async () => {
      const answer = await fetch(`${sidecar.baseUrl}/v2/health`);
      return ((await answer.json()) as { status: string }).status;
    },
    usable: () => waitUntil('the channel can be used', isUsable),
    async pay(amountMsat, holds = false) {
      const { invoice, hash } = await outside.invoice({ amountMsat, holds });
      const { body } = await sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice },
        headers: holds ? { Prefer: 'respond-async' } : {},
      });
      return { hash, payment: body };
    },
    ended: (index) =>
      until(async () => {
        const found = await payment(index);
        return found.status !== 'pending' && found;
      }, 'the payment has ended'),
    async close() {
      await sidecar.close();
      await outside.close();
      chain.stop();
      removeFolder(folder);
    },
  };
}
