import { hex } from '@scure/base';
import { serveElectrum } from '../../support/electrum-server.ts';
import { esploraIndex, parsedTx } from '../../support/esplora-index.ts';
import { serveEsplora } from '../../support/esplora-server.ts';
import type { ChainAccess } from './btcd.ts';
import { type BtcdRpc, btcdRpc, publishRaw } from './btcd-rpc.ts';
import { SAT_PER_VBYTE } from './fee-estimates.ts';

/** The chain as LDK reads it. */
export interface Esplora {
  readonly url: string;
  /** The same chain as an Electrum server tells of it. */
  readonly electrumUrl: string;
  stop(): Promise<void>;
}

interface Block {
  readonly hash: string;
  readonly time: number;
  readonly rawtx: readonly { readonly txid: string; readonly hex: string }[];
}

/** Serves btcd's chain as Esplora and an Electrum server do. It reads what is new before each answer, and follows no reorganization. */
export function startEsplora(access: ChainAccess): Esplora {
  const rpc = btcdRpc(access);
  const index = esploraIndex();
  let turn: Promise<void> = Promise.resolve();
  const source = {
    ...{ index, fees: SAT_PER_VBYTE },
    publish: (bytes: Uint8Array) => publishRaw(rpc, hex.encode(bytes)),
    ready() {
      turn = turn.catch(() => undefined).then(() => catchUp(rpc, index));
      return turn;
    },
  };
  const [esplora, electrum] = [serveEsplora(source), serveElectrum(source)];
  return {
    ...{ url: esplora.url, electrumUrl: electrum.url },
    async stop() {
      electrum.stop();
      await esplora.stop();
    },
  };
}

/** The mempool is read first: what leaves it for a block meanwhile is in one of the two. */
async function catchUp(rpc: BtcdRpc, index: ReturnType<typeof esploraIndex>): Promise<void> {
  const unconfirmed = await rpc<string[]>('getrawmempool');
  const tip = await rpc<number>('getblockcount');
  for (let height = index.blocks.length; height <= tip; height++) {
    const hash = await rpc<string>('getblockhash', [height]);
    const header = hex.decode(await rpc<string>('getblockheader', [hash, false]));
    const { time, rawtx } = await rpc<Block>('getblock', [hash, 2]);
    for (const one of rawtx) {
      if (!index.txs.has(one.txid)) index.add(parsedTx(hex.decode(one.hex)));
    }
    index.confirm({ height, hash, header, time, txids: rawtx.map(({ txid }) => txid) });
  }
  for (const { txid, height } of [...index.txs.values()]) {
    if (height === null && !unconfirmed.includes(txid)) index.drop(txid);
  }
  for (const txid of unconfirmed) {
    if (index.txs.has(txid)) continue;
    // It may have left the mempool meanwhile.
    const raw = await rpc<string>('getrawtransaction', [txid, 0]).catch(() => null);
    if (raw !== null) index.add(parsedTx(hex.decode(raw)));
  }
}
