import { formatAmountMsat, MSAT_PER_SAT } from '../../model/amount.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { refusesToClose } from './certainty.ts';
import { channelIdOf, readChannels } from './channels.ts';
import { satPerVbyte } from './fee-rate.ts';
import type { LndRest } from './rest.ts';
import { closeUpdateShape, type LndChannel } from './wire.ts';

const CLOSE_TIMEOUT_MS = 120_000;
/** Most virtual bytes of a cooperative close: one input of two signatures, two outputs of the largest kind. */
const CLOSE_VBYTES = 200n;

/** Most that closing costs this wallet now, millisatoshis. Throws `notFound`. */
export async function closeFeeBoundMsat(owner: LndRest, channelId: string): Promise<bigint> {
  await findChannel(owner, channelId);
  return CLOSE_VBYTES * (await satPerVbyte(owner)) * MSAT_PER_SAT;
}

/** Closes cooperatively and returns when both sides have agreed on the closing transaction; see the port. */
export async function closeChannel(
  rest: LndRest,
  owner: LndRest,
  channelId: string,
  { maxFeeMsat }: { readonly maxFeeMsat: bigint | null },
): Promise<{ feeMsat: bigint | null }> {
  const channel = await findChannel(owner, channelId);
  const rate = await satPerVbyte(owner);
  const boundMsat = CLOSE_VBYTES * rate * MSAT_PER_SAT;
  if (maxFeeMsat !== null && boundMsat > maxFeeMsat) {
    throw refused(
      `Closing the channel may cost ${formatAmountMsat(boundMsat)} sats, more than is allowed: wait for lower fees.`,
    );
  }
  // Both: the one is what LND offers first, the other what it goes up to with the other side.
  const query = new URLSearchParams({
    sat_per_vbyte: `${rate}`,
    max_fee_per_vbyte: `${rate}`,
  });
  const path = `/v1/channels/${channel.channel_point.replace(':', '/')}?${query}`;
  const stop = new AbortController();
  const updates = rest.stream('DELETE', path, undefined, closeUpdateShape, stop.signal, {
    certainty: refusesToClose,
    headWithinMs: CLOSE_TIMEOUT_MS,
  });
  try {
    const first = await updates.next();
    if (!first.done) return { feeMsat: null };
  } finally {
    stop.abort();
  }
  throw new ApiError('timeout', 'The other side has not agreed to close yet: look again later.', {
    outcomeUnknown: true,
  });
}

async function findChannel(owner: LndRest, channelId: string): Promise<LndChannel> {
  const { open } = await readChannels(owner);
  const channel = open.find(({ channel_point }) => channelIdOf(channel_point) === channelId);
  if (channel) return channel;
  throw new ApiError('notFound', 'Channel not found');
}
