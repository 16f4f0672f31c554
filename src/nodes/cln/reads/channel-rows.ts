import { z } from 'zod';
import { keptRows } from '../../remote/place/kept-rows.ts';
import type { ClnWallet } from './wallet.ts';

const openingShape = z.object({
  /** Millisatoshis as decimal text. */
  valueMsat: z.string().regex(/^\d+$/),
  peer: z.string(),
  /** The outpoints that were to fund it; none once the node has refused, so that nothing is under way. */
  coins: z.array(z.string()),
  /** The channels with the peer that were there before. */
  before: z.array(z.string()),
  /** Null until the channel is known. */
  channelId: z.string().nullable(),
});
/** A channel that was asked for. */
export type Opening = z.output<typeof openingShape>;

/** User channel ids by channel ids. */
const CHANNELS = keptRows(
  'cln_channel',
  z.object({ userChannelId: z.string() }).nullable().catch(null),
);

/** Channels by the user channel id that they were asked for with. The node keeps no word with a channel. */
export const OPENINGS = keptRows('cln_opening', openingShape);

/** Keeps that a channel is asked for, or which channel it became. */
export async function putOpening(
  wallet: ClnWallet,
  userChannelId: string,
  opening: Opening,
): Promise<void> {
  const { channelId } = opening;
  if (channelId !== null) await CHANNELS.put(wallet, channelId, { userChannelId });
  await OPENINGS.put(wallet, userChannelId, opening);
}

/** The user channel id of a channel; null for one that was opened without the sidecar. */
export async function userChannelIdOf(
  wallet: ClnWallet,
  channelId: string,
): Promise<string | null> {
  return (await CHANNELS.get(wallet, channelId))?.userChannelId ?? null;
}
