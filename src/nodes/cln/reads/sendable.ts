import type { ClnChannel } from '../words/wire.ts';
import { isUsable, readChannels } from './channels.ts';
import type { ClnRpc } from './rpc.ts';

/** What the channels together can send now, in millisatoshis. */
export function sendableMsatOf(channels: readonly ClnChannel[]): bigint {
  return channels.filter(isUsable).reduce((sum, { spendable_msat }) => sum + spendable_msat, 0n);
}

/** Reads what the channels together can send now, in millisatoshis. */
export async function maxSendableMsat(owner: ClnRpc): Promise<bigint> {
  return sendableMsatOf(await readChannels(owner));
}
