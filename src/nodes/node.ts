import type { Bolt11Invoice, RouteHint } from '../codecs/bolt11/index.ts';
import type { Network } from '../codecs/network.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Channel, ChannelPeer } from '../model/channel.ts';
import type { NodeCredentials } from '../model/credentials.ts';
import type { ApiError } from '../model/errors.ts';
import type { NodeInfo } from '../model/node-info.ts';
import type { Payment, Priority } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { Permission } from '../model/permissions.ts';
import type { AddressType } from '../model/receive.ts';

/** The software that holds a wallet; error 110 names it. */
export interface NodeDescriptor {
  /** The connector's name, such as `sandbox` or `lnd`. */
  readonly kind: string;
  readonly network: Network;
}

/**
 * Everything that a wallet node can be asked, in the resources of this project and in millisatoshis
 * (docs/architecture.md, The node port). A handle is bound to one token of the node, and the node enforces that token's
 * permissions where it can.
 *
 * Every method throws {@link ApiError}: `unauthenticated` when the token is no longer valid, `forbidden` when it lacks
 * the permission, `refused` when the node refuses, and `unreachable`, `unreadable` or `timeout` when no usable answer
 * came. Methods that move money return a {@link SendReport} instead: the connector says what it knows, and the wallet
 * alone decides what that means (docs/decisions.md 34).
 *
 * The groups are optional, because not every node has them. An absent group is answered with error 110 in one place
 * (docs/decisions.md 76).
 */
export interface WalletNode {
  readonly descriptor: NodeDescriptor;
  /** The node's clock, by which invoices and clients expire and budgets renew. */
  readonly clock: Clock;
  info(): Promise<NodeInfo>;
  /** Creates an invoice; its pending inbound payment is durable when this returns. */
  createInvoice(command: CreateInvoiceCommand): Promise<CreatedInvoice>;
  /**
   * Makes a pending inbound invoice payment unpayable: `failed` / `canceled`. Does nothing when it has failed
   * already. Throws `refused` when it was paid first, or is not an inbound invoice.
   */
  cancelInvoice(index: PaymentIndex): Promise<void>;
  /**
   * The identity of the newest outgoing Lightning attempt that the node knows, of any payment hash; 0 when there is
   * none. Read immediately before a send: an attempt made later has a greater one. Null on nodes that know attempts by
   * the index that the wallet gave them.
   */
  newestAttempt(): Promise<number | null>;
  /**
   * Starts paying an invoice and returns once the node has the payment, pending or already final. Its end arrives
   * through {@link updates}. A payment hash is never paid twice: while an attempt is pending or completed the node
   * makes no other, and the report is then `known` with that attempt.
   */
  payInvoice(command: PayInvoiceCommand): Promise<SendReport>;
  /**
   * Finds out what became of a send whose request may have left. `never` is returned only where the node certainly does
   * not have the payment and will never make it (docs/decisions.md 37).
   */
  sendOutcome(question: SendQuestion): Promise<SendOutcome>;
  /**
   * What routing such a payment would cost now, in millisatoshis, as far as the node knows without sending anything
   * into the network (docs/decisions.md 115). Null when it knows no route. Every token may ask.
   */
  estimateRoutingFeeMsat(question: RoutingQuestion): Promise<bigint | null>;
  /** The payment of an index, or null when the node does not know it. */
  payment(index: PaymentIndex): Promise<Observation | null>;
  /** The newest payment of an id, or null. A failed payment may be followed by another of the same id. */
  latestPayment(id: PaymentId): Promise<Observation | null>;
  /**
   * Every change of a payment after `after`, then live changes as they happen, with no gap in between. It returns when
   * `signal` aborts and throws when the connection breaks. Repeats are allowed.
   */
  updates(options: UpdatesOptions): AsyncIterable<UpdateBatch>;
  readonly history?: NodeHistory;
  readonly notes?: NodeNotes;
  readonly offers?: NodeOffers;
  readonly spontaneous?: NodeSpontaneous;
  readonly holdInvoices?: NodeHoldInvoices;
  readonly onchain?: NodeOnchain;
  readonly channels?: NodeChannels;
  readonly tokens?: NodeTokens;
  readonly proofs?: NodeProofs;
}

