import { hex } from '@scure/base';
import { encodeAddress } from '../../../codecs/address.ts';
import type { Network } from '../../../codecs/network.ts';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { type ClnTransaction, transactionsShape } from '../words/chain-wire.ts';
import { type ClnOutput, infoShape } from '../words/wire.ts';
import { outpointOf, readCoins, readEveryCoin, satOf } from './coins.ts';
import type { ClnRpc } from './rpc.ts';

/** The transactions that concern the wallet and its channels, as the node has them now. */
export interface Chain {
  /** The newest block that the node has processed. */
  readonly height: number;
  /** By txid. */
  readonly transactions: ReadonlyMap<string, ClnTransaction>;
  /** Every coin that the wallet has or had, by its outpoint. */
  readonly coins: ReadonlyMap<string, ClnOutput>;
}

/** Reads the chain. The height is read first, so that no transaction is taken to be deeper than it is. */
export async function readChain(owner: ClnRpc): Promise<Chain> {
  const { blockheight } = await owner.read('getinfo', {}, infoShape);
  const [{ transactions }, coins] = await Promise.all([
    owner.list('listtransactions', {}, transactionsShape),
    readEveryCoin(owner),
  ]);
  return {
    height: blockheight,
    transactions: new Map(transactions.map((one) => [one.hash, one])),
    coins: new Map(coins.map((coin) => [outpointOf(coin), coin])),
  };
}

/** The outpoints that a transaction spends. */
export function spentBy({ inputs }: Pick<ClnTransaction, 'inputs'>): string[] {
  return inputs.map(({ txid, index }) => `${txid}:${index}`);
}

/** The fee of a transaction, in millisatoshis; null where a coin of it is not the wallet's. */
export function feeMsatOf({ inputs, outputs }: ClnTransaction, { coins }: Chain): bigint | null {
  let feeMsat = -outputs.reduce((sum, { amount_msat }) => sum + amount_msat, 0n);
  for (const outpoint of spentBy({ inputs })) {
    const coin = coins.get(outpoint);
    if (coin === undefined) return null;
    feeMsat += satOf(coin) * MSAT_PER_SAT;
  }
  return feeMsat;
}

/** The coins of the balance. One that was spent is listed as reserved, beside the change, until a block. */
export async function readBalance(rpc: ClnRpc): Promise<readonly ClnOutput[]> {
  const coins = await readCoins(rpc);
  if (!coins.some(({ reserved }) => reserved)) return coins;
  const { transactions } = await rpc.list('listtransactions', {}, transactionsShape);
  const pending = transactions.filter(({ blockheight }) => blockheight === 0);
  const spent = new Set(pending.flatMap(spentBy));
  return coins.filter((coin) => !(coin.reserved && spent.has(outpointOf(coin))));
}

/** Whether the transaction spends a coin of the wallet. */
export function isOwn(transaction: ClnTransaction, { coins }: Chain): boolean {
  return spentBy(transaction).some((outpoint) => coins.has(outpoint));
}

/** The outputs of a transaction that are not the wallet's, with their addresses. */
export function foreignOutputs(
  { hash, outputs }: ClnTransaction,
  { coins }: Chain,
  network: Network,
): { amountMsat: bigint; address: string | null }[] {
  return outputs.flatMap(({ amount_msat, scriptPubKey }, at) =>
    coins.has(`${hash}:${at}`)
      ? []
      : [{ amountMsat: amount_msat, address: encodeAddress(hex.decode(scriptPubKey), network) }],
  );
}
