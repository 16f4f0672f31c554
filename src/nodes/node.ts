import type { Network } from '../codecs/network.ts';
import type { Clock } from '../lib/clock.ts';
import type { Channel } from '../model/channel.ts';
import type { NodeCredentials } from '../model/credentials.ts';
import type { ApiError } from '../model/errors.ts';
import type { NodeInfo } from '../model/node-info.ts';
import type { Payment, Priority } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { Permission } from '../model/permissions.ts';
import type { HumanBitcoinAddress } from '../model/receive.ts';

/** What a wallet node is, for people and for error 110. */
export interface NodeDescriptor {
  /** The connector's name, such as `sandbox` or `lnd`. */
  readonly kind: string;
  readonly network: Network;
}

/**
 * What any wallet node can be asked, in our resources, in millisatoshis. A handle is bound to one token of the node,
 * and the node enforces that token's permissions where it can.
 *
 * Every method throws {@link ApiError}: `unauthenticated` when the token is no longer good, `forbidden` when it lacks
 * the permission, `refused` when the node will not do it, `unreachable`, `unreadable` or `timeout` when no usable
 * answer came. Methods that move money return a {@link SendReport} instead: the connector says what it knows, and the
 * wallet alone decides what that means.
 *
 * The optional groups are what not every node has; their absence is answered with error 110 in one place.
 */
export interface WalletNode {
  readonly descriptor: NodeDescriptor;
  /** The node's clock: expiries and budgets follow it. */
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
   * Starts paying an invoice and returns once the node has the payment, pending or already final; its end comes
   * through {@link updates}. A payment hash is never paid twice: while an attempt is pending or completed the node
   * makes no other, and the report is then `known` with that attempt.
   */
  payInvoice(command: PayInvoiceCommand): Promise<SendReport>;
  /**
   * What became of a send whose request may have left. `never` only where the node is known not to have it and never
   * to make it (decisions section 5, 'not sent' is said only).
   */
  sendOutcome(question: SendQuestion): Promise<SendOutcome>;
  /** The payment of that index as the node knows it, or null. */
  payment(index: PaymentIndex): Promise<Observation | null>;
  /** The newest payment of that id, or null; a failed payment may be followed by another of the same id. */
  latestPayment(id: PaymentId): Promise<Observation | null>;
  /**
   * Every change of a payment after `after`, then live changes as they happen, with no gap in between, until
   * `signal` aborts (then it ends) or the connection breaks (then it throws). Repeats are allowed.
   */
  updates(options: UpdatesOptions): AsyncIterable<UpdateBatch>;
  readonly history?: NodeHistory;
  readonly notes?: NodeNotes;
  readonly offers?: NodeOffers;
  readonly onchain?: NodeOnchain;
  readonly channels?: NodeChannels;
  readonly names?: NodeNames;
  readonly tokens?: NodeTokens;
  readonly proofs?: NodeProofs;
}

/**
 * A payment as the node showed it. Which attempt it is about decides which row it may change (decisions section 5, an
 * observation belongs to one attempt).
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
}

/** What a connector knows after it was asked to move money. */
export type SendReport =
  /** No byte of the request was written, or the node itself refused: nothing was sent and nothing will be. */
  | { readonly state: 'refused'; readonly error: ApiError }
  /** Anything else that is no proof: a cut connection, a timeout, a proxy's page, an unreadable body. */
  | { readonly state: 'unknown'; readonly error: ApiError }
  | ({ readonly state: 'known' } & Observation);

/** What {@link WalletNode.sendOutcome} says; `reason` is a short sentence for status_msg. */
export type SendOutcome =
  | ({ readonly state: 'known' } & Observation)
  | { readonly state: 'never'; readonly reason: string }
  | { readonly state: 'unknown' };

/** A send about which the node is asked. */
export interface SendQuestion {
  /** The payment as it was begun; its index is the wallet's. */
  readonly payment: Payment;
  /** {@link WalletNode.newestAttempt} before it was asked: an attempt up to this one is an earlier one. */
  readonly afterAttempt: number | null;
  /** The attempt, once the node has said which one it is. */
  readonly attempt: number | null;
  /** The signed transaction of an on-chain send. */
  readonly signed: SignedSend | null;
}

export interface UpdatesOptions {
  /** The connector's own cursor from an {@link UpdateBatch}; null starts at the wallet's first payment. */
  readonly after: string | null;
  /** The unfinished payments the caller knows, for nodes that must look at each again. */
  readonly open: () => Promise<readonly Payment[]>;
  readonly signal: AbortSignal;
}

