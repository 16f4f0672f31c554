import type { Network } from '../codecs/network.ts';
import type { Clock } from '../lib/clock.ts';
import type { Channel } from '../model/channel.ts';
import type { Client, Grant } from '../model/client.ts';
import type { Credentials } from '../model/credentials.ts';
import type { NodeInfo } from '../model/node-info.ts';
import type { Payment, Priority } from '../model/payment.ts';
import type { PaymentId, PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { HumanBitcoinAddress } from '../model/receive.ts';

/** What a wallet node is, for people and for error 110. */
export interface NodeDescriptor {
  /** The connector's name, such as `sandbox` or `lnd`. */
  readonly kind: string;
  readonly network: Network;
}

/**
 * What any wallet node can be asked, in our resources, in millisatoshis. A handle is bound to one credential, and
 * the node enforces that credential's permissions where it can.
 *
 * Every method throws {@link ApiError}: `unauthenticated` when the credential is no longer good, `forbidden` when
 * it lacks the permission, `refused` when the node will not do it, `unreachable`, `unreadable` or `timeout` when no
 * usable answer came. Nothing was sent and nothing will be, unless the error says `outcomeUnknown`.
 *
 * The optional groups are what not every node has; their absence is answered with error 110 in one place.
 */
export interface WalletNode {
  readonly descriptor: NodeDescriptor;
  /** The node's clock: expiries and budgets follow it. */
  readonly clock: Clock;
  info(): Promise<NodeInfo>;
  /** Creates an invoice; its pending inbound payment is durable when this answers. */
  createInvoice(command: CreateInvoiceCommand): Promise<CreatedInvoice>;
  /**
   * Makes a pending inbound invoice payment unpayable: `failed` / `canceled`. Does nothing when it has failed
   * already. Throws `refused` when it was paid first, or is not an inbound invoice.
   */
  cancelInvoice(index: PaymentIndex): Promise<void>;
  /**
   * Starts paying an invoice and answers once the payment is durable in the node, pending or already final; the
   * outcome comes through {@link updates}. A payment hash is never paid twice: while an attempt is pending or
   * completed the node refuses another.
   */
  payInvoice(command: PayInvoiceCommand): Promise<Payment>;
  /** The payment of that index as the node knows it, or null. */
  payment(index: PaymentIndex): Promise<Payment | null>;
  /** The newest payment of that id, or null; a failed payment may be followed by another of the same id. */
  latestPayment(id: PaymentId): Promise<Payment | null>;
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
  readonly clients?: NodeClients;
  readonly proofs?: NodeProofs;
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
  readonly payments: readonly Payment[];
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
  /** Sets or clears (null) the note. Answers the updated payment. Throws `notFound`. */
  setPersonalNote(index: PaymentIndex, note: string | null): Promise<Payment>;
}

/** BOLT 12 offers. */
export interface NodeOffers {
  createOffer(command: CreateOfferCommand): Promise<{ offer: string; offerId: string }>;
  /** Like {@link WalletNode.payInvoice}; exactly one payment for an id, a repeat answers the first. */
  payOffer(command: PayOfferCommand): Promise<Payment>;
}

/** The on-chain wallet. */
export interface NodeOnchain {
  /** The same address until a payment to it is seen (contract, get_next_unused_address). */
  nextUnusedAddress(): Promise<string>;
  /**
   * Signs and broadcasts; answers pending with `tx`. Exactly one transaction for an id, a repeat answers the first.
   */
  payOnchain(command: PayOnchainCommand): Promise<Payment>;
  /** What the transaction would cost now, in millisatoshis. Throws `refused` when it cannot be made. */
  estimateFeeMsat(
    command: Pick<PayOnchainCommand, 'address' | 'amountMsat' | 'priority'>,
  ): Promise<bigint>;
}

/** Channels on request. */
export interface NodeChannels {
  listChannels(): Promise<Channel[]>;
  /** Exactly one channel for a user channel id. */
  openChannel(command: OpenChannelCommand): Promise<{ channelId: string; userChannelId: string }>;
  /** Closes cooperatively. Throws `notFound`. */
  closeChannel(channelId: string): Promise<void>;
}

/** Human Bitcoin Addresses. */
export interface NodeNames {
  /** The wallet's name, or null while unclaimed. */
  humanBitcoinAddress(): Promise<HumanBitcoinAddress | null>;
  /** Claims or changes the name (contract, Human Bitcoin Address username; decisions section 12). */
  claimUsername(username: string): Promise<HumanBitcoinAddress>;
}

/** Client credentials that the node itself enforces. */
export interface NodeClients {
  /** Active clients only. */
  listClients(): Promise<Client[]>;
  createClient(command: CreateClientCommand): Promise<{ client: Client; credentials: Credentials }>;
  /** Throws `notFound` when there is no active client of that key. */
  updateClient(clientPk: string, change: ClientChange): Promise<Client>;
  /** Takes effect before it answers; sessions of the client end. Throws `notFound`. */
  revokeClient(clientPk: string): Promise<Client>;
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
}

export interface CreateClientCommand extends Grant {
  readonly expiresAtMs: number | null;
  readonly label: string | null;
}

/** Only the members given change; `grant` replaces the whole grant. */
export interface ClientChange {
  readonly label?: string | null;
  readonly expiresAtMs?: number | null;
  readonly grant?: Grant;
}

/** What a payer proof needs and only the payer has. */
export interface ProofMaterial {
  readonly invoiceTlv: Uint8Array;
  /** Hex. */
  readonly preimage: string;
  readonly payerSecretKey: Uint8Array;
}

/** A wallet reached through one credential. */
export interface NodeSession {
  /** Hex ed25519 user public key: the wallet's identity. */
  readonly userPk: string;
  /** The client as it stands now, or null for the root seed. */
  readonly client: () => Client | null;
  readonly node: WalletNode;
  /** Aborts when the credential is revoked or expires; its reason is the ApiError to answer with. */
  readonly ended: AbortSignal;
}

/** One kind of wallet node: turns credentials into sessions. */
export interface NodeConnector {
  /** Opens with client credentials. Throws `unauthenticated` when they are unknown, expired or revoked. */
  connect(credentials: Credentials): Promise<NodeSession>;
  /** Opens with the root seed. Throws `refused` before signup, naming it as the next step. */
  connectRoot(rootSeed: Uint8Array): Promise<NodeSession>;
  /** Creates the wallet of the seed; repeating it does nothing (contract, signup). */
  signup(rootSeed: Uint8Array, options: { partnerPk: string | null }): Promise<void>;
  /** Checks the signed list of trusted releases and provisions those missing (contract, provision). */
  provision(rootSeed: Uint8Array): Promise<void>;
  /** Whether the node answered when last asked; never waits (decisions section 1, health). */
  reachable(): boolean;
  close(): Promise<void>;
}
