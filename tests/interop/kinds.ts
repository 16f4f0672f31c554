import { encodeNodeCredentials } from '../../src/model/credentials.ts';
import type { RemoteKind } from '../../src/model/node-kind.ts';
import { type FaultProxy, startFaultProxy } from '../hostile/fault-proxy.ts';
import { clnOutsider, clnParts } from './cln-outsider.ts';
import { connectCln, connectLnd } from './connect.ts';
import type { Btcd } from './harness/btcd.ts';
import type { NodeSteps } from './harness/channels.ts';
import { clnSteps } from './harness/cln-steps.ts';
import {
  type ClnNetwork,
  type ClnNode,
  describeClnNetwork,
  describeNetwork,
  type LndNode,
  type Network,
} from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type HoldInvoice, lndPayments, type OutsideInvoice, outsider } from './outsider.ts';

/** What kinds of node are called here. */
export const TITLES: Readonly<Record<RemoteKind, string>> = { lnd: 'LND', cln: 'Core Lightning' };

/** The terms of an invoice of a node. */
export interface InvoiceTerms {
  /** Null leaves the amount to the payer. */
  readonly amountMsat: number | string | null;
  readonly description?: string;
  readonly expirySecs?: number;
}

/** The wallet of a node with its own token, as the sidecar is configured with it. */
export interface RealEntry {
  readonly kind: RemoteKind;
  readonly url: string;
  readonly cert: string;
  readonly nodePk: string;
  readonly network: 'regtest';
  readonly token: string;
}

/** A node of the harness, in words that every kind shares: how it is reached, and how it acts without the sidecar. */
export interface RealNode {
  readonly kind: RemoteKind;
  readonly pubkey: string;
  /** The address for its peers, `host:port`. */
  readonly peerAddress: string;
  readonly steps: NodeSteps;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
  entry(): Promise<RealEntry>;
  /** What `connect` prints for it, or for another token of it. */
  connect(tokenPath?: string): Promise<string>;
  invoice(terms: InvoiceTerms): Promise<OutsideInvoice>;
  /** Cancels an unpaid invoice, so that a payment to it is refused. */
  cancel(hash: string): Promise<unknown>;
  /** An invoice that holds what it is paid with. */
  holds(amountMsat: string): Promise<HoldInvoice>;
  /** Pays a string and returns whether that succeeded. */
  pays(payable: string, amountMsat?: string): Promise<boolean>;
  /** Sends without an invoice and returns whether that succeeded. */
  keysends(to: string, amountMsat: string, message: string): Promise<boolean>;
  /** The states of its attempts to pay a hash. */
  attempts(hash: string): Promise<readonly string[]>;
  /** Makes an offer of any amount; null where the kind has none. */
  readonly offer: ((description: string) => Promise<{ readonly offer: string }>) | null;
  /** Whether it holds what an invoice of its own was paid with; null where the kind holds nothing. */
  readonly isHeld: ((hash: string) => Promise<boolean>) | null;
}

/** Two nodes of one kind that can pay each other. */
export interface RealNetwork {
  readonly version: string;
  readonly btcd: Btcd;
  readonly esploraUrl: string;
  readonly electrumUrl: string;
  readonly alice: RealNode;
  readonly bob: RealNode;
  channelUsable(): Promise<void>;
}

/** An LND in those words. */
export function lndNode(node: LndNode): RealNode {
  const outside = outsider(node);
  return {
    kind: 'lnd',
    pubkey: node.pubkey,
    peerAddress: node.peerAddress,
    steps: lndSteps(node),
    start: () => node.start(),
    stop: node.stop,
    kill: node.kill,
    async entry() {
      const token = await Bun.file(node.macaroonPath).bytes();
      return {
        ...{ kind: 'lnd', url: node.restUrl, nodePk: node.pubkey, network: 'regtest' },
        cert: await Bun.file(node.tlsCertPath).text(),
        token: Buffer.from(token).toString('hex'),
      };
    },
    connect: (path) => connectLnd(node, path),
    invoice: ({ amountMsat, description, expirySecs = 3600 }) =>
      outside.invoice({
        value_msat: `${amountMsat ?? 0}`,
        memo: description,
        expiry: `${expirySecs}`,
      }),
    cancel: outside.cancel,
    holds: outside.holds,
    pays: async (...payment) => (await outside.pays(...payment)) === 'SUCCEEDED',
    keysends: async (pubkey, ...payment) =>
      (await outside.keysends({ pubkey }, ...payment)).status === 'SUCCEEDED',
    attempts: async (hash) =>
      (await lndPayments(node, hash)).map(({ status }) => LND_STATES[status] ?? 'pending'),
    offer: null,
    async isHeld(hash) {
      const path = `/v1/invoice/${hash}`;
      return (await node.rest<{ state: string }>('GET', path)).state === 'ACCEPTED';
    },
  };
}

