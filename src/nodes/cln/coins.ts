import type { ClnRpc } from './rpc.ts';
import { type ClnOutput, fundsShape } from './wire.ts';

/** The wallet's coins: outputs that it can spend now or later. */
export async function readCoins(rpc: ClnRpc): Promise<readonly ClnOutput[]> {
  const { outputs } = await rpc.list('listfunds', {}, fundsShape);
  return outputs.filter(({ status }) => status !== 'spent');
}
