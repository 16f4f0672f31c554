import { type ServerCertificate, selfSignedCertificate } from './certificates.ts';
import { channelMethods } from './fake-lnd/channel-methods.ts';
import { Channels } from './fake-lnd/channels.ts';
import { Gateway, type Hooks, type Received } from './fake-lnd/gateway.ts';
import { newIdentity, signMethod } from './fake-lnd/identity.ts';
import { infoMethods, NOT_OPEN, type WalletState } from './fake-lnd/info-methods.ts';
import { invoiceMethods } from './fake-lnd/invoice-methods.ts';
import { type Invoice, Invoices } from './fake-lnd/invoices.ts';
import { ADMIN, Macaroons, macaroonMethods } from './fake-lnd/macaroons.ts';
import { onchainMethods } from './fake-lnd/onchain-methods.ts';
import { paymentMethods } from './fake-lnd/payment-methods.ts';
import { Payments } from './fake-lnd/payments.ts';
import { walletKitMethods } from './fake-lnd/psbt-methods.ts';
import { LndError, type RpcMethod } from './fake-lnd/rpc.ts';
import { Wallet } from './fake-lnd/wallet.ts';
import { HttpsServer } from './https-server.ts';

/** Options of a fake LND. By default it is a fresh node with one channel and one confirmed coin. */
export interface FakeLndOptions {
  /** The node's key. A second fake with the same key stands for the same node at another place. */
  readonly secretKey?: Uint8Array;
  readonly certificate?: ServerCertificate;
  /** The port of an earlier fake that has stopped, to take its place. */
  readonly port?: number;
  /** The network that it reports, as LND names it; its addresses and invoices are always for regtest. */
  readonly network?: string;
  /** The value of the one confirmed coin at the start. */
  readonly onchainSat?: bigint;
  /** The value of the one channel at the start; 0 makes no channel. */
  readonly channelSat?: bigint;
  readonly hooks?: Hooks;
}

/** An LND that behaves well and runs in this process. Tests decide what other nodes and the chain do to it. */
export interface FakeLnd {
  readonly url: string;
  /** The node's self-signed certificate, PEM. */
  readonly cert: string;
  /** The node's key, hex. */
  readonly pubkey: string;
  readonly secretKey: Uint8Array;
  readonly adminMacaroon: string;
  /** Every request since the start, in order. */
  readonly received: Received[];
  readonly macaroons: Macaroons;
  readonly invoices: Invoices;
  readonly payments: Payments;
  readonly channels: Channels;
  readonly wallet: Wallet;
  /** Another node pays an invoice: in full and with the true preimage, unless `how` says otherwise. */
  paysInvoice(hash: string, how?: { amountMsat?: bigint; preimage?: string }): Invoice;
  setState(state: WalletState): void;
  /** Moves the node's clock forward. */
  advanceClock(secs: number): void;
  /** Drops every connection, streams included, and listens again with the same data. */
  restart(): Promise<void>;
  start(): Promise<void>;
  /** Stops listening; {@link start} listens on the same port again. */
  stop(): Promise<void>;
}

/**
 * Starts a fake LND. The version that it reports does not exist, so that no recording of it can pass for a real LND's.
 */
export async function startFakeLnd(options: FakeLndOptions = {}): Promise<FakeLnd> {
  const { network = 'regtest', onchainSat = 1_000_000n, channelSat = 1_000_000n } = options;
  let offsetMs = 0;
  let state: WalletState = 'SERVER_ACTIVE';
  const nowMs = () => Date.now() + offsetMs;
  const identity = newIdentity(options.secretKey);
  const wallet = new Wallet(nowMs);
  const channels = new Channels(wallet);
  const invoices = new Invoices(identity, nowMs);
  const macaroons = new Macaroons();
  const payments = new Payments({
    identity,
    nowMs,
    sendableMsat: () => channels.sendableMsat(),
    spend: (amountMsat) => channels.spend(amountMsat),
  });
  const methods: RpcMethod[] = [
    ...infoMethods({
      ...{ identity, wallet, channels, state: () => state, network, nowMs },
      isNativeSql: () => payments.isNativeSql,
    }),
    signMethod(identity),
    ...invoiceMethods(invoices),
    ...paymentMethods(payments),
    ...channelMethods(channels, wallet),
    ...onchainMethods(wallet),
    ...walletKitMethods(wallet, nowMs),
    ...macaroonMethods(macaroons, () => methods),
  ];
  const gateway = new Gateway({
    methods,
    hooks: options.hooks ?? {},
    authorize: (macaroonHex, method) => {
      const closed = method.needs && NOT_OPEN[state];
      if (closed) throw new LndError(closed);
      macaroons.check(macaroonHex, method, nowMs());
    },
  });
  const server = new HttpsServer(
    options.certificate ?? selfSignedCertificate(),
    gateway.handle,
    options.port,
  );
  await server.start();
  if (channelSat > 0n) channels.add({ capacitySat: channelSat, localSat: channelSat / 2n });
  if (onchainSat > 0n) wallet.receive(onchainSat);
  return {
    get url() {
      return server.url;
    },
    cert: server.certificate.cert,
    pubkey: identity.pubkey,
    secretKey: identity.secretKey,
    adminMacaroon: macaroons.bake(ADMIN),
    received: gateway.received,
    ...{ macaroons, invoices, payments, channels, wallet },
    paysInvoice: (hash, how) => {
      const invoice = invoices.settle(hash, how);
      channels.earn(invoice.paidMsat);
      return invoice;
    },
    setState: (next) => {
      state = next;
    },
    advanceClock: (secs) => {
      offsetMs += secs * 1000;
    },
    restart: async () => {
      await server.stop();
      await server.start();
    },
    start: () => server.start(),
    stop: () => server.stop(),
  };
}