/** Changes in the order they happened. */
export interface UpdateBatch {
  /** On nodes without {@link NodeHistory}, `updatedAtMs` is the time of the change and the journal assigns its own. */
  readonly observations: readonly Observation[];
  /** Resumes after this batch; null when the batch does not move the cursor. */
  readonly cursor: string | null;
  /** Whether everything that happened before the feed was opened has now been given. */
  readonly caughtUp: boolean;
}

/** A node that keeps its own order of updates; other nodes are journaled by the store. */
export interface NodeHistory {
  /** The newest update, or null when there is none. */
  tip(): Promise<UpdatedIndex | null>;
  /** Payments updated after `after` in order of (updated_at, id), each in its newest state, at most `limit`. */
  updatedAfter(after: UpdatedIndex | null, limit: number): Promise<Payment[]>;
}

/** A node that keeps personal notes itself. */
export interface NodeNotes {
  /** Sets or clears (null) the note. Returns the updated payment. Throws `notFound`. */
  setPersonalNote(index: PaymentIndex, note: string | null): Promise<Payment>;
}

/** BOLT 12 offers. */
export interface NodeOffers {
  createOffer(command: CreateOfferCommand): Promise<{ offer: string; offerId: string }>;
  /** Like {@link WalletNode.payInvoice}; exactly one payment for an index, a repeat reports the first. */
  payOffer(command: PayOfferCommand): Promise<SendReport>;
}

/** The on-chain wallet. */
export interface NodeOnchain {
  /** The same address until a payment to it is seen (contract, get_next_unused_address). */
  nextUnusedAddress(): Promise<string>;
  /**
   * Chooses coins, looks at the fee and signs; publishes nothing. The coins are locked for some minutes. Throws
   * `refused` when the fee would be above `maxFeeMsat` or the coins do not suffice; then no coin stays locked.
   */
  sign(command: PayOnchainCommand): Promise<SignedSend>;
  /** Publishes these very bytes, or publishes them again: that is harmless, since only one can confirm. */
  publish(command: PayOnchainCommand, signed: SignedSend): Promise<SendReport>;
  /** Locks the coins of a signed send that is not published yet for some more minutes. */
  renew(signed: SignedSend): Promise<void>;
  /** Gives back the coins of a signed send that was never published. */
  release(signed: SignedSend): Promise<void>;
  /** What the transaction would cost now, in millisatoshis. Throws `refused` when it cannot be made. */
  estimateFeeMsat(
    command: Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>,
  ): Promise<bigint>;
}

/** A signed transaction that is stored before it is published; plain JSON. */
export interface SignedSend {
  readonly txid: string;
  /** The whole transaction, hex. */
  readonly txHex: string;
  /** Decimal millisatoshis. */
  readonly feeMsat: string;
  /** What the connector needs to renew or release the locks on its coins; nobody else reads it. */
  readonly locks: readonly { readonly id: string; readonly outpoint: string }[];
}

/** Channels on request. */
export interface NodeChannels {
  listChannels(): Promise<Channel[]>;
  /** Most that opening a channel of that value would cost in on-chain fees now. */
  openFeeBoundMsat(valueMsat: bigint): Promise<bigint>;
  /**
   * Exactly one channel for a user channel id; the same id with another value is `refused`. Throws `refused` rather than pay more than `maxFeeMsat` in on-chain
   * fees; null is no limit. `feeMsat` is null where the node does not tell it.
   */
  openChannel(command: OpenChannelCommand): Promise<{
    channelId: string;
    userChannelId: string;
    feeMsat: bigint | null;
    /** False where the channel of that id was there before. */
    isNew: boolean;
  }>;
  /** Most that closing the channel would cost this wallet in on-chain fees now. Throws `notFound`. */
  closeFeeBoundMsat(channelId: string): Promise<bigint>;
  /** Closes cooperatively, for at most `maxFeeMsat` (null: no limit). Throws `notFound`. */
  closeChannel(
    channelId: string,
    options: { readonly maxFeeMsat: bigint | null },
  ): Promise<{ feeMsat: bigint | null }>;
}

/** Human Bitcoin Addresses. */
export interface NodeNames {
  /** The wallet's name, or null while unclaimed. */
  humanBitcoinAddress(): Promise<HumanBitcoinAddress | null>;
  /** Claims or changes the name (contract, Human Bitcoin Address username; decisions section 12). */
  claimUsername(username: string): Promise<HumanBitcoinAddress>;
}

