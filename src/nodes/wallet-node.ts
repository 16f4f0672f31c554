import type { RouteHint } from '../codecs/bolt11/index.ts';
import type { Network } from '../codecs/network.ts';
import type { Clock } from '../lib/clock.ts';
import type { NodeInfo } from '../model/node-info.ts';
import type { PaymentId, PaymentIndex } from '../model/payment-index.ts';
import type {
  NodeChannels,
  NodeNotes,
  NodeOffers,
  NodeOnchain,
  NodeProofs,
  NodeSpontaneous,
  NodeTokens,
} from './node-groups.ts';
import type { CreatedInvoice, CreateInvoiceCommand, NodeHoldInvoices } from './node-invoices.ts';
import type { NodeHistory, Observation, UpdateBatch, UpdatesOptions } from './node-observations.ts';
import type { PayInvoiceCommand, SendOutcome, SendQuestion, SendReport } from './node-sends.ts';

/** The software that holds a wallet; error 110 names it. */
export interface NodeDescriptor {
  /** The connector's name, such as `sandbox` or `lnd`. */
  readonly kind: string;
  readonly network: Network;
  /** Hex key of the wallet's node, by which its invoices are known. */
  readonly nodePk: string;
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
  /**
   * Whether the node makes at most one payment of a hash in every state, shown by tests on each supported release, so
   * that the same request may be sent again with {@link PayInvoiceCommand.isRepeat} (docs/decisions.md 151).
   */
  readonly repeatsSafely?: boolean;
  info(): Promise<NodeInfo>;
  /** Creates an invoice; its pending inbound payment is durable when this returns. */
  createInvoice(command: CreateInvoiceCommand): Promise<CreatedInvoice>;
  /**
   * Makes a pending inbound invoice payment unpayable: `failed` / `canceled`. Does nothing when it has failed
   * already. Throws `refused` when it was paid first, or is not an inbound invoice.
   */
  cancelInvoice(index: PaymentIndex): Promise<void>;
  /**
   * The identity of the newest outgoing Lightning attempt of that payment id that the node knows; 0 when there is none.
   * Read immediately before a send: an attempt made later has a greater one ({@link Observation.attempt}). Null on
   * nodes that know attempts by the index that the wallet gave them. A node may take the question as a sign that a send
   * is about to follow, and get ready for it.
   */
  newestAttempt(id: PaymentId): Promise<number | null>;
  /**
   * Starts paying an invoice and returns once the node has the payment, pending or already final. Its end arrives
   * through {@link updates}. A payment hash is never paid twice: while an attempt is pending or completed the node
   * makes no other, and the report is then `taken` with that attempt, or `known` where it may be this payment's own.
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

/** The payment that {@link WalletNode.estimateRoutingFeeMsat} asks about. */
export interface RoutingQuestion {
  /** Hex public key of the receiving node. */
  readonly nodePk: string;
  readonly amountMsat: bigint;
  /** Private routes to the receiver, each from a node that others can reach. */
  readonly routeHints: readonly (readonly RouteHint[])[];
}
