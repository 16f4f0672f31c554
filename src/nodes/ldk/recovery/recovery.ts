import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hex } from '@scure/base';
import { decodeAddress } from '../../../codecs/address.ts';
import type { Network } from '../../../codecs/network.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { sleep } from '../../../lib/sleep.ts';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { ChannelPeer } from '../../../model/channel.ts';
import { ApiError, isApiError, refused } from '../../../model/errors.ts';
import type { ChainServer } from '../../../model/web-url.ts';
import { CHANNEL_BLOCKS } from '../../remote/orders/onchain-send.ts';
import { type ChainSource, chainSource } from '../chain/source.ts';
import { feeRate } from '../onchain/onchain.ts';
import { Helper } from '../process/helper.ts';
import { nodeSeed } from '../process/node-seed.ts';
import { helperProgram } from '../process/program.ts';
import { shapes } from '../words/words.ts';
import { type ClosedOutput, closedOutputs } from './closed-outputs.ts';
import { readPeers } from './peers.ts';
import { sweepTransaction } from './sweep.ts';

/** What a recovery is given. */
export interface RecoveryOptions {
  readonly rootSeed: Uint8Array;
  readonly network: Network;
  readonly chain: ChainServer;
  /** Where peers that come by themselves reach the node, as `host:port`; null: nowhere. */
  readonly listen: string | null;
  readonly dataDir: string;
  /** Who may have channels, besides those that `peers.json` names. */
  readonly peers: readonly ChannelPeer[];
  /** The address that gets everything; null: an address of the wallet of the root seed. */
  readonly to: string | null;
  readonly log: Log;
  readonly clock: Clock;
  readonly elapsedMs: () => number;
  readonly random: (bytes: number) => Uint8Array;
  /** Told what is done and found, a sentence at a time. */
  readonly say: (sentence: string) => void;
  /** Between two looks. */
  readonly everyMs: number;
  /** It ends when all that was found has arrived, and nothing new was heard for so long. */
  readonly quietMs: number;
}

/** A recovery keeps nothing, so it knows no height from before. */
const NO_ROWS = { get: async () => null, put: async () => undefined };
/** Scripts that the helper looks up at a time. */
const SCRIPTS = 200;
/** For so many rounds a peer stays connected. */
const ROUNDS_CONNECTED = 5;
/** An earlier wallet may have shown many addresses, two for each channel, that were never paid. */
const GAP = 200;

/** A coin that one of our scripts has got. */
interface FoundCoin {
  readonly outpoint: string;
  readonly valueSat: bigint;
  readonly output: ClosedOutput;
  readonly isConfirmed: boolean;
  readonly spent: 'no' | 'waits' | 'confirmed';
}

/**
 * Brings back what a node holds whose state is lost (docs/decisions.md 212). A node with the same key and no channels
 * connects to the peers; they find that it does not know their channels, and close them by force. What is ours of each
 * closing is at one of a few scripts that follow from the root seed, and is swept from there. Everything that it knows
 * it reads from the chain, so it may be cut anywhere and run again. Returns when nothing is left to wait for. Throws
 * `refused` where a state is there: it never starts a node on that.
 */
export async function recoverLdk(options: RecoveryOptions): Promise<void> {
  const { network, dataDir, rootSeed, listen, log, elapsedMs, random } = options;
  const folder = join(dataDir, 'ldk', network);
  if (existsSync(join(folder, 'state.sqlite'))) {
    throw refused(
      `The node's state is in ${folder}: a recovery would close all of its channels by force. Start the node with "serve --node ldk" and use close_channel. If the state is an old copy, or cannot be read, move state.sqlite away, with state.sqlite-wal where that is there, and run this again.`,
    );
  }
  const to = options.to === null ? null : scriptOf(options.to, network);
  const known = await readPeers(folder);
  const peers = new Map(
    [...known.reachable, ...options.peers].map((peer) => [peer.pubkey, peer.host]),
  );
  const seed = nodeSeed(rootSeed, network);
  const { path: program } = await helperProgram(dataDir);
  const source = chainSource({ ...options, state: NO_ROWS });
  const helper = new Helper({
    program,
    settings: {
      ...{
        network,
        chain: source.server,
        gap: GAP,
        dir: join(folder, 'recovery'),
        seed: hex.encode(seed),
      },
      ...{ lsp: null, listen: listen === null ? [] : [listen] },
      sync_secs: Math.ceil(options.everyMs / 1000),
    },
    ...{ log, elapsedMs, random: () => (random(1)[0] ?? 0) / 256 },
    seen: async () => null,
    keep: async () => undefined,
  });
  try {
    options.say('Ctrl-C stops this at any time. Run again, it goes on where it was.');
    options.say('First the node looks at the chain, which may take minutes.');
    await opened(helper, source, options);
    const unnamed = known.withoutAddress.filter((pk) => !peers.has(pk));
    await new Recovery(options, helper, source, peers, closedOutputs(seed), to).run(unnamed);
  } finally {
    await helper.close();
    await source.close();
  }
}

