import type { DecodedAddress } from '../codecs/address.ts';
import type { Bolt11Invoice } from '../codecs/bolt11/index.ts';
import type { Bolt12Invoice, Offer } from '../codecs/bolt12/index.ts';
import type { ApiError } from '../model/errors.ts';
import type { Payment, Priority, SendWords } from '../model/payment.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { Observation } from './node-observations.ts';

/** What a connector knows after the node was asked to move money. */
export type SendReport =
  /** No byte of the request was written, or the node itself refused: nothing was sent and nothing will be. */
  | { readonly state: 'refused'; readonly error: ApiError }
  /** Anything that does not prove a refusal: a cut connection, a timeout, a proxy's page, an unreadable body. */
  | { readonly state: 'unknown'; readonly error: ApiError }
  /** The attempt that this request made, or that an earlier request of the same payment made. */
  | ({ readonly state: 'known' } & Observation)
  /**
   * This request made no attempt, since another one of the same payment hash is pending or completed: that one, under
   * the identity that the feed gives it.
   */
  | ({ readonly state: 'taken' } & Observation);

/** The result of {@link WalletNode.sendOutcome}; `reason` becomes the payment's `status_msg`. */
export type SendOutcome =
  | ({ readonly state: 'known' } & Observation)
  /** Another attempt has completed the same payment hash, so the node never makes this one. */
  | ({ readonly state: 'taken' } & Observation)
  | { readonly state: 'never'; readonly reason: string }
  | { readonly state: 'unknown' };

/** The send that {@link WalletNode.sendOutcome} asks about. */
export interface SendQuestion {
  /** The payment as the wallet recorded it before the send; its index is the wallet's own. */
  readonly payment: Payment;
  /**
   * {@link WalletNode.newestAttempt} as read before the send: this attempt and all before it belong to earlier sends. 0
   * where there was none.
   */
  readonly afterAttempt: number | null;
  /** The attempt, once the node has said which one it is; null before. */
  readonly attempt: number | null;
  /** The signed transaction of an on-chain send; null for Lightning. */
  readonly signed: SignedSend | null;
  /** The invoice that was fetched for an offer; null for every other send, and for those of older versions. */
  readonly fetched: Bolt12Invoice | null;
}

/** A signed transaction, which is stored before it is published (docs/decisions.md 38); plain JSON. */
export interface SignedSend {
  readonly txid: string;
  /** The whole transaction, hex. */
  readonly txHex: string;
  /** The fee, in millisatoshis as decimal text. */
  readonly feeMsat: string;
  /** What the connector needs to renew or release the locks on the coins; other code does not read it. */
  readonly locks: readonly { readonly id: string; readonly outpoint: string }[];
}

interface SendCommand extends SendWords {
  /** The payment's identity, chosen by the caller before anything is sent. */
  readonly index: PaymentIndex;
  readonly createdAtMs: number;
  readonly amountMsat: bigint;
  /**
   * Whether the same request may have left before, so that an attempt that the node has already may be this payment's
   * own: it is then `known`. A refusal says nothing of the earlier request.
   */
  readonly isRepeat?: boolean;
}

export interface PayInvoiceCommand extends SendCommand {
  /** The invoice, whose signature the caller has checked. */
  readonly invoice: Bolt11Invoice;
  readonly maxFeeMsat: bigint;
  /** A message that the payer gave the receiver beside the payment (LUD-12); it is kept with the payment. */
  readonly message: string | null;
}

export interface PayFetchedCommand extends Omit<SendCommand, 'amountMsat'> {
  /** The invoice, which the caller has checked. Amount, message and offer of the payment stand in it. */
  readonly invoice: Bolt12Invoice;
  readonly maxFeeMsat: bigint;
}

export interface PayOfferCommand extends SendCommand {
  readonly offer: Offer;
  readonly maxFeeMsat: bigint;
  /** A message to the payee, which is asked for the invoice with it; null for none. */
  readonly message: string | null;
}

export interface PaySpontaneousCommand extends SendCommand {
  /** Hex public key of the receiving node. */
  readonly nodePk: string;
  /** Hex, 32 bytes, drawn by the payer; it names the payment. */
  readonly preimage: string;
  readonly maxFeeMsat: bigint;
  /** A message to the receiver, sent with the payment. */
  readonly message: string | null;
}

export interface PayOnchainCommand extends SendCommand {
  readonly address: DecodedAddress;
  readonly priority: Priority;
  /** The most that the transaction may cost in fees; null is no limit. */
  readonly maxFeeMsat: bigint | null;
}
