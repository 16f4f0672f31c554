import { elapsedMs, systemClock } from '../../src/lib/clock.ts';
import { openLog } from '../../src/lib/log.ts';
import { openLdk } from '../../src/nodes/ldk/index.ts';
import { shapes } from '../../src/nodes/ldk/words/words.ts';
import type { NodeConnector, WalletNode } from '../../src/nodes/node.ts';
import { randomHex } from '../contracts/node/steps.ts';
import { type ChainSource, type EsploraChain, startEsploraChain } from './esplora-chain.ts';
import { removeFolder, temporaryFolder } from './folder.ts';
import { minedUntil, type OutsideNode, startOutsideNode } from './ldk-network.ts';
import { memoryState } from './memory-state.ts';
import { until } from './until.ts';

/** An LSP that opens channels (LSPS2), and a payer with a channel to it. */
export interface LspWorld {
  readonly chain: EsploraChain;
  readonly lsp: OutsideNode;
  readonly payer: OutsideNode;
  /** Opens a wallet without a coin, which reaches the LSP by that address. */
  openWallet(options: {
    readonly maxFeeMsat: bigint;
    readonly host?: string;
    readonly rootSeed?: Uint8Array;
  }): Promise<{ readonly node: WalletNode; readonly dataDir: string }>;
  close(): Promise<void>;
}

const log = openLog({ level: 'silent', format: 'text', write: () => undefined });
const random = (bytes: number) => new Uint8Array(Buffer.from(randomHex(bytes), 'hex'));
const COINS_SAT = 50_000_000n;
const PAYER_MSAT = 5_000_000_000n;

/** Opens it, which takes some seconds; the seed (hex) is the LSP's. */
export async function openLspWorld(source?: ChainSource, seed?: string): Promise<LspWorld> {
  const chain = startEsploraChain(source);
  const lsp = await startOutsideNode(chain, { isLsp: true, ...(seed !== undefined && { seed }) });
  const payer = await startOutsideNode(chain);
  const opened: NodeConnector[] = [];
  const folders: string[] = [];
  const infoOf = (node: OutsideNode) =>
    node.call<{ onchain_msat: bigint; usable: number }>('info', {}, shapes().info);
  for (const node of [lsp, payer]) {
    const { address } = await node.call<{ address: string }>('address', {}, shapes().address);
    chain.fund(address, COINS_SAT);
  }
  chain.mine(1);
  for (const node of [lsp, payer]) {
    await until(async () => (await infoOf(node)).onchain_msat > 0n, 'the node has coins');
  }
  const peer = { pk: lsp.nodePk, address: lsp.address };
  const order = { user_id: randomHex(16), value_msat: PAYER_MSAT, peer };
  await payer.call('open_channel', order, shapes().channel);
  await minedUntil(chain, async () => (await infoOf(payer)).usable === 1, 'the payer can pay');
  return {
    ...{ chain, lsp, payer },
    async openWallet({ maxFeeMsat, host = lsp.address, rootSeed = random(32) }) {
      const dataDir = temporaryFolder('ldk-first');
      folders.push(dataDir);
      const connector = await openLdk({
        ...{ rootSeed, network: 'regtest', chain: chain.server, listen: null, dataDir },
        ...{ state: memoryState(), clock: systemClock, elapsedMs, log, random, channelPeer: null },
        lsp: { pubkey: lsp.nodePk, host, maxFeeMsat },
      });
      opened.push(connector);
      return { node: (await connector.connectRoot(rootSeed)).node, dataDir };
    },
    async close() {
      for (const connector of opened) await connector.close();
      for (const folder of folders) removeFolder(folder);
      await payer.close();
      await lsp.close();
      chain.stop();
    },
  };
}