function scriptOf(address: string, network: Network): Uint8Array {
  try {
    const { networks, scriptPubKey } = decodeAddress(address);
    if (networks.includes(network)) return scriptPubKey;
  } catch {
    // Said below.
  }
  throw refused(`${address} is no address of the network ${network}.`);
}

/** Waits for the node, whose first look at the chain may take minutes. */
async function opened(
  helper: Helper,
  source: Pick<ChainSource, 'problems'>,
  { say, everyMs }: Pick<RecoveryOptions, 'say' | 'everyMs'>,
): Promise<void> {
  let told = '';
  for (;;) {
    try {
      await helper.opened();
      return;
    } catch (error) {
      if (!isApiError(error, 'unreachable')) throw error;
      const problem = source.problems()[0] ?? error.message;
      if (problem !== told) say(problem);
      told = problem;
      await sleep(everyMs);
    }
  }
}

class Recovery {
  readonly #options: RecoveryOptions;
  readonly #helper: Helper;
  readonly #source: Pick<ChainSource, 'problems'>;
  readonly #peers: ReadonlyMap<string, string>;
  readonly #outputs: ReadonlyMap<string, ClosedOutput>;
  readonly #to: Uint8Array | null;
  readonly #said = new Set<string>();
  readonly #reached = new Set<string>();
  #newsAtMs: number;
  #height = -1;
  #round = 0;
  #coins: readonly FoundCoin[] = [];

  constructor(
    options: RecoveryOptions,
    helper: Helper,
    source: Pick<ChainSource, 'problems'>,
    peers: ReadonlyMap<string, string>,
    outputs: readonly ClosedOutput[],
    to: Uint8Array | null,
  ) {
    this.#options = options;
    this.#helper = helper;
    this.#source = source;
    this.#peers = peers;
    this.#outputs = new Map(outputs.map((output) => [hex.encode(output.script), output]));
    this.#to = to;
    this.#newsAtMs = options.elapsedMs();
  }

