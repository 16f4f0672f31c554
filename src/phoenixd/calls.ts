import { decodeOffer } from '../codecs/bolt12/index.ts';
import type { Network } from '../codecs/network.ts';
import type { ChannelJson } from '../model/channel.ts';
import type { PaymentJson } from '../model/payment.ts';
import type { CreatedInvoiceJson } from '../model/receive.ts';
import { type Call, type Caller, Refusal } from './caller.ts';
import {
  amountOf,
  bumpFee,
  decoded,
  inTime,
  invoiceOf,
  outgoingByHash,
  payInvoice,
  payingBy,
  payOffer,
  sendToAddress,
} from './pay.ts';
import { byHash, incoming, outgoing, page, satsOf } from './payments.ts';

/** Returns what to answer: an object as JSON, a text as it is, null as 404. Throws {@link Refusal}. */
type Answer = (call: Call) => Promise<object | string | null>;

/** Every call of phoenixd's API, version 0.9, by method and path. */
export const CALLS: ReadonlyMap<string, Answer> = new Map<string, Answer>(
  Object.entries({
    'GET /getinfo': getInfo,
    'GET /getbalance': async ({ caller }) => {
      const { lightning_max_sendable_balance } = await nodeOf(caller);
      return { balanceSat: satsOf(lightning_max_sendable_balance), feeCreditSat: 0 };
    },
    'GET /listchannels': ({ caller }) => channels(caller),
    'POST /createinvoice': createInvoice,
    'POST /createoffer': async ({ caller, form }) => {
      const body = { description: form.text('description'), min_amount: amountOf(form) };
      return offerOf(caller, { body });
    },
    // With a key, since phoenixd answers the same offer each time.
    'GET /getoffer': ({ caller }) =>
      offerOf(caller, { body: {}, headers: { 'idempotency-key': 'phoenixd getoffer' } }),
    'GET /getlnaddress': async ({ caller }) => {
      const path = '/v2/node/human_bitcoin_address';
      return (await caller.read<{ human_bitcoin_address: string }>('GET', path))
        .human_bitcoin_address;
    },
    'GET /getswapinaddress': ({ caller }) =>
      caller.read('POST', '/v2/node/get_next_unused_address', { body: {} }),
    'POST /payinvoice': payInvoice,
    'POST /payoffer': payOffer,
    'POST /paylnaddress': payingBy('address', /^[^:?]+@[^:?]+$/),
    'POST /lnurlpay': payingBy('lnurl', /^(lightning:)?lnurl/i),
    'POST /lnurlwithdraw': async ({ caller, form }) => {
      const body = { lnurl: form.required('lnurl') };
      const made = caller.read<PaymentJson>('POST', '/v2/node/withdraw_lnurl', { body });
      const { payment } = await inTime(made.then((payment) => ({ payment, id: null })));
      if (!payment) throw new Refusal(504, 'Nothing has arrived yet: see payments/incoming.');
      const { hash: paymentHash, invoice, description, amount } = payment;
      return { receivedSat: satsOf(amount), paymentHash, invoice, description };
    },
    'POST /sendtoaddress': sendToAddress,
    'POST /bumpfee': bumpFee,
    'POST /decodeinvoice': async ({ caller, form }) => {
      await caller.ask('GET', '/v2/node/client_info');
      const { amountMsat: amount, network, timestampSecs, features: _, ...shown } = invoiceOf(form);
      return { chain: chainOf(network), amount, timestampSeconds: timestampSecs, ...shown };
    },
    'POST /decodeoffer': async ({ caller, form }) => {
      await caller.ask('GET', '/v2/node/client_info');
      const offer = decoded(form, 'offer', decodeOffer);
      const { amountMsat: amount, chains: chainHashes, currency, description, issuer } = offer;
      return { offerId: offer.offerId, chainHashes, amount, currency, description, issuer };
    },
    'GET /payments/incoming': (call) => page(call, 'inbound'),
    'GET /payments/incoming/:id': async (call) => {
      const payment = await byHash(call, 'inbound');
      return payment && incoming(payment, call.nowMs);
    },
    'GET /payments/outgoing': (call) => page(call, 'outbound'),
    'GET /payments/outgoing/:id': async (call) => {
      const { caller, id: index } = call;
      // Before the node was asked a payment has no index: then its hash is its id.
      if (!index.includes('-')) return outgoingByHash(call);
      return outgoing(await caller.read('GET', '/v2/node/payment', { query: { index } }));
    },
    'GET /payments/outgoingbyhash/:id': outgoingByHash,
    'POST /export': async ({ caller, form }) => {
      const [since, until] = [form.whole('from'), form.whole('to')];
      const query = { ...(since && { since }), ...(until && { until }) };
      return caller.ask('GET', '/v2/node/export', { query });
    },
    'POST /closechannel': async () => {
      throw new Refusal(
        501,
        'A channel is closed to the on-chain balance of the wallet itself: POST /v2/node/close_channel does it, and sendtoaddress sends on from there.',
      );
    },
  } satisfies Record<string, Answer>),
);

