import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import * as btc from '@scure/btc-signer';
import { hashed, shown } from './merkle.ts';

/** A transaction that the index knows. */
export interface IndexedTx {
  readonly txid: string;
  readonly bytes: Uint8Array;
  readonly raw: ReturnType<typeof btc.RawTx.decode>;
  /** The coins that it spends, as `txid:vout`. */
  readonly spends: readonly string[];
  /** Null while no block has it. */
  height: number | null;
}

/** A block of the best chain. */
export interface IndexedBlock {
  readonly height: number;
  readonly hash: string;
  readonly header: Uint8Array;
  readonly time: number;
  readonly txids: readonly string[];
}

/** The transactions and blocks of a chain, as Esplora looks them up. */
export interface EsploraIndex {
  /** By height. */
  readonly blocks: readonly IndexedBlock[];
  readonly txs: ReadonlyMap<string, IndexedTx>;
  /** The input that spends a coin. */
  spenderOf(outpoint: string): { readonly txid: string; readonly vin: number } | undefined;
  /** The output of a coin. */
  outputAt(outpoint: string): IndexedTx['raw']['outputs'][number] | undefined;
  /** The transactions that pay to a script or spend from it, the newest first, by the script's SHA-256. */
  ofScript(scriptHash: string): readonly IndexedTx[];
  add(tx: IndexedTx): void;
  /** Forgets a transaction that no block has. */
  drop(txid: string): void;
  /** The next block; its transactions are known. */
  confirm(block: IndexedBlock): void;
  /** Takes the newest block back, and returns it; its transactions wait for another one. */
  undo(): IndexedBlock | undefined;
}

/** Reads a transaction. */
export function parsedTx(bytes: Uint8Array): IndexedTx {
  const raw = btc.RawTx.decode(bytes);
  const bare = btc.RawTx.encode({ ...raw, segwitFlag: false, witnesses: undefined });
  return {
    txid: shown(hashed(bare)),
    bytes,
    raw,
    spends: raw.inputs.map(({ txid, index }) => `${hex.encode(txid)}:${index}`),
    height: null,
  };
}

/** An index without a block. */
export function esploraIndex(): EsploraIndex {
  const txs = new Map<string, IndexedTx>();
  const spenders = new Map<string, { readonly txid: string; readonly vin: number }>();
  const byScript = new Map<string, Set<string>>();
  const blocks: IndexedBlock[] = [];
  const outputAt: EsploraIndex['outputAt'] = (outpoint) => {
    const [txid = '', vout = ''] = outpoint.split(':');
    return txs.get(txid)?.raw.outputs[Number(vout)];
  };
  return {
    ...{ blocks, txs, outputAt },
    spenderOf: (outpoint) => spenders.get(outpoint),
    ofScript(scriptHash) {
      const txids = [...(byScript.get(scriptHash) ?? [])].toReversed();
      return txids.flatMap((txid) => txs.get(txid) ?? []);
    },
    add(tx) {
      const concern = (script: Uint8Array, txid: string) => {
        const name = hex.encode(sha256(script));
        byScript.set(name, (byScript.get(name) ?? new Set<string>()).add(txid));
      };
      txs.set(tx.txid, tx);
      tx.spends.forEach((outpoint, vin) => {
        spenders.set(outpoint, { txid: tx.txid, vin });
        const spent = outputAt(outpoint);
        if (spent) concern(spent.script, tx.txid);
      });
      tx.raw.outputs.forEach(({ script }, vout) => {
        concern(script, tx.txid);
        // A mempool is listed in any order.
        const spender = spenders.get(`${tx.txid}:${vout}`);
        if (spender) concern(script, spender.txid);
      });
    },
    drop(txid) {
      for (const outpoint of txs.get(txid)?.spends ?? []) {
        if (spenders.get(outpoint)?.txid === txid) spenders.delete(outpoint);
      }
      txs.delete(txid);
    },
    confirm(block) {
      blocks.push(block);
      for (const txid of block.txids) {
        const tx = txs.get(txid);
        if (tx) tx.height = block.height;
      }
    },
    undo() {
      const block = blocks.pop();
      for (const txid of block?.txids ?? []) {
        const tx = txs.get(txid);
        if (tx) tx.height = null;
      }
      return block;
    },
  };
}
