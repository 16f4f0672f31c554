import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { channelIdOf } from '../../channel-id.ts';
import { ifAllowed } from '../../remote/calls/if-allowed.ts';
import { outlineOf, paidSatOf } from '../../remote/orders/psbt.ts';
import type { LndRest } from '../reads/rest.ts';
import { recentTransactions } from '../reads/transactions.ts';
import { closedChannelsShape, type LndTransaction, pendingChannelsShape } from '../words/wire.ts';

/** A channel that is closed, or whose closing transaction is published, together with the peer or forced. */
export interface Closing {
  readonly closingTxid: string;
  readonly capacitySat: bigint;
  /** Whether this node opened the channel; the opener pays for closing it. */
  readonly isOurs: boolean;
}

const BY_US = 'INITIATOR_LOCAL';
/** The ways in which a channel ends that was once open. */
const CLOSED = 'cooperative=true&local_force=true&remote_force=true&breach=true';

/** Returns what opening a channel cost, in millisatoshis; null when LND does not list the funding transaction. */
export async function openingCostMsat(owner: LndRest, txid: string): Promise<bigint | null> {
  const listed = await find(owner, txid);
  return listed ? listed.total_fees * MSAT_PER_SAT : null;
}

/**
 * Returns what closing a channel cost this node, in millisatoshis: its capacity less its outputs, which includes dust
 * of the other side. Null when LND does not list the transaction, because nothing of it went to LND's wallet.
 */
export async function closingCostMsat(
  owner: LndRest,
  { closingTxid, capacitySat, isOurs }: Closing,
): Promise<bigint | null> {
  if (!isOurs) return 0n;
  const listed = await find(owner, closingTxid);
  if (!listed) return null;
  return (capacitySat - paidSatOf(outlineOf(hex.decode(listed.raw_tx_hex)))) * MSAT_PER_SAT;
}

/** Returns the closing of a channel, in progress or done; null when there is none. */
export async function closingOf(owner: LndRest, channelId: string): Promise<Closing | null> {
  const isIt = (point: string) => channelIdOf(point) === channelId;
  const pending = await owner.list('/v1/channels/pending', pendingChannelsShape);
  const waiting = [
    ...pending.waiting_close_channels,
    ...pending.pending_force_closing_channels,
  ].find(({ channel }) => isIt(channel.channel_point));
  if (waiting) {
    const { capacity, initiator } = waiting.channel;
    return {
      closingTxid: waiting.closing_txid,
      capacitySat: capacity,
      isOurs: initiator === BY_US,
    };
  }
  const closed = await ifAllowed(owner.list(`/v1/channels/closed?${CLOSED}`, closedChannelsShape));
  const found = closed?.channels.find(({ channel_point }) => isIt(channel_point));
  if (!found) return null;
  return {
    closingTxid: found.closing_tx_hash,
    capacitySat: found.capacity,
    isOurs: found.open_initiator === BY_US,
  };
}

/** The transaction in LND's list; null when it is not there or cannot be read: a missing cost is no error. */
async function find(owner: LndRest, txid: string): Promise<LndTransaction | null> {
  const listed = await recentTransactions(owner).catch(() => []);
  return listed.find(({ tx_hash }) => tx_hash === txid) ?? null;
}