/** LND's words for payments that have ended, in those of Core Lightning. */
const LND_STATES: Readonly<Record<string, string>> = { SUCCEEDED: 'complete', FAILED: 'failed' };

/** A Core Lightning in those words. Only bob of a network holds payments. */
export function clnNode(node: ClnNode): RealNode {
  const outside = clnOutsider(node);
  return {
    kind: 'cln',
    pubkey: node.pubkey,
    peerAddress: node.peerAddress,
    steps: clnSteps(node),
    start: node.start,
    stop: node.stop,
    kill: node.kill,
    entry: async () => ({
      ...{ kind: 'cln', url: node.url, nodePk: node.pubkey, network: 'regtest' },
      cert: await Bun.file(node.certPath).text(),
      token: node.rune,
    }),
    connect: (path) => connectCln(node, path),
    invoice: ({ amountMsat, description = '', expirySecs = 3600 }) =>
      outside.invoice({ amount_msat: amountMsat ?? 'any', description, expiry: expirySecs }),
    cancel: outside.cancel,
    holds: outside.holds,
    pays: outside.pays,
    keysends: async (pubkey, ...payment) =>
      (await outside.keysends({ pubkey }, ...payment)) !== null,
    attempts: async (hash) => (await clnParts(node, hash)).map(({ status }) => status),
    offer: outside.offer,
    isHeld: null,
  };
}

/** A network of LND in those words. */
export function realLnd({ alice, bob, ...network }: Network): RealNetwork {
  return { ...network, alice: lndNode(alice), bob: lndNode(bob) };
}

/** A network of Core Lightning in those words. */
export function realCln({ alice, bob, ...network }: ClnNetwork): RealNetwork {
  return { ...network, alice: clnNode(alice), bob: clnNode(bob) };
}

/** What differs by kind, made of the harness's own network. */
interface ByKind<W> {
  readonly lnd: (network: Network) => W;
  readonly cln: (network: ClnNetwork) => W;
}

/** The kind that shared tests run on. */
export interface KindOfNode {
  readonly title: string;
  /** What differs by kind, for the kind at hand. Call it inside tests and hooks only. */
  of<W>(words: ByKind<W>): W;
}

/**
 * {@link describeNetwork} for each node of each kind that was found: the tests that all kinds share, then those of one
 * kind, with what the shared ones return.
 */
export function describeKinds<T>(
  name: string,
  tests: (network: () => RealNetwork, kind: KindOfNode) => T,
  further: {
    readonly lnd?: (network: () => Network, shared: T) => void;
    readonly cln?: (network: () => ClnNetwork, shared: T) => void;
  } = {},
): void {
  describeNetwork(`${name} on ${TITLES.lnd}`, (network) => {
    const kind: KindOfNode = { title: TITLES.lnd, of: ({ lnd }) => lnd(network()) };
    const shared = tests(() => realLnd(network()), kind);
    further.lnd?.(network, shared);
  });
  describeClnNetwork(`${name} on ${TITLES.cln}`, (network) => {
    const kind: KindOfNode = { title: TITLES.cln, of: ({ cln }) => cln(network()) };
    const shared = tests(() => realCln(network()), kind);
    further.cln?.(network, shared);
  });
}

/** Starts a proxy before a node, by which answers can be lost, and makes credentials that name the proxy. */
export async function behindFaultProxy(
  node: RealNode,
): Promise<{ readonly proxy: FaultProxy; readonly credentials: string }> {
  const entry = await node.entry();
  const proxy = await startFaultProxy(entry);
  const credentials = encodeNodeCredentials({ ...entry, url: proxy.url, cert: proxy.cert });
  return { proxy, credentials };
}
