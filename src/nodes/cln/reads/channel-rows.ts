import { z } from 'zod';
import type { ClnWallet } from './wallet.ts';

/** Rows of channels by the user channel id that they were opened for. The node keeps no word with a channel. */
const OPENING_ROWS = 'cln_opening';
/** Rows of user channel ids by channel ids. */
const CHANNEL_ROWS = 'cln_channel';

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

const channelShape = z.object({ userChannelId: z.string() });

/** The row of a user channel id; null where no channel was asked for with it. */
export async function readOpening(
  { rows, userPk }: ClnWallet,
  userChannelId: string,
): Promise<Opening | null> {
  const row = await rows.get(userPk, OPENING_ROWS, userChannelId);
  return row === null || row === undefined ? null : openingShape.parse(row);
}

/** Keeps that a channel is asked for, or which channel it became. */
export async function putOpening(
  { rows, userPk }: ClnWallet,
  userChannelId: string,
  opening: Opening,
): Promise<void> {
  const { channelId } = opening;
  if (channelId !== null) await rows.put(userPk, CHANNEL_ROWS, channelId, { userChannelId });
  await rows.put(userPk, OPENING_ROWS, userChannelId, opening);
}

/** The user channel id of a channel; null for one that was opened without the sidecar. */
export async function userChannelIdOf(
  { rows, userPk }: ClnWallet,
  channelId: string,
): Promise<string | null> {
  const { data } = channelShape.safeParse(await rows.get(userPk, CHANNEL_ROWS, channelId));
  return data?.userChannelId ?? null;
}
