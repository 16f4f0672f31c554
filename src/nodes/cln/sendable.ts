import { requireEnough } from '../remote/sendable.ts';
import { isUsable, readChannels } from './channels.ts';
import type { ClnRpc } from './rpc.ts';
import type { ClnChannel } from './wire.ts';

/** What the channels together can send now, in millisatoshis. */
export function sendableMsatOf(channels: readonly ClnChannel[]): bigint {
  return channels.filter(isUsable).reduce((sum, { spendable_msat }) => sum + spendable_msat, 0n);
}

/** Throws `refused` when the channels cannot send the amount; see {@link requireEnough}. */
export async function requireSendable(owner: ClnRpc, amountMsat: bigint): Promise<void> {
  requireEnough(amountMsat, sendableMsatOf(await readChannels(owner)));
}
