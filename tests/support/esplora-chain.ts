import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import * as btc from '@scure/btc-signer';

/**
 * A regtest chain that speaks as much of Esplora's HTTP API as LDK and BDK ask for. It checks double spends and nothing
 * else: no scripts, no amounts, no fees.
 */
export interface EsploraChain {
  readonly url: string;
  height(): number;
  mine(blocks: number): void;
  /** Pays an address with new coins, in a transaction that waits for a block. Returns its txid. */
  fund(address: string, sats: bigint): string;
  /** While true, every request is answered with error 500. */
  isAway: boolean;
  stop(): void;
}

type Raw = ReturnType<typeof btc.RawTx.decode>;

interface Tx {
  readonly txid: string;
  readonly bytes: Uint8Array;
  readonly raw: Raw;
  readonly spends: readonly string[];
  height: number | null;
}

interface Block {
  readonly height: number;
  readonly hash: string;
  readonly header: Uint8Array;
  readonly time: number;
  readonly txids: readonly string[];
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

const reversed = (bytes: Uint8Array) => Uint8Array.from(bytes).reverse();
const hashed = (bytes: Uint8Array) => sha256(sha256(bytes));
const shown = (hash: Uint8Array) => hex.encode(reversed(hash));
const wire = (txid: string) => reversed(hex.decode(txid));

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** Starts the chain, 110 blocks long, on a free port of this machine. */
export function startEsploraChain(): EsploraChain {
  const txs = new Map<string, Tx>();
  const spenders = new Map<string, { readonly txid: string; readonly vin: number }>();
  /** The transactions of each script, by its SHA-256. */
  const byScript = new Map<string, Set<string>>();
  const blocks: Block[] = [];
  const free: string[] = [];
  let waiting: string[] = [];

  const outputAt = (outpoint: string) => {
    const [txid = '', vout = ''] = outpoint.split(':');
    return txs.get(txid)?.raw.outputs[Number(vout)];
  };

  function parsed(bytes: Uint8Array): Tx {
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

  function add(tx: Tx): void {
    const spent = tx.spends.flatMap((outpoint) => outputAt(outpoint) ?? []);
    for (const { script } of [...tx.raw.outputs, ...spent]) {
      const name = hex.encode(sha256(script));
      byScript.set(name, (byScript.get(name) ?? new Set<string>()).add(tx.txid));
    }
    txs.set(tx.txid, tx);
    tx.spends.forEach((outpoint, vin) => {
      spenders.set(outpoint, { txid: tx.txid, vin });
    });
  }

  function drop(txid: string): void {
    const tx = txs.get(txid);
    txs.delete(txid);
    waiting = waiting.filter((one) => one !== txid);
    for (const outpoint of tx?.spends ?? []) {
      if (spenders.get(outpoint)?.txid === txid) spenders.delete(outpoint);
    }
  }

  /** Takes a transaction. One that spends the same coins and is in no block gives way to it. */
  function accept(bytes: Uint8Array): string {
    const tx = parsed(bytes);
    if (txs.has(tx.txid)) return tx.txid;
    const rivals = tx.spends.flatMap((outpoint) => spenders.get(outpoint)?.txid ?? []);
    const isSpent = rivals.some((txid) => txs.get(txid)?.height !== null);
    if (isSpent || tx.spends.some((outpoint) => outputAt(outpoint) === undefined)) {
      throw new Error('bad-txns-inputs-missingorspent');
    }
    for (const txid of rivals) drop(txid);
    add(tx);
    waiting.push(tx.txid);
    return tx.txid;
  }

  function mineOne(): void {
    const height = blocks.length;
    const before = blocks.at(-1);
    const tag = utf8ToBytes(`block ${height}`);
    const coinbase = parsed(
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
    const root = merkleLevels(txids).at(-1)?.[0] ?? new Uint8Array(32);
    const time = Math.max(Math.floor(Date.now() / 1000), (before?.time ?? 0) + 1);
    const previous = before ? wire(before.hash) : new Uint8Array(32);
    for (let nonce = 0; ; nonce++) {
      const header = concatBytes(
        ...[uint32(0x20000000), previous, root, uint32(time), uint32(0x207fffff), uint32(nonce)],
      );
      const hash = reversed(hashed(header));
      if ((hash[0] ?? 0xff) >= 0x7f) continue;
      blocks.push({ height, hash: hex.encode(hash), header, time, txids });
      break;
    }
    add(coinbase);
    for (const txid of txids) {
      const tx = txs.get(txid);
      if (tx) tx.height = height;
    }
    for (let vout = 0; vout < COINBASE_OUTPUTS; vout++) free.push(`${coinbase.txid}:${vout}`);
    waiting = [];
  }

  const genesis = hex.decode(GENESIS.header);
  blocks.push({
    ...{ height: 0, hash: shown(hashed(genesis)), header: genesis },
    ...{ time: GENESIS.time, txids: [GENESIS.txid] },
  });
  for (let count = 0; count < FIRST_BLOCKS; count++) mineOne();

  const statusOf = ({ height }: Tx) => {
    const block = height === null ? undefined : blocks[height];
    return block
      ? {
          ...{ confirmed: true, block_height: block.height },
          ...{ block_hash: block.hash, block_time: block.time },
        }
      : { confirmed: false };
  };

  function described(tx: Tx) {
    const inputs = tx.raw.inputs.map((input, at) => {
      const [txid = '', vout = '0'] = (tx.spends[at] ?? '').split(':');
      const output = outputAt(tx.spends[at] ?? '');
      return {
        ...{ txid, vout: Number(vout), is_coinbase: input.index === 0xffffffff },
        prevout: output
          ? { value: Number(output.amount), scriptpubkey: hex.encode(output.script) }
          : null,
        scriptsig: hex.encode(input.finalScriptSig),
        witness: (tx.raw.witnesses?.[at] ?? []).map((item) => hex.encode(item)),
        sequence: input.sequence,
      };
    });
    const paid = tx.raw.outputs.reduce((sum, { amount }) => sum + amount, 0n);
    const taken = inputs.reduce((sum, { prevout }) => sum + BigInt(prevout?.value ?? 0), 0n);
    return {
      ...{ txid: tx.txid, version: tx.raw.version, locktime: tx.raw.lockTime, vin: inputs },
      vout: tx.raw.outputs.map(({ amount, script }) => ({
        ...{ value: Number(amount), scriptpubkey: hex.encode(script) },
      })),
      ...{ size: tx.bytes.length, weight: tx.bytes.length * 4, status: statusOf(tx) },
      fee: taken > paid ? Number(taken - paid) : 0,
    };
  }

  function ofScript(scriptHash: string): Tx[] {
    const txids = [...(byScript.get(scriptHash) ?? [])].toReversed();
    return txids.flatMap((txid) => txs.get(txid) ?? []);
  }

  function ofBlock([, hash, part]: readonly string[]): Response {
    const block = blocks.find((one) => one.hash === hash);
    if (block === undefined) return none();
    if (part === 'header') return text(hex.encode(block.header));
    if (part === 'txids') return Response.json(block.txids);
    if (part !== 'status') return Response.json(summary(block));
    return Response.json({
      ...{ in_best_chain: true, height: block.height },
      next_best: blocks[block.height + 1]?.hash ?? null,
    });
  }

  const summary = (block: Block) => ({
    ...{ id: block.hash, height: block.height, version: 0x20000000, timestamp: block.time },
    ...{ tx_count: block.txids.length, size: 300, weight: 1200, mediantime: block.time },
    merkle_root: shown(block.header.slice(36, 68)),
    previousblockhash: blocks[block.height - 1]?.hash ?? null,
    ...{ nonce: 0, bits: 0x207fffff, difficulty: 0 },
  });

  function ofTransaction([, txid = '', part, vout]: readonly string[]): Response {
    const tx = txs.get(txid);
    if (tx === undefined) return none();
    const block = tx.height === null ? undefined : blocks[tx.height];
    switch (part) {
      case 'raw':
        return new Response(tx.bytes as Uint8Array<ArrayBuffer>);
      case 'hex':
        return text(hex.encode(tx.bytes));
      case 'status':
        return Response.json(statusOf(tx));
      case 'outspend': {
        const spender = spenders.get(`${txid}:${vout}`);
        const by = spender && txs.get(spender.txid);
        return Response.json(by ? { spent: true, ...spender, status: statusOf(by) } : NOT_SPENT);
      }
      case 'merkleblock-proof':
        return block ? text(merkleBlock(block, txid)) : none();
      case 'merkle-proof':
        return block ? Response.json(merkleProof(block, txid)) : none();
      default:
        return Response.json(described(tx));
    }
  }

  function answer(path: readonly string[]): Response {
    const tip = blocks.length - 1;
    switch (path[0]) {
      case 'fee-estimates':
        return Response.json(FEES);
      case 'blocks': {
        if (path[1] === 'tip')
          return text(path[2] === 'hash' ? (blocks[tip]?.hash ?? '') : `${tip}`);
        const top = path[1] === undefined ? tip : Number(path[1]);
        return Response.json(
          blocks
            .slice(Math.max(0, top - 9), top + 1)
            .reverse()
            .map(summary),
        );
      }
      case 'block-height': {
        const block = blocks[Number(path[1])];
        return block ? text(block.hash) : none();
      }
      case 'block':
        return ofBlock(path);
      case 'tx':
        return ofTransaction(path);
      case 'scripthash':
        // All are in the first page.
        return Response.json(path[3] === 'chain' ? [] : ofScript(path[1] ?? '').map(described));
      default:
        return none();
    }
  }

  const chain: EsploraChain = {
    url: '',
    height: () => blocks.length - 1,
    mine(count) {
      for (let mined = 0; mined < count; mined++) mineOne();
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
    isAway: false,
    stop: () => server.stop(true),
  };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (chain.isAway) return text('away', 500);
      const path = new URL(request.url).pathname.split('/').filter((part) => part !== '');
      if (request.method !== 'POST') return answer(path);
      try {
        return text(accept(hex.decode((await request.text()).trim())));
      } catch (error) {
        return text(`sendrawtransaction RPC error: ${(error as Error).message}`, 400);
      }
    },
  });
  return Object.assign(chain, { url: `http://127.0.0.1:${server.port}` });
}

const NOT_SPENT = { spent: false };
const text = (body: string, status = 200) => new Response(body, { status });
const none = () => text('not found', 404);

function merkleLevels(txids: readonly string[]): Uint8Array[][] {
  let level: Uint8Array[] = txids.map(wire);
  const levels = [level];
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const left = level[at] ?? new Uint8Array();
      above.push(hashed(concatBytes(left, level[at + 1] ?? left)));
    }
    level = above;
    levels.push(level);
  }
  return levels;
}

