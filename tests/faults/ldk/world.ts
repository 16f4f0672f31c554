import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaymentJson } from '../../../src/model/payment.ts';
import { type LdkRow, shapes } from '../../../src/nodes/ldk/words/words.ts';
import { randomHex } from '../../contracts/node/steps.ts';
import { type NodeSidecar, startNodeSidecar } from '../../interop/node-sidecar.ts';
import { type EsploraChain, startEsploraChain } from '../../support/esplora-chain.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import {
  killHelperOf,
  minedUntil,
  type OutsideNode,
  SEEN_WITHIN_MS,
  startOutsideNode,
} from '../../support/ldk-network.ts';
import { ldkScripts } from '../../support/ldk-scripts.ts';
import { freePort } from '../../support/ports.ts';
import { type Body, CallFailed } from '../../support/requests.ts';
import { until, waitUntil } from '../../support/until.ts';
import { type FaultyDisk, faultyDisk } from '../faulty-disk.ts';
import { type UnreliableReceiver, unreliableReceiver } from '../receiver.ts';
import { sqlitePaymentRows } from '../rows.ts';
import { type Tail, tailByStream, tailByWaits } from '../tails.ts';

const COINS_SAT = 20_000_000n;
const COINS = 20;
/** What the channels have at the start: the wallet's to the LSP, the LSP's to the wallet, each of the payer's to the LSP. */
const OUT_MSAT = 4_000_000_000n;
const IN_MSAT = 500_000_000n;
const PAYER_MSAT = 16_000_000_000n;
const PAYER_CHANNELS = 4;
const PAYER_GETS_MSAT = 4_000_000_000n;
/** How many channels the wallet has at the start. */
const FIRST_CHANNELS = 2;
/** After so many ends of the helper the sidecar is killed too: it gives up after ten. */
const MOST_ENDS = 4;
const BACK_WITHIN_MS = 150_000;
/** The words with which LDK tells that a channel was closed as agreed. */
const AGREED = /cooperative|before it was funded|FundingTimedOut/i;

/** What is killed. */
export type Victim = 'sidecar' | 'helper' | 'both';

/**
 * A compiled sidecar with its own LDK node, and two nodes of others, which are never killed: an LSP, which is its peer,
 * and a payer behind that.
 */
export class LdkKillWorld {
  readonly chain: EsploraChain = startEsploraChain();
  readonly receiver: UnreliableReceiver;
  readonly disk: FaultyDisk | null;
  readonly dataDir: string;
  sidecar!: NodeSidecar;
  lsp!: OutsideNode;
  payer!: OutsideNode;
  /** A client that makes the payments, and one that pays fees of other acts. */
  payments!: Client;
  fees!: Client;
  tails: readonly Tail[] = [];
  /** Ids of channels that are not to be closed, or are being closed. */
  keptChannels = new Set<string>();
  /** What the user calls the channels that are closed. */
  readonly closedIds = new Set<string>();
  readonly #folder: string;
  readonly #rootSeed = randomHex(32);
  #ends = 0;

