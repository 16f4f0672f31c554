import { hex } from '@scure/base';
import type { EsploraIndex, IndexedBlock, IndexedTx } from './esplora-index.ts';
import { merkleBlock, merkleProof, shown } from './merkle.ts';

/** A chain, and how Esplora is served of it. */
export interface EsploraSource {
  readonly index: EsploraIndex;
  /** By the number of blocks, in satoshis per virtual byte. */
  readonly fees: Readonly<Record<string, number>>;
  /** Takes a transaction and returns its txid, or throws. */
  publish(bytes: Uint8Array): string | Promise<string>;
  /** Called before each answer, which is error 500 where this throws. */
  ready(): void | Promise<void>;
}

/** Serves as much of Esplora's HTTP API as LDK and BDK ask for, on a free port of this machine. */
export function serveEsplora({ index, fees, publish, ready }: EsploraSource) {
  const answer = answersOf(index, fees);
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      try {
        await ready();
      } catch (error) {
        return text(String(error), 500);
      }
      const path = new URL(request.url).pathname.split('/').filter((part) => part !== '');
      if (request.method !== 'POST') return answer(path);
      try {
        return text(await publish(hex.decode((await request.text()).trim())));
      } catch (error) {
        return text(`sendrawtransaction RPC error: ${(error as Error).message}`, 400);
      }
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

const NOT_SPENT = { spent: false };
const text = (body: string, status = 200) => new Response(body, { status });
const none = () => text('not found', 404);

/** What Esplora answers to a path. */
function answersOf(index: EsploraIndex, fees: EsploraSource['fees']) {
  const { blocks, txs } = index;

  const statusOf = ({ height }: IndexedTx) => {
    const block = height === null ? undefined : blocks[height];
    return block
      ? {
          ...{ confirmed: true, block_height: block.height },
          ...{ block_hash: block.hash, block_time: block.time },
        }
      : { confirmed: false };
  };

  function described(tx: IndexedTx) {
    const inputs = tx.raw.inputs.map((input, at) => {
      const [txid = '', vout = '0'] = (tx.spends[at] ?? '').split(':');
      const output = index.outputAt(tx.spends[at] ?? '');
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

  const summary = (block: IndexedBlock) => ({
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
        const spender = index.spenderOf(`${txid}:${vout}`);
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
        return Response.json(fees);
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
        return Response.json(
          path[3] === 'chain' ? [] : index.ofScript(path[1] ?? '').map(described),
        );
      default:
        return none();
    }
  }

  return answer;
}
