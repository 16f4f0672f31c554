import type { Bolt12Invoice, Offer } from '../codecs/bolt12/index.ts';
import type { Channel, ChannelPeer } from '../model/channel.ts';
import type { Permission } from '../model/clients/permissions.ts';
import type { Payment, Priority } from '../model/payment.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import type { AddressType } from '../model/receive.ts';
import type {
  PayFetchedCommand,
  PayOfferCommand,
  PayOnchainCommand,
  PaySpontaneousCommand,
  SendReport,
  SignedSend,
} from './node-sends.ts';

/** The notes of a node that keeps personal notes itself. */
export interface NodeNotes {
  /** Sets or clears (null) the note. Returns the updated payment. Throws `notFound`. */
  setPersonalNote(index: PaymentIndex, note: string | null): Promise<Payment>;
}

/**
 * BOLT 12 offers. The wallet fetches an invoice, checks it and has it paid where the node does these apart; else the
 * node does it all in one step (docs/decisions.md 210).
 */
export type NodeOffers = NodeFetchedOffers | NodeWholeOffers;

interface NodeIssuedOffers {
  createOffer(command: CreateOfferCommand): Promise<CreatedOffer>;
}

/** An offer that the node made. */
export interface CreatedOffer {
  readonly offer: string;
  readonly offerId: string;
  /** False where the node had made this very offer before. */
  readonly isNew?: boolean;
  /** The key that issues this offer alone, where the node has such keys; absent: its own. */
  readonly issuerId?: string | null;
}

/** Offers of which the node pays an invoice that the wallet has seen. */
export interface NodeFetchedOffers extends NodeIssuedOffers {
  readonly kind: 'fetched';
  /**
   * Asks the issuer of an offer for an invoice and returns it as text (`lni1...`). Moves no money; the caller checks
   * the invoice and stores it before it is paid (docs/decisions.md 40). Throws `refused` with the issuer's words when
   * it gives none, `timeout` when it does not answer, `unreachable` when the node does not, and `overCapacity` when too
   * many are being asked. When `signal` aborts, an issuer that was not asked yet is not asked any more.
   */
  fetchInvoice(command: FetchInvoiceCommand, signal: AbortSignal): Promise<string>;
  /**
   * Pays a fetched invoice, as {@link WalletNode.payInvoice} pays one of BOLT 11. An index is paid once; a repeat
   * reports the first payment. While a payment of the same hash under another index is pending or completed, the report
   * is `refused`.
   */
  payFetched(command: PayFetchedCommand): Promise<SendReport>;
}

/** Offers that the node pays in one step: it asks for the invoice, checks it and pays it. */
export interface NodeWholeOffers extends NodeIssuedOffers {
  readonly kind: 'whole';
  /**
   * Starts paying an offer, as {@link WalletNode.payInvoice} pays an invoice. The payment has no hash before its
   * invoice is there. An index is paid once, also after its payment failed: a repeat reports the first payment.
   */
  payOffer(command: PayOfferCommand): Promise<SendReport>;
}

/** What the invoice of an offer is asked for. */
export interface FetchInvoiceCommand {
  readonly offer: Offer;
  /** Null where the issuer is to name it, by the price of its offer in a currency. */
  readonly amountMsat: bigint | null;
  /** A message to the payee, which the invoice repeats; null for none. */
  readonly message: string | null;
  /** The Human Bitcoin Address under which the offer was found, without `₿`; null otherwise. */
  readonly viaName: string | null;
}

export interface CreateOfferCommand extends Pick<Payment, 'externalId'> {
  readonly description: string | null;
  readonly minAmountMsat: bigint | null;
  readonly expiresAtMs: number | null;
}

/** Payments without an invoice (keysend). */
export interface NodeSpontaneous {
  /**
   * Works like {@link WalletNode.payInvoice}, for the hash of the preimage: a repeat makes no second payment and
   * reports the first. A payment to the wallet's own node is `refused`.
   */
  pay(command: PaySpontaneousCommand): Promise<SendReport>;
}

/** The on-chain wallet. */
export interface NodeOnchain {
  /** The wallet's receiving address of that type, the same until a payment to it is seen. */
  nextUnusedAddress(type: AddressType): Promise<string>;
  /**
   * Chooses coins, checks the fee and signs; publishes nothing. The coins are locked for some minutes. Throws
   * `refused`, with no coin locked, when the fee would be above `maxFeeMsat` or the coins do not suffice.
   */
  sign(command: PayOnchainCommand): Promise<SignedSend>;
  /** Publishes exactly these bytes. Publishing them again is harmless, since only one copy can confirm. */
  publish(command: PayOnchainCommand, signed: SignedSend): Promise<SendReport>;
  /** Extends the locks on the coins of a signed send that is not published yet by some minutes. */
  renew(signed: SignedSend): Promise<void>;
  /** Releases the coins of a signed send that was never published. */
  release(signed: SignedSend): Promise<void>;
  /**
   * The most that one transaction can send to the address now, in millisatoshis, and its fee. Nothing is left then but
   * what the node keeps back. Throws `refused` when there is nothing to send.
   */
  mostSendable(
    command: Pick<PayOnchainCommand, 'address' | 'priority'>,
  ): Promise<{ readonly amountMsat: bigint; readonly feeMsat: bigint }>;
  /** The most that raising the fee costs now, in millisatoshis. Throws `refused` where it suffices or cannot be. */
  bumpFeeBoundMsat(command: BumpFeeCommand): Promise<bigint>;
  /**
   * Makes the unconfirmed transaction of a send more attractive to miners by a child that spends its change and pays
   * for both (CPFP), for at most `maxFeeMsat` (null: no limit). The send keeps its txid; the child is no payment.
   * Throws `refused` as {@link bumpFeeBoundMsat} does.
   */
  bumpFee(command: BumpFeeCommand & { readonly maxFeeMsat: bigint | null }): Promise<{
    /** What the child costs; null when that is not known. */
    readonly feeMsat: bigint | null;
    /** False where a child that pays as much was there before. */
    readonly isNew: boolean;
  }>;
  /** The fees now, in millisatoshis. Throws `refused` when it cannot be made. Every token may ask. */
  estimateFeeMsat(
    command: Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>,
  ): Promise<bigint>;
}