/** The proof of BIP 37 that a block holds one transaction. */
function merkleBlock({ header, txids }: Block, txid: string): string {
  const levels = merkleLevels(txids);
  const at = txids.indexOf(txid);
  const bits: boolean[] = [];
  const hashes: Uint8Array[] = [];
  const walk = (level: number, position: number) => {
    const holds = at >> level === position;
    bits.push(holds);
    if (level === 0 || !holds) {
      hashes.push(levels[level]?.[position] ?? new Uint8Array(32));
      return;
    }
    walk(level - 1, position * 2);
    if (position * 2 + 1 < (levels[level - 1]?.length ?? 0)) walk(level - 1, position * 2 + 1);
  };
  walk(levels.length - 1, 0);
  const flags = new Uint8Array(Math.ceil(bits.length / 8));
  bits.forEach((bit, index) => {
    flags[index >> 3] = (flags[index >> 3] ?? 0) | (Number(bit) << (index & 7));
  });
  return hex.encode(
    concatBytes(
      ...[header, uint32(txids.length), Uint8Array.of(hashes.length), ...hashes],
      ...[Uint8Array.of(flags.length), flags],
    ),
  );
}

function merkleProof({ height, txids }: Block, txid: string) {
  const levels = merkleLevels(txids);
  const pos = txids.indexOf(txid);
  const merkle = levels
    .slice(0, -1)
    .map((level, depth) =>
      shown(level[(pos >> depth) ^ 1] ?? level[pos >> depth] ?? new Uint8Array()),
    );
  return { block_height: height, merkle, pos };
}