/**
 * A payment as the node showed it. The attempt that it is about decides which row it may change (docs/decisions.md 42).
 */
export interface Observation {
  readonly payment: Payment;
  /**
   * The node's own identity of an outgoing Lightning attempt, greater for each later attempt; null for everything else
   * and on nodes whose payments carry the wallet's own index.
   */
  readonly attempt: number | null;
  /** The parts of an AMP receipt, each with its own hash and preimage (hex); null for every other payment. */
  readonly ampParts?: readonly { readonly hash: string; readonly preimage: string }[] | null;
  /** Whether a block has the payment's own transaction, so that no other replaces it now. */
  readonly inBlock?: boolean;
}

/** What a connector knows after the node was asked to move money. */
export type SendReport =
  /** No byte of the request was written, or the node itself refused: nothing was sent and nothing will be. */
  | { readonly state: 'refused'; readonly error: ApiError }
  /** Anything that does not prove a refusal: a cut connection, a timeout, a proxy's page, an unreadable body. */
  | { readonly state: 'unknown'; readonly error: ApiError }
  | ({ readonly state: 'known' } & Observation);

/** The result of {@link WalletNode.sendOutcome}; `reason` becomes the payment's `status_msg`. */
export type SendOutcome =
  | ({ readonly state: 'known' } & Observation)
  | { readonly state: 'never'; readonly reason: string }
  | { readonly state: 'unknown' };

/** The send that {@link WalletNode.sendOutcome} asks about. */
export interface SendQuestion {
  /** The payment as the wallet recorded it before the send; its index is the wallet's own. */
  readonly payment: Payment;
  /**
   * {@link WalletNode.newestAttempt} as read before the send: this attempt and all before it belong to earlier sends.
   */
  readonly afterAttempt: number | null;
  /** The attempt, once the node has said which one it is; null before. */
  readonly attempt: number | null;
  /** The signed transaction of an on-chain send; null for Lightning. */
  readonly signed: SignedSend | null;
}

/** The payment that {@link WalletNode.estimateRoutingFeeMsat} asks about. */
export interface RoutingQuestion {
  /** Hex public key of the receiving node. */
  readonly nodePk: string;
  readonly amountMsat: bigint;
  /** Private routes to the receiver, each from a node that others can reach. */
  readonly routeHints: readonly (readonly RouteHint[])[];
}

