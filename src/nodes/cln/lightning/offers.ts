import { ApiError } from '../../../model/errors.ts';
import type { CreateOfferCommand, FetchInvoiceCommand } from '../../node-groups.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import { CODES, codeOf } from '../words/refusal.ts';
import { requireDescription, requireMessage } from '../words/texts.ts';
import { createdOfferShape, fetchedInvoiceShape } from '../words/wire.ts';

/** The longest that the issuer of an offer is waited for. */
const ISSUER_WITHIN_SECS = 45;
const MARGIN_MS = 10_000;

/**
 * Makes an offer. Core Lightning makes one of the same content once: ordered again, it returns the first, and its
 * payments carry the same offer id. Throws `unsupported` for a description that it does not read.
 */
export async function createOffer(
  rpc: ClnRpc,
  { description, minAmountMsat, expiresAtMs }: CreateOfferCommand,
): Promise<{ offer: string; offerId: string; isNew: boolean }> {
  requireDescription(description);
  const params = {
    amount: minAmountMsat === null ? 'any' : `${minAmountMsat}msat`,
    // BOLT 12 requires a description when there is an amount; it may be empty.
    ...(description === null && minAmountMsat === null ? {} : { description: description ?? '' }),
    // Rounded down, because an offer must not outlive the expiry that was asked for.
    ...(expiresAtMs === null ? {} : { absolute_expiry: Math.floor(expiresAtMs / 1000) }),
  };
  const made = await rpc.write('offer', params, createdOfferShape, { harmlessTwice: true });
  return { offer: made.bolt12, offerId: made.offer_id, isNew: made.created };
}

/**
 * Asks the issuer of an offer for an invoice; see `NodeFetchedOffers.fetchInvoice`. Throws `unsupported` for a message
 * that the node would not send as it is, and what {@link IssuerTurns.enter} throws.
 */
export async function fetchInvoice(
  rpc: ClnRpc,
  wallet: Pick<ClnWallet, 'issuers'>,
  { offer, amountMsat, message, viaName }: FetchInvoiceCommand,
  signal: AbortSignal,
): Promise<string> {
  requireMessage(message);
  const params = {
    offer: offer.text,
    ...(amountMsat === null ? {} : { amount_msat: `${amountMsat}msat` }),
    ...(offer.quantityMax === null ? {} : { quantity: 1 }),
    ...(message === null ? {} : { payer_note: message }),
    ...(viaName === null ? {} : { bip353: viaName }),
    timeout: ISSUER_WITHIN_SECS,
  };
  const timeoutMs = ISSUER_WITHIN_SECS * 1000 + MARGIN_MS;
  const leave = await wallet.issuers.enter(timeoutMs, signal);
  try {
    return (await rpc.read('fetchinvoice', params, fetchedInvoiceShape, { timeoutMs })).invoice;
  } catch (error) {
    if (codeOf(error) !== CODES.issuerSilent) throw error;
    throw new ApiError(
      'timeout',
      'The receiver of the offer did not answer in time. Nothing was sent: try again.',
      { cause: error },
    );
  } finally {
    leave();
  }
}
