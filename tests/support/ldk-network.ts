import { spyOn } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { paymentHashOf } from '../../src/codecs/preimage.ts';
import { elapsedMs, systemClock } from '../../src/lib/clock.ts';
import { openLog } from '../../src/lib/log.ts';
import { sendableMsat } from '../../src/nodes/ldk/channels/channels.ts';
import { openLdk } from '../../src/nodes/ldk/index.ts';
import { Helper } from '../../src/nodes/ldk/process/helper.ts';
import { type LdkRow, shapes } from '../../src/nodes/ldk/words/words.ts';
import type { NodeConnector } from '../../src/nodes/node.ts';
import type { ConnectorRows } from '../../src/nodes/remote-kind.ts';
import { randomHex } from '../contracts/node/steps.ts';
import { type ChainSource, type EsploraChain, startEsploraChain } from './esplora-chain.ts';
import { removeFolder, temporaryFolder } from './folder.ts';
import { memoryState } from './memory-state.ts';
import { freePort } from './ports.ts';
import { until, waitUntil } from './until.ts';

/** The built helper; without it the tests of the LDK node are skipped. */
export const LDK_HELPER = join(import.meta.dir, '../../dist/ldk-helper.bin');

/** Whether a helper was built, as `npm run build:helper` does. */
export function hasLdkHelper(): boolean {
  return existsSync(LDK_HELPER);
}

const log = openLog({
  level: process.env.LDK_TEST_LOG === 'debug' ? 'debug' : 'silent',
  format: 'text',
  write: (line) => console.error(line),
});

/** The ids of the processes that hold the node of a data directory. */
export function helpersOf(dataDir: string): number[] {
  const found = Bun.spawnSync(['pgrep', '-f', `^${dataDir}/bin/`]).stdout.toString();
  return found.split('\n').filter(Boolean).map(Number);
}

/** Kills the process of the helper that a data directory has, by its id. */
export function killHelperOf(dataDir: string): void {
  for (const pid of helpersOf(dataDir)) process.kill(pid, 'SIGKILL');
}

/** A Lightning node of somebody else, driven by its helper directly. */
export interface OutsideNode {
  readonly nodePk: string;
  /** `host:port`. */
  readonly address: string;
  call<T>(method: string, params: object, shape: Parameters<Helper['call']>[2]): Promise<T>;
  /** Makes an invoice; without a preimage of ours, it is held until {@link settle} or {@link cancel}. */
  invoice(terms: {
    readonly amountMsat: bigint;
    readonly expirySecs?: number;
    readonly holds?: boolean;
  }): Promise<{ readonly invoice: string; readonly hash: string }>;
  /** Makes an offer of at least that amount; null: of any. */
  offer(terms: { readonly amountMsat: bigint | null }): Promise<string>;
  /** Begins to pay an offer, with a message; its end is in the rows. */
  paysOffer(offer: string, amountMsat: bigint, message: string): Promise<LdkRow>;
  /** How many payments have arrived on an offer. */
  receivedOn(offerId: string): Promise<number>;
  settle(hash: string): Promise<void>;
  cancel(hash: string): Promise<void>;
  /** Begins to pay and returns the attempt as it stands once it is over, or after that time. */
  pays(invoice: string, overWithinMs?: number): Promise<LdkRow>;
  isHolding(hash: string): Promise<boolean>;
  /** The most that its channels can send now, in millisatoshis. */
  sendableMsat(): Promise<bigint>;
  close(): Promise<void>;
}

/** A payment that is to end is given so long, milliseconds, on a busy machine. */
const OVER_WITHIN_MS = 50_000;

