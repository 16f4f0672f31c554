import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../model/amount.ts';
import { transactionJsonOf } from '../../model/transaction.ts';
import { channelIdOf } from './channels.ts';
import { ifAllowed, type LndRest } from './rest.ts';
import { recentTransactions } from './transactions.ts';
import { closedChannelsShape, type LndTransaction, pendingChannelsShape } from './wire.ts';

/** A channel whose closing both sides have agreed on, confirmed or not. */
export interface Closing {
  readonly closingTxid: string;
  readonly capacitySat: bigint;
  /** Whether this node opened the channel, and so pays for its closing. */
  readonly isOurs: boolean;
}

const BY_US = 'INITIATOR_LOCAL';

/** What opening a channel cost, millisatoshis; null when LND does not list its transaction. */
export async function openingCostMsat(owner: LndRest, txid: string): Promise<bigint | null> {
  const listed = await find(owner, txid);
  return listed ? listed.total_fees * MSAT_PER_SAT : null;
}

/**
 * What closing a channel cost this node, millisatoshis: all that its capacity has more than its outputs, so the other
 * side's dust too. Null when LND does not list the transaction, which then pays nothing to its wallet.
 */
export async function closingCostMsat(
  owner: LndRest,
  { closingTxid, capacitySat, isOurs }: Closing,
): Promise<bigint | null> {
  if (!isOurs) return 0n;
  const listed = await find(owner, closingTxid);
  if (!listed) return null;
  const { output } = transactionJsonOf(hex.decode(listed.raw_tx_hex));
  const paidSat = output.reduce((sum, { value }) => sum + BigInt(value), 0n);
  return (capacitySat - paidSat) * MSAT_PER_SAT;
}

/** How that channel is being closed or was closed by agreement, or null. */
export async function closingOf(owner: LndRest, channelId: string): Promise<Closing | null> {
  const isIt = (point: string) => channelIdOf(point) === channelId;
  const { waiting_close_channels } = await owner.list('/v1/channels/pending', pendingChannelsShape);
  const waiting = waiting_close_channels.find(({ channel }) => isIt(channel.channel_point));
  if (waiting) {
    const { capacity, initiator } = waiting.channel;
    return {
      closingTxid: waiting.closing_txid,
      capacitySat: capacity,
      isOurs: initiator === BY_US,
    };
  }
  const closed = await ifAllowed(
    owner.list('/v1/channels/closed?cooperative=true', closedChannelsShape),
  );
  const found = closed?.channels.find(({ channel_point }) => isIt(channel_point));
  if (!found) return null;
  return {
    closingTxid: found.closing_tx_hash,
    capacitySat: found.capacity,
    isOurs: found.open_initiator === BY_US,
  };
}

/** What a channel cost is not worth an error once the channel is open or closed. */
async function find(owner: LndRest, txid: string): Promise<LndTransaction | null> {
  const listed = await recentTransactions(owner).catch(() => []);
  return listed.find(({ tx_hash }) => tx_hash === txid) ?? null;
}