/** The transaction of an on-chain send whose fee is to be raised. */
export interface BumpFeeCommand {
  readonly txid: string;
  /** How soon it should now be confirmed. */
  readonly priority: Priority;
}

/** Lightning channels that are opened and closed on request. */
export interface NodeChannels {
  listChannels(): Promise<Channel[]>;
  /** The most that opening a channel of that value would cost in on-chain fees now, in millisatoshis. */
  openFeeBoundMsat(valueMsat: bigint): Promise<bigint>;
  /**
   * Opens one channel for a user channel id (docs/decisions.md 31); the same id with another value or another peer is
   * `refused`. Throws `refused` also when the on-chain fee would be above `maxFeeMsat`; null is no limit.
   */
  openChannel(command: OpenChannelCommand): Promise<OpenedChannel>;
  /**
   * The most that closing the channel would cost this wallet in on-chain fees now, in millisatoshis. Throws `notFound`,
   * and `refused` where the cost of a forced close has no bound.
   */
  closeFeeBoundMsat(channelId: string, options: { readonly forced: boolean }): Promise<bigint>;
  /**
   * Closes the channel, for at most `maxFeeMsat` (null: no limit): together with the peer, or `forced`, by this side
   * alone. Throws `notFound`. A channel that is closing or closed already may be not found or reported with `isNew`
   * false.
   */
  closeChannel(
    channelId: string,
    options: { readonly forced: boolean; readonly maxFeeMsat: bigint | null },
  ): Promise<ClosedChannel>;
}

export interface OpenChannelCommand {
  readonly valueMsat: bigint;
  /** 32 hex characters. */
  readonly userChannelId: string;
  /** Null: the node's own choice, or the configured peer. */
  readonly peer: ChannelPeer | null;
  readonly maxFeeMsat: bigint | null;
}

/** A channel after {@link NodeChannels.openChannel}. */
export interface OpenedChannel {
  readonly channelId: string;
  readonly userChannelId: string;
  /** What it cost on chain. Null when that is not known; without a limit the node need not find it out. */
  readonly feeMsat: bigint | null;
  /** False where the channel of that id existed before. */
  readonly isNew: boolean;
}

/** A channel after {@link NodeChannels.closeChannel}. */
export interface ClosedChannel {
  /** What it cost on chain. Null when that is not known; without a limit the node need not find it out. */
  readonly feeMsat: bigint | null;
  /** False where the channel was closing or closed before. */
  readonly isNew: boolean;
}

/**
 * Tokens of the node itself, one for each client, with no more than the client's grant: the node refuses what was not
 * granted even if the sidecar has a fault. They stay in the store and never reach a client (docs/decisions.md 57).
 */
export interface NodeTokens {
  /** A new id for a token, marked as made by this installation. Makes no call to the node. */
  newId(): string;
  /** Makes a token that allows what the permissions need and nothing else, until it expires, and returns it. */
  issue(command: IssueTokenCommand): Promise<string>;
  /** Ends the token of an id; does nothing where there is none. */
  revoke(id: string): Promise<void>;
  /** The ids of the valid tokens at the node that carry this installation's mark. */
  list(): Promise<string[]>;
}

export interface IssueTokenCommand {
  readonly id: string;
  readonly permissions: readonly Permission[];
  readonly expiresAtMs: number | null;
}

/**
 * Payer proofs (docs/decisions.md 101): the wallet makes them where the node gives the payer's key away, and checks
 * those that a node makes which alone has that key.
 */
export type NodeProofs = NodeProofMaterial | NodeWholeProofs;

/** Material of which the wallet makes proofs. */
export interface NodeProofMaterial {
  readonly kind: 'material';
  /** The BOLT 12 invoice (TLV bytes), preimage and payer key of a completed outbound offer payment; null otherwise. */
  proofMaterial(index: PaymentIndex): Promise<ProofMaterial | null>;
}

/** Data for a payer proof that only the payer has. */
export interface ProofMaterial {
  readonly invoiceTlv: Uint8Array;
  /** Hex. */
  readonly preimage: string;
  readonly payerSecretKey: Uint8Array;
}

/** Proofs that the node makes. */
export interface NodeWholeProofs {
  readonly kind: 'whole';
  /**
   * A proof (`lnp1...`) that the wallet paid the invoice, which shows the fields asked for as far as the node can
   * choose them. The caller checks it. Throws `refused` when the node does not know the payment as completed.
   */
  createProof(command: CreateProofCommand): Promise<string>;
}

export interface CreateProofCommand {
  /** The invoice that was fetched with {@link NodeFetchedOffers.fetchInvoice} and paid. */
  readonly invoice: Bolt12Invoice;
  /** TLV types of the invoice's fields to show, besides those that every proof shows. */
  readonly types: readonly number[];
  readonly note: string | null;
}