/** Starts a node of somebody else on the chain; as an LSP it opens channels to those who ask (LSPS2). */
export async function startOutsideNode(
  chain: EsploraChain,
  {
    isLsp = false,
    seed = randomHex(64),
    program = LDK_HELPER,
  }: { readonly isLsp?: boolean; readonly seed?: string; readonly program?: string } = {},
): Promise<OutsideNode> {
  const folder = temporaryFolder('ldk-outside');
  const address = `127.0.0.1:${freePort()}`;
  const helper = new Helper({
    program: async () => program,
    settings: {
      ...{ network: 'regtest', dir: folder, seed, chain: chain.server },
      ...{ lsp: null, listen: [address], sync_secs: 1 },
      ...(isLsp && { lsp_service: true }),
    },
    log,
    elapsedMs,
    random: Math.random,
    seen: async () => null,
    keep: async () => undefined,
  });
  const { nodePk } = await helper.opened();
  const preimages = new Map<string, string>();
  const rowOf = (key: string) => helper.call('row', { key }, shapes().rowOrNull);
  return {
    nodePk,
    address,
    call: (method, params, shape) =>
      helper.call(method, params as Record<string, unknown>, shape) as Promise<never>,
    async invoice({ amountMsat, expirySecs = 3600, holds = false }) {
      const preimage = randomHex(32);
      const hash = paymentHashOf(preimage);
      preimages.set(hash, preimage);
      const made = await helper.call(
        'create_invoice',
        {
          ...{ hash, preimage: holds ? null : preimage, amount_msat: amountMsat },
          ...{ description: 'outside', description_hash: null, expiry_secs: expirySecs },
          max_lsp_fee_msat: null,
        },
        shapes().invoice,
      );
      return { invoice: made.row.bolt11 ?? '', hash };
    },
    async offer({ amountMsat }) {
      const order = { description: 'outside', amount_msat: amountMsat, expires_at_secs: null };
      return (await helper.call('create_offer', order, shapes().offer)).offer;
    },
    async paysOffer(offer, amountMsat, message) {
      const order = { offer, amount_msat: amountMsat, message, max_fee_msat: 100_000n };
      const ref = randomHex(16);
      return (await helper.call('pay_offer', { ...order, ref }, shapes().taken)).row;
    },
    async receivedOn(offerId) {
      const { rows } = await helper.call('rows', { after: 0, limit: 500 }, shapes().rows);
      return rows.filter((row) => row.direction === 'in' && row.offer_id === offerId).length;
    },
    async settle(hash) {
      await until(async () => (await rowOf(`in:${hash}`))?.state === 'held', 'it is held');
      await helper.call('settle_invoice', { preimage: preimages.get(hash) }, shapes().row);
    },
    async cancel(hash) {
      await helper.call('cancel_invoice', { hash }, shapes().row);
    },
    async pays(invoice, overWithinMs = OVER_WITHIN_MS) {
      const { row, taken } = await helper.call(
        'pay_invoice',
        { bolt11: invoice, amount_msat: null, max_fee_msat: 100_000n, ref: null },
        shapes().taken,
      );
      if (taken) throw new Error('Another attempt is there already.');
      const since = performance.now();
      return until(async () => {
        const now = await rowOf(row.key);
        const isOver = now?.state === 'completed' || now?.state === 'failed';
        return (isOver || performance.now() - since > overWithinMs) && now;
      }, 'the payment is over');
    },
    sendableMsat: () => sendableMsat(helper),
    isHolding: async (hash) => (await rowOf(`in:${hash}`))?.state === 'held',
    async close() {
      await helper.close();
      removeFolder(folder);
    },
  };
}

/** A wallet on an LDK node with coins and a channel each way, and the node at their other end. */
export interface LdkNetwork {
  readonly chain: EsploraChain;
  readonly outside: OutsideNode;
  readonly connector: NodeConnector;
  readonly rootSeed: Uint8Array;
  readonly dataDir: string;
  readonly rows: ConnectorRows;
  /** Mines blocks with what waits for one, and waits until both nodes have seen them. */
  mine(blocks: number): Promise<void>;
  /** Kills the process that holds the wallet's node. */
  killHelper(): Promise<void>;
  close(): Promise<void>;
}