export interface UpdatesOptions {
  /** The connector's own cursor from an {@link UpdateBatch}; null starts at the wallet's first payment. */
  readonly after: string | null;
  /**
   * Returns the unfinished payments that the caller knows, all or those on chain, for nodes that must be asked about
   * them again.
   */
  readonly open: (which: 'all' | 'onchain') => Promise<readonly Payment[]>;
  /**
   * When a wallet is read from its first payment, payments that were made before this time and are over may be left
   * out, in milliseconds since the epoch; null: none.
   */
  readonly historySinceMs: number | null;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Changes in the order in which they happened. */
export interface UpdateBatch {
  /** On nodes without {@link NodeHistory}, `updatedAtMs` is the time of the change and the journal assigns its own. */
  readonly observations: readonly Observation[];
  /** Resumes after this batch; null when the batch does not move the cursor. */
  readonly cursor: string | null;
  /** Whether everything that happened before the feed was opened has now been given. */
  readonly caughtUp: boolean;
}

/** The history of a node that keeps its own order of updates. For other nodes the store keeps a journal. */
export interface NodeHistory {
  /** The newest update, or null when there is none. */
  tip(): Promise<UpdatedIndex | null>;
  /** Payments updated after `after` in order of (updated_at, id), each in its newest state, at most `limit`. */
  updatedAfter(after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
}

/** The notes of a node that keeps personal notes itself. */
export interface NodeNotes {
  /** Sets or clears (null) the note. Returns the updated payment. Throws `notFound`. */
  setPersonalNote(index: PaymentIndex, note: string | null): Promise<Payment>;
}

/** BOLT 12 offers. */
export interface NodeOffers {
  createOffer(command: CreateOfferCommand): Promise<{ offer: string; offerId: string }>;
  /** Works like {@link WalletNode.payInvoice}. An index is paid once; a repeat reports the first payment. */
  payOffer(command: PayOfferCommand): Promise<SendReport>;
}

/** Payments without an invoice (keysend). */
export interface NodeSpontaneous {
  /**
   * Works like {@link WalletNode.payInvoice}, for the hash of the preimage: a repeat makes no second payment and
   * reports the first. A payment to the wallet's own node is `refused`.
   */
  pay(command: PaySpontaneousCommand): Promise<SendReport>;
}

/** Invoices for a hash whose preimage the node learns when they are settled (docs/decisions.md 116). */
export interface NodeHoldInvoices {
  /**
   * Creates such an invoice; its pending inbound payment is durable when this returns. It becomes {@link isHeld} when
   * the money has arrived. Throws `refused` when the node has an invoice or payment of that hash, unless the command
   * allows to return an earlier invoice of the same terms. {@link WalletNode.cancelInvoice} gives held money back.
   */
  create(command: CreateHoldInvoiceCommand): Promise<CreatedInvoice>;
  /**
   * Completes a held payment with its preimage; does nothing when it is completed. Throws `refused` when nothing is
   * held for the invoice, or no longer.
   */
  settle(index: PaymentIndex, preimage: string): Promise<void>;
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
  /**
   * The most that raising a send's fee would cost now, in millisatoshis. Throws `refused` where the fee suffices
   * already or cannot be raised.
   */
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
  /**
   * What the transaction would cost in fees now, in millisatoshis. Throws `refused` when it cannot be made. Every token
   * may ask.
   */
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
  /** Why the node cannot limit a client to these permissions; null when it can. */
  obstacle(permissions: readonly Permission[]): string | null;
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

/** Material for payer proofs (docs/decisions.md 101). */
export interface NodeProofs {
  /** The BOLT 12 invoice (TLV bytes), preimage and payer key of a completed outbound offer payment; null otherwise. */
  proofMaterial(index: PaymentIndex): Promise<ProofMaterial | null>;
}

export interface CreateInvoiceCommand {
  readonly createdAtMs: number;
  readonly expirationSecs: number;
  readonly amountMsat: bigint | null;
  readonly description: string | null;
  /** Hex SHA-256 in place of a description (LUD-06); null otherwise. */
  readonly descriptionHash: string | null;
  readonly personalNote: string | null;
  /** A message that the payer gave when it asked for the invoice (LUD-12); it is kept with the payment. */
  readonly message: string | null;
  readonly partnerPk: string | null;
  readonly partnerPropFeePpm: number | null;
  readonly partnerBaseFeeMsat: bigint | null;
  /**
   * Hex, 32 bytes. It identifies the invoice before it is made, so that a repeat after a crash makes no second one:
   * creating it again returns the first. With null the node draws one.
   */
  readonly preimage: string | null;
}

export interface CreateHoldInvoiceCommand extends Omit<CreateInvoiceCommand, 'preimage'> {
  /** Hex, 32 bytes. */
  readonly paymentHash: string;
  /**
   * Whether an invoice that the node has for the hash may be returned, because an earlier run of the request made it.
   */
  readonly again: boolean;
}

/** A created invoice and its pending payment; hashes and secrets are hex. */
export interface CreatedInvoice {
  readonly payment: Payment;
  readonly invoice: string;
  readonly paymentHash: string;
  readonly paymentSecret: string;
  /** The expiry that the invoice encodes (docs/decisions.md 27). */
  readonly expiresAtMs: number;
}

interface SendCommand {
  /** The payment's identity, chosen by the caller before anything is sent. */
  readonly index: PaymentIndex;
  readonly createdAtMs: number;
  readonly amountMsat: bigint;
  readonly personalNote: string | null;
}

export interface PayInvoiceCommand extends SendCommand {
  /** The invoice, whose signature the caller has checked. */
  readonly invoice: Bolt11Invoice;
  readonly maxFeeMsat: bigint;
  /** A message that the payer gave the receiver beside the payment (LUD-12); it is kept with the payment. */
  readonly message: string | null;
}

export interface CreateOfferCommand {
  readonly description: string | null;
  readonly minAmountMsat: bigint | null;
  readonly expiresAtMs: number | null;
}

export interface PayOfferCommand extends SendCommand {
  readonly offer: string;
  readonly maxFeeMsat: bigint;
  readonly message: string | null;
  /** The Human Bitcoin Address under which the offer was found, without `₿`; null otherwise. */
  readonly viaName: string | null;
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
  readonly address: string;
  readonly priority: Priority;
  /** The most that the transaction may cost in fees; null is no limit. */
  readonly maxFeeMsat: bigint | null;
}

export interface OpenChannelCommand {
  readonly valueMsat: bigint;
  /** 32 hex characters. */
  readonly userChannelId: string;
  /** Null: the node's own choice, or the configured peer. */
  readonly peer: ChannelPeer | null;
  readonly maxFeeMsat: bigint | null;
}

/** Data for a payer proof that only the payer has. */
export interface ProofMaterial {
  readonly invoiceTlv: Uint8Array;
  /** Hex. */
  readonly preimage: string;
  readonly payerSecretKey: Uint8Array;
}

/** A wallet opened with one token of its node. */
export interface ConnectedWallet {
  /** Hex ed25519 public key that identifies the wallet. */
  readonly userPk: string;
  readonly node: WalletNode;
  /** What a configured token allows; null where it allows everything, or where the sidecar's own grant decides. */
  readonly permissions: readonly Permission[] | null;
}

/** A client's token in the form in which the store keeps it. */
export interface ClientToken {
  readonly id: string;
  readonly token: string;
}

/** Opens wallets of one kind of node. It connects only to the places that it was opened with (docs/decisions.md 56). */
export interface NodeConnector {
  /** Opens the wallet of a configured entry, with the entry's own token. */
  connectConfigured(entry: NodeCredentials): Promise<ConnectedWallet>;
  /**
   * Opens a wallet with a token that {@link NodeTokens.issue} made for a client. `token` is called for each request,
   * because a changed grant replaces the token. Throws `unreachable` when no configured place speaks for the wallet.
   */
  connectClient(userPk: string, token: () => ClientToken): Promise<ConnectedWallet>;
  /**
   * Opens a wallet with the token of its owner, for what no client causes, such as an invoice for a payer of its name.
   * Throws `unreachable` or `refused` when none of the configured places holds the wallet.
   */
  connectOwner(userPk: string): Promise<ConnectedWallet>;
  /** Opens the wallet of the root seed. Before signup it throws `refused` and names signup as the next step. */
  connectRoot(rootSeed: Uint8Array): Promise<ConnectedWallet>;
  /** Creates the wallet of the seed; a repeat does nothing (docs/decisions.md 79). */
  signup(rootSeed: Uint8Array, options: { partnerPk: string | null }): Promise<void>;
  /** Provisions the node to the trusted releases of a signed list, or unlocks it (docs/decisions.md 79). */
  provision(rootSeed: Uint8Array): Promise<void>;
  /**
   * Sentences for health about configured nodes that cannot be used now, or as they are configured. Returns at once
   * with what is known (docs/decisions.md 7); a node that was not in contact for long is asked in the background.
   */
  problems(): readonly string[];
  close(): Promise<void>;
}