  constructor(random: () => number) {
    this.#folder = temporaryFolder('ldk-kills');
    this.dataDir = join(this.#folder, 'data');
    this.receiver = unreliableReceiver(random);
    this.disk = faultyDisk(this.#folder, this.dataDir, join(this.dataDir, 'bin'));
  }

  async open(): Promise<this> {
    this.lsp = await startOutsideNode(this.chain, { isLsp: true });
    this.payer = await startOutsideNode(this.chain);
    const seedPath = join(this.#folder, 'seed');
    writeFileSync(seedPath, this.#rootSeed, { mode: 0o600 });
    const listen = `127.0.0.1:${freePort()}`;
    const lsp = `${this.lsp.nodePk}@${this.lsp.address}`;
    this.sidecar = await startNodeSidecar(
      [
        ...['--node', 'ldk', '--network', 'regtest', '--esplora-url', this.chain.url],
        ...['--root-seed-path', seedPath, '--lightning-listen-addr', listen],
        ...['--lsp', lsp, '--max-lsp-fee', '1000000', '--channel-peer', lsp],
        ...['--webhook-url', this.receiver.url],
        ...['--webhook-events', 'payment.finalized,payment.held'],
      ],
      this.dataDir,
      { ...this.disk?.env, ...this.receiver.env },
    );
    const { sidecar } = this;
    const place = { baseUrl: () => sidecar.baseUrl };
    this.tails = [tailByStream(place), tailByWaits(place)];
    const { node_pk } = await sidecar.get('/v2/node/node_info');
    const { address } = await sidecar.post('/v2/node/get_next_unused_address');
    for (let coin = 0; coin < COINS; coin++) this.chain.fund(address, COINS_SAT);
    for (const node of [this.lsp, this.payer]) {
      const own = await node.call<{ address: string }>('address', {}, shapes().address);
      for (let coin = 0; coin < COINS; coin++) this.chain.fund(own.address, 100_000_000n);
    }
    this.chain.mine(6);
    await waitUntil('the wallet has coins', async () => (await this.balanceMsat()) > 0n);
    for (const node of [this.lsp, this.payer]) {
      const infoOf = () => node.call<{ onchain_msat: bigint }>('info', {}, shapes().info);
      await until(async () => (await infoOf()).onchain_msat > 0n, 'the others have coins');
    }
    await sidecar.post('/v2/node/open_channel', {
      ...{ value: `${OUT_MSAT / 1000n}`, user_channel_id: randomHex(16) },
    });
    await openTo(this.lsp, { pk: node_pk, address: listen }, IN_MSAT);
    for (let made = 0; made < PAYER_CHANNELS; made++) {
      await openTo(this.payer, { pk: this.lsp.nodePk, address: this.lsp.address }, PAYER_MSAT);
    }
    await minedUntil(this.chain, () => this.#isUsable(), 'the channels can be used');
    this.chain.mine(6);
    await Bun.sleep(SEEN_WITHIN_MS);
    // So that the payer can be paid too.
    const { invoice, hash } = await this.lsp.invoice({ amountMsat: PAYER_GETS_MSAT });
    await this.pays(this.payer, invoice);
    await until(async () => {
      const rows = await this.rowsOf(this.payer);
      return rows.some((row) => row.hash === hash && row.state === 'completed');
    }, 'the payer can be paid');
    const { channels } = await sidecar.get('/v2/node/list_channels');
    for (const { channel_id } of channels) this.keptChannels.add(channel_id);
    this.payments = await this.#client('payments');
    this.fees = await this.#client('fees');
    return this;
  }

  async #client(label: string): Promise<Client> {
    const budget = { amount: '100000000', period: 'total' };
    const made = await this.sidecar.post('/v2/node/create_client', {
      ...{ label, scopes: ['full'], budget },
    });
    return { pk: made.client_pk, credentials: made.client_credentials };
  }

  /** What the wallet's channels and coins come to, in millisatoshis. */
  async balanceMsat(): Promise<bigint> {
    const info = await this.sidecar.get('/v2/node/node_info');
    return BigInt(Math.round(Number(info.balance) * 1000));
  }

  /** What the coins of the wallet on the chain come to, and what it says of them, in satoshis. */
  async coins(): Promise<{ readonly thereSat: bigint; readonly saidSat: bigint }> {
    const { onchain_balance } = await this.sidecar.get('/v2/node/node_info');
    const thereSat = this.chain.unspentSat(ldkScripts(Buffer.from(this.#rootSeed, 'hex')));
    return { thereSat, saidSat: BigInt(Math.round(Number(onchain_balance))) };
  }

  async #isUsable(): Promise<boolean> {
    const info = await this.sidecar.get('/v2/node/node_info').catch(() => null);
    return (info?.num_usable_channels ?? 0) >= FIRST_CHANNELS;
  }

  /** Why channels were closed that were not closed as agreed, by their id. */
  forced(): ReadonlyMap<string, string> {
    const told = this.sidecar.log().matchAll(/Channel ([0-9a-f]{64}) closed due to: (.*)/g);
    const reasons = [...told].map(([, id = '', why = '']) => [id, why] as const);
    return new Map(reasons.filter(([, why]) => !AGREED.test(why)));
  }

  /** Kills now. */
  async kill(victim: Victim): Promise<void> {
    if (victim !== 'sidecar') this.killHelper();
    if (victim !== 'helper') await this.sidecar.kill();
  }

  killHelper(): void {
    killHelperOf(this.dataDir);
  }

  /** Starts what was killed and waits until the node can pay. Returns the milliseconds that this took. */
  async back(): Promise<number> {
    const since = performance.now();
    this.disk?.disarm();
    this.#ends += 1;
    if (this.#ends > MOST_ENDS) await this.sidecar.kill();
    const isBack = async () => {
      if (!this.sidecar.isRunning()) {
        await this.sidecar.start();
        this.#ends = 0;
      }
      return this.#isUsable();
    };
    await until(isBack, 'the channels can be used again', BACK_WITHIN_MS);
    return performance.now() - since;
  }

  /** Mines blocks and waits until all nodes have read them. */
  async mine(blocks: number): Promise<void> {
    this.chain.mine(blocks);
    await until(async () => {
      const heightOf = async (node: OutsideNode) =>
        (await node.call<{ height: number }>('info', {}, shapes().info)).height;
      const heights = await Promise.all([this.lsp, this.payer].map(heightOf));
      return heights.every((height) => height === this.chain.height());
    }, 'the others have read the blocks');
    // The wallet's own node looks as often as they do, and has no height to ask for.
    await Bun.sleep(SEEN_WITHIN_MS);
  }

  /** Has another node pay an invoice, unless an attempt of its is on its way or has paid. */
  async pays(node: OutsideNode, bolt11: string): Promise<LdkRow> {
    const order = { bolt11, amount_msat: null, max_fee_msat: 10_000_000n, ref: null };
    return (await node.call<{ row: LdkRow }>('pay_invoice', order, shapes().taken)).row;
  }

  /** The rows of the Lightning payments of another node. */
  async rowsOf(node: OutsideNode): Promise<LdkRow[]> {
    const rows: LdkRow[] = [];
    for (;;) {
      const order = { after: rows.at(-1)?.seq ?? 0, limit: 500 };
      const page = await node.call<{ rows: LdkRow[] }>('rows', order, shapes().rows);
      if (page.rows.length === 0) return rows;
      rows.push(...page.rows);
    }
  }

  /** What the wallet and the other nodes say of a payment, in words. */
  async toldOf({ index, hash, status_msg }: PaymentJson): Promise<string> {
    const rows = await Promise.all([this.lsp, this.payer].map((node) => this.rowsOf(node)));
    const others = rows.flat().filter((row) => row.hash === hash);
    const words = others.map(({ key, state, reason }) => `${key} ${state} ${reason ?? ''}`);
    return `${index}: ${status_msg} (others: ${words.join(', ') || 'nothing'})`;
  }

  /** All who tell of the wallet's payments. */
  tellers() {
    return {
      baseUrl: this.sidecar.baseUrl,
      rows: sqlitePaymentRows(this.dataDir),
      tails: this.tails,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.tails.map((tail) => tail.stop()));
    await this.sidecar?.kill();
    await this.payer?.close();
    await this.lsp?.close();
    this.chain.stop();
    await this.receiver.stop();
    removeFolder(this.#folder);
  }
}

/** Whether a payment went down with its channel, so that nothing tells whether the receiver took it. */
export const isLost = ({ status, status_msg }: Pick<PaymentJson, 'status' | 'status_msg'>) =>
  status === 'pending' && status_msg === 'its channel was closed';

/** Whether nothing more will be heard of a payment. */
export const isEnded = (payment: Pick<PaymentJson, 'status' | 'status_msg'>) =>
  payment.status !== 'pending' || isLost(payment);

/** A client of the wallet with a budget. */
export interface Client {
  readonly pk: string;
  readonly credentials: string;
}

async function openTo(
  node: OutsideNode,
  peer: { readonly pk: string; readonly address: string },
  valueMsat: bigint,
): Promise<void> {
  const order = { user_id: randomHex(16), peer, value_msat: valueMsat };
  await node.call('open_channel', order, shapes().channel);
}

/** A 2xx answer's body, or what was wrong. */
export function bodyOf(answer: { readonly status: number; readonly body: Body }): Body {
  if (answer.status >= 200 && answer.status <= 299) return answer.body;
  throw new CallFailed(answer.status, answer.body);
}
