import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hex } from '@scure/base';
import { freePorts } from '../../support/ports.ts';
import { blockAfter, type Tip } from './block.ts';
import { btcdRpc } from './btcd-rpc.ts';
import { type Coin, type Miner, miner, type Output } from './miner.ts';
import { program } from './program.ts';
import type { Reaper } from './reaper.ts';
import { waitForNode } from './wait-for-node.ts';

/**
 * Blocks to mine first: segwit and taproot are active on regtest after 3 periods of 144, and a coinbase can be spent
 * after 100 more. LND does not start on a chain without taproot.
 */
const BLOCKS_TO_START_WITH = 450;
const COINBASE_MATURITY = 100;
const REPLACING_FEE_SAT = 50_000n;

/** A regtest chain on which blocks are mined on request. */
export interface Btcd {
  /** Mines `count` blocks, the first with the transactions of the mempool, and returns their hashes. */
  generate(count: number): Promise<string[]>;
  /** Mines an empty block with that timestamp, up to two hours ahead, which moves the chain's clock. */
  generateAt(timestampSecs: number): Promise<void>;
  /** Sends the miner's coins and returns the txid. They are unconfirmed until the next block. */
  send(outputs: readonly Output[]): Promise<string>;
  /**
   * Replaces what {@link send} sent by a transaction with a higher fee that spends the same coin (BIP 125). It pays
   * these outputs only. Returns the txid.
   */
  replace(txid: string, outputs: readonly Output[]): Promise<string>;
  /**
   * Replaces a block, the newest one, by two others: the first with only this transaction, which {@link send} sent and
   * {@link replace} replaced.
   */
  reorganize(blockHash: string, txid: string): Promise<void>;
  /** The height of the newest block. */
  height(): Promise<number>;
  /** Ids of the unconfirmed transactions. */
  mempool(): Promise<string[]>;
  /** Ends btcd for good. */
  stop(): Promise<void>;
}

/** Access to the chain for a Lightning node. */
export interface ChainAccess {
  readonly rpcHost: string;
  readonly rpcUser: string;
  readonly rpcPassword: string;
  readonly rpcCertPath: string;
}

interface Header extends Tip {
  readonly previousblockhash: string;
  readonly time: number;
}

interface Block {
  readonly rawtx: readonly {
    readonly txid: string;
    readonly vout: readonly { readonly value: number }[];
  }[];
}

/**
 * Starts btcd on free loopback ports with its data under `folder`, and mines until coins can be spent.
 *
 * Blocks pay a key of the harness and not a node's wallet. So a node has only the transactions that a test makes, and
 * btcd need not restart to learn a node's address.
 */
export async function startBtcd(
  binary: string,
  folder: string,
  reaper: Reaper,
): Promise<{ btcd: Btcd; access: ChainAccess }> {
  await mkdir(folder, { mode: 0o700 });
  const [rpcPort = 0, peerPort = 0] = freePorts(2);
  const access: ChainAccess = {
    rpcHost: `127.0.0.1:${rpcPort}`,
    rpcUser: 'interop',
    rpcPassword: 'interop',
    rpcCertPath: join(folder, 'rpc.cert'),
  };
  const coins: Miner = miner();
  const process = program(
    [
      binary,
      '--regtest',
      '--txindex',
      `--configfile=${join(folder, 'none.conf')}`,
      `--datadir=${folder}`,
      `--logdir=${folder}`,
      `--rpcuser=${access.rpcUser}`,
      `--rpcpass=${access.rpcPassword}`,
      `--rpclisten=${access.rpcHost}`,
      `--rpccert=${access.rpcCertPath}`,
      `--rpckey=${join(folder, 'rpc.key')}`,
      `--listen=127.0.0.1:${peerPort}`,
      `--miningaddr=${coins.address}`,
      '--rpcmaxwebsockets=50',
      '--trickleinterval=100ms',
      '--nobanning',
      '--nostalldetect',
    ],
    join(folder, 'output.log'),
    reaper,
  );

  const rpc = btcdRpc(access);

  let nextCoinbaseHeight = 1;
  async function ripeCoin(): Promise<Coin> {
    const height = nextCoinbaseHeight;
    if (height + COINBASE_MATURITY > (await rpc<number>('getblockcount'))) {
      throw new Error('The miner has spent all ripe coins; generate 100 blocks first.');
    }
    nextCoinbaseHeight += 1;
    const block = await rpc<Block>('getblock', [await rpc<string>('getblockhash', [height]), 2]);
    const coinbase = block.rawtx[0];
    const output = coinbase?.vout[0];
    if (coinbase === undefined || output === undefined) {
      throw new Error(`Block ${height} lists no coinbase; check the version of btcd.`);
    }
    return { txid: coinbase.txid, index: 0, valueSat: BigInt(Math.round(output.value * 1e8)) };
  }

  /** What was sent, by txid. */
  const sent = new Map<string, { readonly coin: Coin; readonly raw: Uint8Array }>();
  async function publish(coin: Coin, raw: Uint8Array): Promise<string> {
    const txid = await rpc<string>('sendrawtransaction', [hex.encode(raw)]);
    sent.set(txid, { coin, raw });
    return txid;
  }
  function sentAs(txid: string) {
    const found = sent.get(txid);
    if (found === undefined) throw new Error(`${txid} was not sent by the miner.`);
    return found;
  }
  async function submit(block: string): Promise<void> {
    const problem = await rpc<string | null>('submitblock', [block]);
    if (problem !== null) throw new Error(`btcd rejected the block: ${problem}`);
  }

  process.start();
  await waitForNode('btcd answers', async () => {
    process.assertRunning();
    await rpc('getblockcount');
    return true;
  });
  await rpc('generate', [BLOCKS_TO_START_WITH]);

  const btcd: Btcd = {
    generate: (count) => rpc('generate', [count]),
    async generateAt(timestampSecs) {
      const tip = await rpc<Tip>('getblockheader', [await rpc<string>('getbestblockhash'), true]);
      await submit(blockAfter(tip, timestampSecs).block);
    },
    async send(outputs) {
      const coin = await ripeCoin();
      return publish(coin, coins.pay(coin, outputs));
    },
    async replace(txid, outputs) {
      const { coin } = sentAs(txid);
      return publish(coin, coins.pay(coin, outputs, REPLACING_FEE_SAT));
    },
    async reorganize(blockHash, txid) {
      const replaced = await rpc<Header>('getblockheader', [blockHash, true]);
      const parent = await rpc<Header>('getblockheader', [replaced.previousblockhash, true]);
      const first = blockAfter(parent, replaced.time + 1, sentAs(txid).raw);
      await submit(first.block);
      const tip = { hash: first.hash, height: parent.height + 1, bits: parent.bits };
      await submit(blockAfter(tip, replaced.time + 2).block);
    },
    height: () => rpc('getblockcount'),
    mempool: () => rpc('getrawmempool'),
    stop: () => process.stop(),
  };
  return { btcd, access };
}