  async run(withoutAddress: readonly string[]): Promise<void> {
    const { everyMs, quietMs, elapsedMs } = this.#options;
    for (const pk of withoutAddress) {
      this.#say(`The address of ${pk} is not known: add --peer ${pk}@HOST:PORT.`);
    }
    if (this.#peers.size === 0) this.#say('No peer is named, so only the chain is read.');
    for (;;) {
      try {
        await this.#connect();
        if (await this.#look()) {
          if (elapsedMs() - this.#newsAtMs >= quietMs) break;
        } else if (elapsedMs() - this.#newsAtMs >= quietMs) {
          this.#say(
            'Waiting. A closing may take hours, and a channel in which nothing was ours leaves nothing to wait for.',
          );
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        this.#say(error.message);
      }
      for (const problem of this.#source.problems()) this.#say(problem);
      await sleep(everyMs);
    }
    const sweptSat = this.#coins.reduce((sum, { valueSat }) => sum + valueSat, 0n);
    this.#say(`Done: ${this.#coins.length} closed channels held ${sweptSat} sats, less the fees.`);
  }

  /** Says each sentence once. */
  #say(sentence: string): void {
    if (this.#said.has(sentence)) return;
    this.#said.add(sentence);
    this.#newsAtMs = this.#options.elapsedMs();
    this.#options.say(sentence);
  }

  /**
   * Connects to the peers, now and then anew: Core Lightning may drop a channel's part of a connection before it has
   * read that the channel is not known, and says no more of the channel then.
   */
  async #connect(): Promise<void> {
    const again = this.#round > 0 && this.#round % ROUNDS_CONNECTED === 0;
    this.#round++;
    for (const [pk, address] of this.#peers) {
      try {
        await this.#helper.call('connect', { pk, address, again }, shapes().done);
        this.#reached.add(pk);
        this.#say(`Connected to ${pk}.`);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (!this.#reached.has(pk)) {
          this.#say(`${pk} at ${address} cannot be reached, and is tried again.`);
        }
      }
    }
  }

  /** Looks at what has changed, and sweeps what can be. Returns whether nothing is left to wait for. */
  async #look(): Promise<boolean> {
    const info = await this.#helper.call('info', {}, shapes().info);
    const channels = info.unknown_channels;
    if (channels.length > 0) {
      this.#say(`Told to close by force: ${channels.length} channels (${channels.join(', ')}).`);
    }
    if (info.height !== this.#height) {
      this.#coins = await this.#find();
      await this.#sweep();
      if (this.#to !== null) await this.#emptyWallet(this.#to);
      this.#height = info.height;
    }
    const isSwept = this.#coins.every(({ spent }) => spent === 'confirmed');
    const isEmpty = this.#to === null || info.onchain_msat === 0n;
    const isHeard = this.#reached.size === this.#peers.size;
    return isSwept && isEmpty && isHeard && this.#coins.length >= channels.length;
  }

  async #find(): Promise<FoundCoin[]> {
    const scripts = [...this.#outputs.keys()];
    const found: FoundCoin[] = [];
    for (let at = 0; at < scripts.length; at += SCRIPTS) {
      const some = scripts.slice(at, at + SCRIPTS);
      const { coins } = await this.#helper.call('find', { scripts: some }, shapes().found);
      for (const { outpoint, amount_msat, height, script, spent } of coins) {
        const output = this.#outputs.get(script);
        if (output === undefined) continue;
        const valueSat = amount_msat / MSAT_PER_SAT;
        const isConfirmed = height !== null;
        this.#say(
          `Found ${valueSat} sats of a closed channel, ${isConfirmed ? `in block ${height}` : 'in a transaction that waits for a block'} (${outpoint}).`,
        );
        const how = spent === null ? 'no' : spent.height === null ? 'waits' : 'confirmed';
        found.push({ outpoint, valueSat, output, isConfirmed, spent: how });
      }
    }
    return found;
  }

  async #sweep(): Promise<void> {
    const coins = this.#coins.filter(({ isConfirmed, spent }) => isConfirmed && spent === 'no');
    if (coins.length === 0) return;
    const rate = await feeRate(this.#helper, CHANNEL_BLOCKS);
    const sweep = sweepTransaction(coins, this.#to ?? (await this.#ownScript()), rate);
    if (sweep === null) {
      this.#say('What was found is less than the fee of taking it: run this again another day.');
      return;
    }
    await this.#publish(sweep.txHex, sweep.amountSat);
  }

  async #ownScript(): Promise<Uint8Array> {
    const { address } = await this.#helper.call('address', {}, shapes().address);
    return scriptOf(address, this.#options.network);
  }

  /** Sends everything that is in the wallet on chain. */
  async #emptyWallet(script: Uint8Array): Promise<void> {
    const sat_per_vbyte = await feeRate(this.#helper, CHANNEL_BLOCKS);
    const order = { script: hex.encode(script), amount_msat: null, sat_per_vbyte };
    try {
      const signed = await this.#helper.call('sign', order, shapes().signed);
      await this.#publish(signed.hex, signed.amount_msat / MSAT_PER_SAT);
    } catch (error) {
      // No coin is there that may be spent.
      if (!isApiError(error, 'refused')) throw error;
    }
  }

  async #publish(txHex: string, amountSat: bigint): Promise<void> {
    const { txid } = await this.#helper.call('publish', { hex: txHex }, shapes().txid);
    this.#say(`Sent ${amountSat} sats after fees, in transaction ${txid}.`);
  }
}