type NodeInfo = { readonly node_pk: string; readonly lightning_max_sendable_balance: string };
const nodeOf = (caller: Caller) => caller.read<NodeInfo>('GET', '/v2/node/node_info');
const chainOf = (network: Network): string => (network === 'bitcoin' ? 'mainnet' : network);
const offerOf = async (caller: Caller, options: Parameters<Caller['ask']>[2]) =>
  (await caller.read<{ offer: string }>('POST', '/v2/node/create_offer', options)).offer;

async function getInfo({ caller }: Call): Promise<object> {
  const { node_pk: nodeId } = await nodeOf(caller);
  const path = '/v2/console/about';
  const about = await caller.read<{ version: string; network: Network }>('GET', path);
  const chain = chainOf(about.network);
  // Clients compare the version to see what there is.
  const version = `0.9.0-wallet-sidecar-${about.version}`;
  return { nodeId, channels: await channels(caller), chain, version };
}

/** The channels, the one with the most to send first: phoenixd has one, and clients read the first. */
async function channels(caller: Caller): Promise<object[]> {
  const path = '/v2/node/list_channels';
  const { channels: all } = await caller.read<{ channels: ChannelJson[] }>('GET', path);
  const shown = all.map((channel) => ({
    state: channel.is_usable ? 'Normal' : 'Offline',
    channelId: channel.channel_id,
    balanceSat: satsOf(channel.outbound_capacity),
    inboundLiquiditySat: satsOf(channel.inbound_capacity),
    capacitySat: satsOf(channel.channel_value),
    fundingTxId: channel.funding_txo?.slice(0, 64),
  }));
  return shown.toSorted((a, b) => b.balanceSat - a.balanceSat);
}

async function createInvoice({ caller, form }: Call): Promise<object> {
  if (form.text('webhookUrl') !== undefined) {
    throw new Refusal(
      501,
      'webhookUrl: an invoice has no webhook of its own here: read /websocket, or add an endpoint for all payments with "wallet-sidecar webhooks add".',
    );
  }
  const description_hash = form.text('descriptionHash');
  if (form.fields.has('description') === (description_hash !== undefined)) {
    throw new Refusal(400, 'Must provide either a description or descriptionHash');
  }
  const body = {
    ...{ amount: amountOf(form), description: form.text('description'), description_hash },
    expiration_secs: Number(form.whole('expirySeconds') ?? 3600),
    external_id: form.text('externalId'),
  };
  const made = await caller.read<CreatedInvoiceJson>('POST', '/v2/node/create_invoice', { body });
  const amountSat = made.amount && satsOf(made.amount);
  return { amountSat, paymentHash: made.payment_hash, serialized: made.invoice };
}