/**
 * Tokens of the node itself, each for one client, with no more than its grant: the node refuses what was not granted
 * even if the sidecar is wrong. They stay in the store and never reach a client (decisions section 7).
 */
export interface NodeTokens {
  /** A fresh identity for a token, marked as this sidecar's own. Asks nothing of the node. */
  newId(): string;
  /** Why the node cannot bound a client with these permissions, or null when it can. */
  obstacle(permissions: readonly Permission[]): string | null;
  /** Makes a token that allows what the permissions need and nothing else, until it expires. */
  issue(command: IssueTokenCommand): Promise<string>;
  /** Ends the token of that identity; does nothing where there is none. */
  revoke(id: string): Promise<void>;
  /** The identities of living tokens at the node that carry this sidecar's mark. */
  list(): Promise<string[]>;
}

export interface IssueTokenCommand {
  readonly id: string;
  readonly permissions: readonly Permission[];
  readonly expiresAtMs: number | null;
}

/** What a payer proof is made from. */
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
  readonly partnerPk: string | null;
  readonly partnerPropFeePpm: number | null;
  readonly partnerBaseFeeMsat: bigint | null;
  /**
   * Hex, 32 bytes: names the invoice before it is made, so that a repeat after a crash makes no second one; creating
   * it again returns the first. Null lets the node draw one.
   */
  readonly preimage: string | null;
}

/** A created invoice and its pending payment; hashes and secrets are hex. */
export interface CreatedInvoice {
  readonly payment: Payment;
  readonly invoice: string;
  readonly paymentHash: string;
  readonly paymentSecret: string;
}

interface SendCommand {
  /** Identity chosen by the caller before anything is sent. */
  readonly index: PaymentIndex;
  readonly createdAtMs: number;
  readonly amountMsat: bigint;
  readonly personalNote: string | null;
}

export interface PayInvoiceCommand extends SendCommand {
  readonly invoice: string;
  readonly maxFeeMsat: bigint;
  /** What the payer told the receiver out of band (LUD-12), kept with the payment. */
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
  /** The Human Bitcoin Address that led to the offer, without `₿`; null otherwise. */
  readonly viaName: string | null;
}

export interface PayOnchainCommand extends SendCommand {
  readonly address: string;
  readonly priority: Priority;
  /** The transaction is refused when it would cost more; null is no limit. */
  readonly maxFeeMsat: bigint | null;
}

export interface OpenChannelCommand {
  readonly valueMsat: bigint;
  /** 32 hex characters. */
  readonly userChannelId: string;
  readonly maxFeeMsat: bigint | null;
}

/** What a payer proof needs and only the payer has. */
export interface ProofMaterial {
  readonly invoiceTlv: Uint8Array;
  /** Hex. */
  readonly preimage: string;
  readonly payerSecretKey: Uint8Array;
}

/** A wallet opened with one token of its node. */
export interface ConnectedWallet {
  /** Hex ed25519 user public key: the wallet's identity. */
  readonly userPk: string;
  readonly node: WalletNode;
  /** What a configured token allows; null where it is everything, or where the sidecar's own grant says it. */
  readonly permissions: readonly Permission[] | null;
}

/** A client's token as the store keeps it. */
export interface ClientToken {
  readonly id: string;
  readonly token: string;
}

/** One kind of wallet node. It goes to no place but those that it was opened with (decisions section 7). */
export interface NodeConnector {
  /** Opens the wallet of a configured entry with the entry's own token. */
  connectConfigured(entry: NodeCredentials): Promise<ConnectedWallet>;
  /**
   * Opens a wallet with a token that {@link NodeTokens.issue} made for a client. The token is asked for at each call,
   * since a change of the grant replaces it. Throws `unreachable` when no configured location speaks for the wallet.
   */
  connectClient(userPk: string, token: () => ClientToken): Promise<ConnectedWallet>;
  /** Opens with the root seed. Throws `refused` before signup, naming it as the next step. */
  connectRoot(rootSeed: Uint8Array): Promise<ConnectedWallet>;
  /** Creates the wallet of the seed; repeating it does nothing (contract, signup). */
  signup(rootSeed: Uint8Array, options: { partnerPk: string | null }): Promise<void>;
  /** Checks the signed list of trusted releases and provisions those missing (contract, provision). */
  provision(rootSeed: Uint8Array): Promise<void>;
  /** Whether the node answered when last asked; never waits (decisions section 1, health). */
  reachable(): boolean;
  /** Sentences for health about configured entries that cannot be used as they are; never waits. */
  problems(): readonly string[];
  close(): Promise<void>;
}
