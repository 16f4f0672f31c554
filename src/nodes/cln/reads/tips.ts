import { ifAllowed } from '../../remote/calls/if-allowed.ts';
import type { Order } from '../words/cursor.ts';
import { waitShape } from '../words/wire.ts';
import type { ClnRpc } from './rpc.ts';

/** The newest number in an order of a list; null where the rune may not ask for it. */
export async function tipOf(rpc: ClnRpc, list: string, order: Order): Promise<number | null> {
  const request = { subsystem: list, indexname: order, nextvalue: 0 };
  const reached = await ifAllowed(rpc.read('wait', request, waitShape));
  return reached && (reached[order] ?? 0);
}

/** Whether the node has never deleted a payment from its list, as its plugin autoclean does. */
export async function isSendListComplete(owner: ClnRpc): Promise<boolean> {
  return (await tipOf(owner, 'sendpays', 'deleted')) === 0;
}