/** How long a node may take to publish what it was asked for, and to make of a block what follows from it. */
const PUBLISHED_WITHIN_MS = 300;
export const SEEN_WITHIN_MS = 1_500;
/** Mines a block a while after the other until the probe says that it is so. */
export function minedUntil(
  chain: EsploraChain,
  probe: () => Promise<boolean>,
  what: string,
): Promise<boolean> {
  return until(async () => {
    await Bun.sleep(PUBLISHED_WITHIN_MS);
    chain.mine(1);
    return probe();
  }, what);
}

const COINS_SAT = 10_000_000n;
const CHANNEL_MSAT = 1_000_000_000n;

/** Opens the network, which takes some seconds. */
export async function openLdkNetwork(source?: ChainSource): Promise<LdkNetwork> {
  const chain = startEsploraChain(source);
  const outside = await startOutsideNode(chain);
  const dataDir = temporaryFolder('ldk-wallet');
  const rootSeed = new Uint8Array(Buffer.from(randomHex(32), 'hex'));
  const rows = memoryState();
  const listen = `127.0.0.1:${freePort()}`;
  const connector = await openLdk({
    ...{ rootSeed, network: 'regtest', chain: chain.server, lsp: null, listen, dataDir },
    ...{ state: rows, clock: systemClock, elapsedMs, log },
    random: (bytes) => new Uint8Array(Buffer.from(randomHex(bytes), 'hex')),
    channelPeer: { pubkey: outside.nodePk, host: outside.address },
  });
  // The connector keeps its helper to itself.
  const opened = spyOn(Helper.prototype, 'opened');
  const { node } = await connector.connectRoot(rootSeed);
  const [own] = opened.mock.contexts as Helper[];
  opened.mockRestore();
  const { address } = await outside.call<{ address: string }>('address', {}, shapes().address);
  chain.fund(address, COINS_SAT);
  chain.fund((await node.onchain?.nextUnusedAddress('segwit')) ?? '', COINS_SAT);
  chain.mine(6);
  const outsideMsat = async () =>
    (await outside.call<{ onchain_msat: bigint }>('info', {}, shapes().info)).onchain_msat;
  await until(async () => (await node.info()).onchainBalanceMsat > 0n, 'the wallet has coins');
  await until(async () => (await outsideMsat()) > 0n, 'the other node has coins');
  const userChannelId = randomHex(16);
  const order = { valueMsat: CHANNEL_MSAT, userChannelId, peer: null, maxFeeMsat: null };
  await node.channels?.openChannel(order);
  const { nodePk } = await node.info();
  await outside.call(
    'open_channel',
    { user_id: randomHex(16), peer: { pk: nodePk, address: listen }, value_msat: CHANNEL_MSAT },
    shapes().channel,
  );
  const infos = () =>
    Promise.all([
      own?.call('info', {}, shapes().info),
      outside.call<{ height: number; usable: number }>('info', {}, shapes().info),
    ]);
  const seen = async () => {
    await waitUntil('both saw the blocks', async () =>
      (await infos()).every((info) => info?.height === chain.height()),
    );
    // What a node makes of a block is there a moment later.
    await Bun.sleep(SEEN_WITHIN_MS);
  };
  const mine = async (blocks: number) => {
    // What was just asked for is published a moment later.
    await Bun.sleep(PUBLISHED_WITHIN_MS);
    chain.mine(blocks);
    await seen();
  };
  const areUsable = async () => (await infos()).every((info) => info?.usable === 2);
  await minedUntil(chain, areUsable, 'both channels can be used');
  await seen();
  return {
    ...{ chain, outside, connector, rootSeed, dataDir, rows, mine },
    killHelper: async () => killHelperOf(dataDir),
    async close() {
      await connector.close();
      await outside.close();
      chain.stop();
      removeFolder(dataDir);
    },
  };
}
