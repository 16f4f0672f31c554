import { wholeSats } from '../model/amount.ts';
import { ApiError, refused } from '../model/errors.ts';
import type { RealKind } from '../model/node-kind.ts';
import type { OpenChannelCommand } from './node-groups.ts';

/** What nodes of several kinds refuse, in the same words. */

/** A node's own messages are shown and logged up to this many characters. */
export const MOST_SHOWN_CHARACTERS = 300;

/** The error for what a kind of node has not (error 110). */
export function unsupportedBy(node: RealKind, message: string, cause?: unknown): ApiError {
  return new ApiError('unsupported', message, { data: { node }, cause });
}

/** Throws `unsupported` for a partner who is to take a fee, at a node of a kind that people call `title`. */
export function requireNoPartner(
  { kind, title }: { readonly kind: RealKind; readonly title: string },
  partnerPk: string | null,
): void {
  if (partnerPk === null) return;
  throw unsupportedBy(kind, `${title} does not support partner fees: leave partner_pk out.`);
}

/** The error for a payment that is no pending inbound invoice. */
export function notCancelable(): ApiError {
  return refused('Only a pending inbound invoice can be canceled.');
}

/** The error for a hash of which the node has an invoice or a payment. */
export function hashInUse(cause?: unknown): ApiError {
  return refused('This payment_hash is in use already: use each hash for one invoice.', cause);
}

/** The error for a hold invoice that nobody has paid yet. */
export function notHeldYet(cause?: unknown): ApiError {
  return refused(
    'Nothing has arrived for this invoice yet: settle it when its payment is held.',
    cause,
  );
}

/** The error for a hold invoice whose payment was given back, or never came. */
export function noLongerHeld(cause?: unknown): ApiError {
  return refused(
    'The invoice was canceled or has expired: nothing is held for it any more.',
    cause,
  );
}

/** The error for the fetched invoice of an offer that another payment has, or has paid. */
export function invoiceOfAnother(): ApiError {
  return refused('This invoice belongs to another payment: fetch a new one for the offer.');
}

/** The error for raising the fee of a transaction that a block has. */
export function nothingToRaise(): ApiError {
  return refused('The transaction is confirmed: nothing is left to raise.');
}

/** The error for raising the fee of a transaction that suffices. */
export function feeSuffices(): ApiError {
  return refused(
    'The transaction pays for that priority already: wait for the next block, or ask for a higher priority if there is one.',
  );
}

/**
 * Throws `refused` when a user channel id that names a channel, or one that was asked for, is given for another one
 * (docs/decisions.md 31). Without a peer any peer is meant.
 */
export function requireSameChannel(
  earlier: { readonly valueSat: bigint; readonly peer: string },
  { valueMsat, peer }: Pick<OpenChannelCommand, 'valueMsat' | 'peer'>,
): void {
  if (earlier.valueSat !== wholeSats(valueMsat)) throw channelTaken('of another value');
  if (peer !== null && peer.pubkey !== earlier.peer) throw channelTaken('to another peer');
}

/** The error for a user channel id that names another channel. */
export function channelTaken(which: 'of another value' | 'to another peer'): ApiError {
  return refused(
    `A channel ${which} has this user_channel_id: choose another id for another channel.`,
  );
}

/** The error for a channel that the node does not know. */
export function channelNotFound(): ApiError {
  return new ApiError('notFound', 'Channel not found');
}
