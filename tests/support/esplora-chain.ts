import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import * as btc from '@scure/btc-signer';
import type { ChainServer } from '../../src/model/web-url.ts';
import { serveElectrum } from './electrum-server.ts';
import { esploraIndex, type IndexedTx, parsedTx } from './esplora-index.ts';
import { serveEsplora } from './esplora-server.ts';
import { hashed, merkleRoot, shown, uint32, wire } from './merkle.ts';

/** The protocols in which the chain speaks; every test of the LDK node that depends on them runs on each. */
export const CHAIN_SOURCES = ['esplora', 'electrum'] as const;
export type ChainSource = (typeof CHAIN_SOURCES)[number];

/**
 * A regtest chain that speaks as much of Esplora's HTTP API and of the Electrum protocol as LDK and BDK ask for. It checks
 * double spends and nothing else: no scripts and no amounts; of fees only that a replacement pays more.
 */
export interface EsploraChain {
  /** Its Esplora. */
  readonly url: string;
  /** Where the LDK node reads it. */
  readonly server: ChainServer;
  height(): number;
  mine(blocks: number): void;
  /** Replaces the newest blocks by one more of other blocks; their transactions wait again. */
  reorganize(blocks: number): void;
  /** Pays an address with new coins, in a transaction that waits for a block. Returns its txid. */
  fund(address: string, sats: bigint): string;
  /** What the coins at these scripts come to that no transaction has spent, in satoshis. */
  unspentSat(scripts: readonly Uint8Array[]): bigint;
  /** Spends the coins of a transaction that no block has elsewhere, for more than that paid. */
  doubleSpend(txid: string): void;
  /** The transaction that spends a coin, or null. */
  spenderOf(outpoint: string): string | null;
  /** While true, every request is answered with error 500, or by the end of the connection. */
  isAway: boolean;
  /** Its Electrum server answers nothing any more on the connections that there are, and ends none. */
  stall(): void;
  /** While true, it takes no transaction that is to be published. */
  takesNothing: boolean;
  stop(): void;
}

const REGTEST = { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };
/** Block 0 of regtest, which every wallet knows. */
const GENESIS = {
  header:
    '0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4adae5494dffff7f2002000000',
  txid: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  time: 1296688602,
};
const COINBASE_OUTPUTS = 8;
const FIRST_BLOCKS = 110;
const FEES = { 1: 5, 2: 5, 3: 4, 6: 3, 12: 2, 72: 1.5, 144: 1.5, 504: 1, 1008: 1 };

