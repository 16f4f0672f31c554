import { hex } from '@scure/base';
import type { Socket } from 'bun';
import type { IndexedBlock, IndexedTx } from './esplora-index.ts';
import type { EsploraSource } from './esplora-server.ts';
import { merkleProof, shown } from './merkle.ts';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly (string | number)[];
}

const SAT_PER_VBYTE_IN_BTC_PER_KVB = 1e-5;
const MOST_HEADERS = 2016;

/** Serves as much of the Electrum protocol as LDK and BDK ask for, in lines of JSON on a free port of this machine. */
export function serveElectrum(source: EsploraSource) {
  const call = callsOf(source);
  const sockets = new Set<Socket<{ rest: string }>>();
  const stalled = new Set<Socket<{ rest: string }>>();
  async function answer(line: string) {
    const { id, method, params = [] } = JSON.parse(line) as Request;
    try {
      return { jsonrpc: '2.0', id, result: await call(method, params) };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: 1, message: (error as Error).message } };
    }
  }
  const server = Bun.listen<{ rest: string }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.data = { rest: '' };
        sockets.add(socket);
      },
      close: (socket) => void sockets.delete(socket),
      async data(socket, bytes) {
        if (stalled.has(socket)) return;
        const lines = (socket.data.rest + bytes.toString()).split('\n');
        socket.data.rest = lines.pop() ?? '';
        try {
          await source.ready();
        } catch {
          // A server that is away answers nothing.
          socket.end();
          return;
        }
        for (const line of lines) {
          const said = Buffer.from(`${JSON.stringify(await answer(line))}\n`);
          // What does not fit into the socket's buffer is given again.
          for (let at = 0; at < said.length && socket.readyState > 0; ) {
            at += socket.write(said.subarray(at));
            if (at < said.length) await Bun.sleep(1);
          }
        }
      },
    },
  });
  return {
    url: `tcp://127.0.0.1:${server.port}`,
    /** Answers nothing any more on the connections that there are, and ends none; others are served. */
    stall() {
      for (const socket of sockets) stalled.add(socket);
    },
    stop() {
      for (const socket of sockets) socket.end();
      server.stop(true);
    },
  };
}

/** What the server answers to a call. */
function callsOf({ index, fees, publish }: EsploraSource) {
  const { blocks, txs } = index;
  const headerAt = (height: number) => {
    const block = blocks[height];
    if (block === undefined) throw new Error(`height ${height} out of range`);
    return hex.encode(block.header);
  };
  const txOf = (txid: string): IndexedTx => {
    const tx = txs.get(txid);
    if (tx === undefined) throw new Error('No such mempool or blockchain transaction.');
    return tx;
  };
  /** Zero for a transaction that waits, and one less where it spends another one that does. */
  const heightOf = ({ height, spends }: IndexedTx) => {
    if (height !== null) return height;
    return spends.some((outpoint) => txs.get(outpoint.split(':')[0] ?? '')?.height === null)
      ? -1
      : 0;
  };

  return function call(method: string, params: readonly (string | number)[]): unknown {
    const [first = '', second = ''] = params;
    switch (method) {
      case 'server.version':
        return ['chain in TypeScript', '1.4'];
      case 'blockchain.headers.subscribe':
        return { height: blocks.length - 1, hex: headerAt(blocks.length - 1) };
      case 'blockchain.block.header':
        return headerAt(Number(first));
      case 'blockchain.block.headers': {
        const count = Math.min(Number(second), MOST_HEADERS, blocks.length - Number(first));
        const headers = Array.from({ length: count }, (_, at) => headerAt(Number(first) + at));
        return { count, hex: headers.join(''), max: MOST_HEADERS };
      }
      case 'blockchain.scripthash.get_history':
        return index
          .ofScript(shown(hex.decode(String(first))))
          .map((tx) => ({ tx_hash: tx.txid, height: heightOf(tx), fee: 0 }))
          .toSorted((one, other) => order(one.height) - order(other.height));
      case 'blockchain.transaction.get':
        return hex.encode(txOf(String(first)).bytes);
      case 'blockchain.transaction.get_merkle': {
        const block: IndexedBlock | undefined = blocks[txOf(String(first)).height ?? -1];
        if (block === undefined || block.height !== second) throw new Error('not in that block');
        return merkleProof(block, String(first));
      }
      case 'blockchain.transaction.broadcast':
        return publish(hex.decode(String(first)));
      case 'blockchain.estimatefee': {
        const known = Object.keys(fees).filter((blocks) => Number(blocks) <= Number(first));
        return (fees[known.at(-1) ?? ''] ?? 1) * SAT_PER_VBYTE_IN_BTC_PER_KVB;
      }
      case 'blockchain.relayfee':
        return SAT_PER_VBYTE_IN_BTC_PER_KVB;
      default:
        throw new Error(`unknown method ${method}`);
    }
  };
}

/** What waits for a block comes last. */
const order = (height: number) => (height > 0 ? height : Number.MAX_SAFE_INTEGER);
