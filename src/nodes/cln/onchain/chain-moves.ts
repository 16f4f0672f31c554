import type { ClnRpc } from '../reads/rpc.ts';
import { type ClnChainMove, chainMovesShape } from '../words/chain-wire.ts';

const PAGE = 1000;

/**
 * The node's record of money on chain: coins that arrived in a block, and coins that were spent by one. A row stays
 * when a reorganization takes the block back. `after` is a created index. Rows come in the order of that index.
 */
export async function chainMovesAfter(
  owner: ClnRpc,
  after: number,
): Promise<readonly ClnChainMove[]> {
  const moves: ClnChainMove[] = [];
  for (let start = after + 1; ; ) {
    const page = { index: 'created', start, limit: PAGE };
    const { chainmoves } = await owner.list('listchainmoves', page, chainMovesShape);
    moves.push(...chainmoves);
    const last = chainmoves.at(-1);
    if (last === undefined || chainmoves.length < PAGE) return moves;
    start = last.created_index + 1;
  }
}

/** A transaction in a block that spends a coin. */
export interface Spender {
  readonly txid: string;
  readonly height: number;
}

/**
 * The transactions in blocks that spent these coins of the wallet. Where the record has several for one coin, the
 * latest stands, because a reorganization took the others back.
 */
export async function spendersOf(
  owner: ClnRpc,
  outpoints: readonly string[],
): Promise<readonly Spender[]> {
  const latest = new Map<string, Spender>();
  for (const { account_id, utxo, spending_txid, blockheight } of await chainMovesAfter(owner, 0)) {
    if (account_id !== 'wallet' || spending_txid === undefined) continue;
    if (outpoints.includes(utxo)) latest.set(utxo, { txid: spending_txid, height: blockheight });
  }
  return [...latest.values()];
}