/** Starts the chain, 110 blocks long, on free ports of this machine. */
export function startEsploraChain(source: ChainSource = 'esplora'): EsploraChain {
  const index = esploraIndex();
  const { blocks, txs } = index;
  let free: string[] = [];
  let waiting: string[] = [];
  /** Blocks of one height differ by it. */
  let branch = 0;

  function feeSatOf(tx: IndexedTx | undefined): bigint {
    const spentSat = tx?.spends.reduce((sum, one) => sum + (index.outputAt(one)?.amount ?? 0n), 0n);
    return (spentSat ?? 0n) - (tx?.raw.outputs.reduce((sum, { amount }) => sum + amount, 0n) ?? 0n);
  }

  /** The transactions, and those that spend what they made. */
  function withDescendants(txids: readonly string[]): ReadonlySet<string> {
    const found = new Set(txids);
    // A set that grows while it is walked is walked to its end.
    for (const txid of found) {
      txs.get(txid)?.raw.outputs.forEach((_, vout) => {
        const spender = index.spenderOf(`${txid}:${vout}`)?.txid;
        if (spender !== undefined) found.add(spender);
      });
    }
    return found;
  }

  /** Takes a transaction. What spends the same coins and is in no block gives way to it where it pays more. */
  function accept(bytes: Uint8Array): string {
    const tx = parsedTx(bytes);
    if (txs.has(tx.txid)) return tx.txid;
    const rivals = withDescendants(
      tx.spends.flatMap((outpoint) => index.spenderOf(outpoint)?.txid ?? []),
    );
    const isSpent = [...rivals].some((txid) => txs.get(txid)?.height !== null);
    if (isSpent || tx.spends.some((outpoint) => index.outputAt(outpoint) === undefined)) {
      throw new Error('bad-txns-inputs-missingorspent');
    }
    const rivalFeesSat = [...rivals].reduce((sum, txid) => sum + feeSatOf(txs.get(txid)), 0n);
    if (rivals.size > 0 && feeSatOf(tx) <= rivalFeesSat) {
      throw new Error('insufficient fee, rejecting replacement');
    }
    for (const txid of rivals) index.drop(txid);
    waiting = waiting.filter((one) => !rivals.has(one));
    index.add(tx);
    waiting.push(tx.txid);
    return tx.txid;
  }

  function mineOne(): void {
    const height = blocks.length;
    const before = blocks.at(-1);
    const tag = utf8ToBytes(`block ${height} ${branch}`);
    const coinbase = parsedTx(
      btc.RawTx.encode({
        ...{ version: 2, segwitFlag: false, witnesses: undefined, lockTime: 0 },
        inputs: [
          {
            ...{ txid: new Uint8Array(32), index: 0xffffffff, sequence: 0xffffffff },
            finalScriptSig: concatBytes(Uint8Array.of(tag.length), tag),
          },
        ],
        outputs: Array.from({ length: COINBASE_OUTPUTS }, () => ({
          amount: 600_000_000n,
          script: Uint8Array.of(0x51),
        })),
      }),
    );
    const txids = [coinbase.txid, ...waiting];
    const root = merkleRoot(txids);
    const time = Math.max(Math.floor(Date.now() / 1000), (before?.time ?? 0) + 1);
    const previous = before ? wire(before.hash) : new Uint8Array(32);
    for (let nonce = 0; ; nonce++) {
      const header = concatBytes(
        ...[uint32(0x20000000), previous, root, uint32(time), uint32(0x207fffff), uint32(nonce)],
      );
      const hash = shown(hashed(header));
      if (Number.parseInt(hash.slice(0, 2), 16) >= 0x7f) continue;
      index.add(coinbase);
      index.confirm({ height, hash, header, time, txids });
      break;
    }
    for (let vout = 0; vout < COINBASE_OUTPUTS; vout++) free.push(`${coinbase.txid}:${vout}`);
    waiting = [];
  }

  const genesis = hex.decode(GENESIS.header);
  index.confirm({
    ...{ height: 0, hash: shown(hashed(genesis)), header: genesis },
    ...{ time: GENESIS.time, txids: [GENESIS.txid] },
  });
  for (let count = 0; count < FIRST_BLOCKS; count++) mineOne();

  const chain: EsploraChain = {
    ...{ url: '', server: { esplora: '' } },
    height: () => blocks.length - 1,
    mine(count) {
      for (let mined = 0; mined < count; mined++) mineOne();
    },
    reorganize(count) {
      branch++;
      for (let undone = 0; undone < count; undone++) {
        const [coinbase = '', ...others] = index.undo()?.txids ?? [];
        free = free.filter((outpoint) => !outpoint.startsWith(coinbase));
        index.drop(coinbase);
        waiting.unshift(...others);
      }
      const again = waiting;
      waiting = [];
      for (let mined = 0; mined <= count; mined++) mineOne();
      waiting = again;
    },
    fund(address, sats) {
      const [txid = '', vout = ''] = (free.shift() ?? '').split(':');
      return accept(
        btc.RawTx.encode({
          ...{ version: 2, segwitFlag: false, witnesses: undefined, lockTime: 0 },
          inputs: [
            {
              ...{ txid: hex.decode(txid), index: Number(vout), sequence: 0xfffffffd },
              finalScriptSig: new Uint8Array(),
            },
          ],
          outputs: [
            { amount: sats, script: btc.OutScript.encode(btc.Address(REGTEST).decode(address)) },
          ],
        }),
      );
    },
    unspentSat(scripts) {
      const own = new Set(scripts.map((script) => hex.encode(script)));
      return [...txs.values()].reduce((sum, tx) => {
        const left = tx.raw.outputs.filter(
          ({ script }, vout) =>
            own.has(hex.encode(script)) && index.spenderOf(`${tx.txid}:${vout}`) === undefined,
        );
        return left.reduce((part, { amount }) => part + amount, sum);
      }, 0n);
    },
    doubleSpend(txid) {
      const inputs = txs.get(txid)?.raw.inputs.map((input) => ({
        ...input,
        finalScriptSig: new Uint8Array(),
      }));
      accept(
        btc.RawTx.encode({
          ...{ version: 2, segwitFlag: false, witnesses: undefined, lockTime: 0 },
          ...{ inputs: inputs ?? [], outputs: [{ amount: 1000n, script: Uint8Array.of(0x51) }] },
        }),
      );
    },
    spenderOf: (outpoint) => index.spenderOf(outpoint)?.txid ?? null,
    isAway: false,
    takesNothing: false,
    stall: () => undefined,
    stop: () => undefined,
  };
  function publish(bytes: Uint8Array): string {
    if (chain.takesNothing) throw new Error('mempool full');
    return accept(bytes);
  }
  const served = {
    ...{ index, fees: FEES, publish },
    ready() {
      if (chain.isAway) throw new Error('away');
    },
  };
  const [esplora, electrum] = [serveEsplora(served), serveElectrum(served)];
  const server = source === 'esplora' ? { esplora: esplora.url } : { electrum: electrum.url };
  return Object.assign(chain, {
    ...{ url: esplora.url, server, stall: electrum.stall },
    stop() {
      esplora.stop();
      electrum.stop();
    },
  });
}
