import { createHash } from 'node:crypto';
import { hex } from '@scure/base';
import { type Bolt11Invoice, decodeBolt11 } from '../../codecs/bolt11/index.ts';
import { NETWORKS, type Network } from '../../codecs/network.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import {
  base64Object,
  type Challenge,
  challengeInvoice,
  type Dialect,
  type Json,
  type Mac,
  type Reading,
  type ResourceRequest,
  readObject,
  textOf,
  wrongChallenge,
} from './challenge.ts';

const PROFILE = 'http:1';
const DOMAIN = `x402:exact:lnbtc:bolt11:${PROFILE}`;
/** How far the clock of the service may be ahead. */
const SKEW_MS = 60_000;
/** Headers that this program's HTTP library writes, so that their value is not known beforehand. */
const NOT_OURS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'payment-signature',
]);

/**
 * x402, version 2, scheme `exact` on Lightning (`lnbtc`, scheme_exact_lnbtc.md of x402-foundation/x402): the invoice's
 * description hash is that of the request.
 */
export const x402: Dialect = {
  proofHeader: 'payment-signature',
  read(headers, reading) {
    const header = headers.get('payment-required');
    if (header === null) return [];
    const { x402Version, resource, accepts } = base64Object(header, 'PAYMENT-REQUIRED');
    if (x402Version !== 2 || !Array.isArray(accepts)) return [];
    const network = networkId(reading.network);
    return accepts
      .filter((one): one is Json => typeof one === 'object' && one !== null)
      .filter((one) => one.scheme === 'exact' && one.network === network)
      .map((accepted) => challengeOf(accepted, resource, reading));
  },
  proof(token, preimage) {
    const said = { ...JSON.parse(token), payload: { preimage } };
    return ['payment-signature', encoded(said)];
  },
  ask({ invoice, description, url, mac }) {
    if (url === null) return null;
    const accepts = [requirementsOf(invoice, mac)];
    const asked = { x402Version: 2, resource: { url, description }, accepts };
    return [`PAYMENT-REQUIRED: ${encoded(asked)}`];
  },
  claim(header, mac) {
    const said = readObject(Buffer.from(header, 'base64'));
    const accepted = Object(said?.accepted) as Json;
    const extra = Object(accepted.extra) as Json;
    const text = textOf(extra.invoice);
    if (!isSameSecret(textOf(extra.id), idOf(text, mac))) return null;
    const invoice = decodeBolt11(text);
    const requirements = requirementsOf(invoice, mac);
    if (said?.x402Version !== 2 || !repeats(accepted, requirements)) return null;
    const { paymentHash } = invoice;
    const settled = { success: true, transaction: paymentHash, network: requirements.network };
    return {
      paymentHash,
      preimage: (Object(said.payload) as Json).preimage,
      needsRequest: true,
      receipt: () => [`PAYMENT-RESPONSE: ${encoded(settled)}`],
    };
  },
};

/** What a buyer is asked for an invoice with a description hash. Everything but the id stands in the invoice too. */
function requirementsOf(invoice: Bolt11Invoice, mac: Mac) {
  return {
    scheme: 'exact',
    network: networkId(invoice.network),
    amount: String(invoice.amountMsat),
    asset: 'BTC',
    payTo: invoice.payeePubkey,
    maxTimeoutSeconds: invoice.expirySecs,
    extra: {
      assetTransferMethod: 'bolt11',
      paymentFlow: 'upfront',
      requestHash: invoice.descriptionHash,
      requestBindingProfile: PROFILE,
      requestBindingParams: { headers: [] },
      invoice: invoice.text,
      // The node's key signs invoices for others too, such as other clients of the wallet.
      id: idOf(invoice.text, mac),
    },
  };
}

function idOf(invoice: string, mac: Mac): string {
  return mac('x402', invoice);
}

/** Whether a buyer has accepted what it was asked. It may have added fields. */
function repeats(accepted: Json, { extra, ...asked }: ReturnType<typeof requirementsOf>): boolean {
  const has = (given: Json, wanted: Json) =>
    Object.entries(wanted).every(
      ([name, value]) => canonicalJson(given[name] ?? null) === canonicalJson(value),
    );
  return has(accepted, asked) && has(Object(accepted.extra) as Json, extra);
}

function encoded(value: Json): string {
  return Buffer.from(canonicalJson(value)).toString('base64');
}

/** The name of a network: the first half of its genesis block hash, as block explorers write it. */
export function networkId(network: Network): string {
  const hash = hex.decode(NETWORKS[network].chainHash).reverse();
  return `lnbtc:${hex.encode(hash.subarray(0, 16))}`;
}

function challengeOf(accepted: Json, resource: unknown, { request, nowMs }: Reading): Challenge {
  const extra = Object(accepted.extra) as Json;
  const invoice = challengeInvoice(extra.invoice);
  const hash = requestHash(request, boundHeaders(extra));
  const { payTo, amount, maxTimeoutSeconds } = accepted;
  const rules: readonly [holds: boolean, problem: string][] = [
    [accepted.asset === 'BTC', 'its asset is not BTC'],
    [(extra.assetTransferMethod ?? 'bolt11') === 'bolt11', 'it is not paid by a BOLT 11 invoice'],
    [extra.paymentFlow === 'upfront', 'its payment flow is not upfront'],
    [amount === String(invoice.amountMsat), 'its amount is not that of its invoice'],
    [payTo === invoice.payeePubkey, 'its receiver is not that of its invoice'],
    [maxTimeoutSeconds === invoice.expirySecs, 'its time is not that of its invoice'],
    [invoice.createdAtMs <= nowMs + SKEW_MS, 'its invoice is from the future'],
    [Object(resource).url === request.url, 'it is for another resource'],
    [extra.requestHash === hash, 'it is for another request'],
    [invoice.descriptionHash === hash, 'its invoice is for another request'],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken) throw wrongChallenge(broken[1]);
  return { dialect: 'x402', invoice, token: canonicalJson({ x402Version: 2, accepted }) };
}

/** Returns the names of the headers that the request hash binds. Throws error 113. */
function boundHeaders({ requestBindingProfile, requestBindingParams }: Json): readonly string[] {
  const params = Object(requestBindingParams) as Json;
  const { headers } = params;
  const isKnown =
    requestBindingProfile === PROFILE && Object.keys(params).length === 1 && Array.isArray(headers);
  if (!isKnown) throw wrongChallenge('it binds the request in an unknown way');
  const names = headers.map(textOf);
  const isOrdered = names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name);
  if (!isOrdered || !names.every((name) => /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))) {
    throw wrongChallenge('its list of headers is wrong');
  }
  const notOurs = names.find((name) => NOT_OURS.has(name));
  if (notOurs) throw wrongChallenge(`it binds the header ${notOurs}, which cannot be known`);
  return names;
}

/** Returns the hash by which an invoice is for one request: hex SHA-256 of {@link requestText}. */
export function requestHash(
  { method, url, headers, body }: ResourceRequest,
  bound: readonly string[],
): string {
  const valueHash = (value: string | undefined) =>
    value === undefined
      ? sha256(Buffer.of(0))
      : sha256(Buffer.concat([Buffer.of(1), Buffer.from(value.trim())]));
  const bodyHash = sha256(body);
  const hashed = bound.map((name) => ({
    name,
    valueHash: valueHash(Object.hasOwn(headers, name) ? headers[name] : undefined),
  }));
  return sha256(Buffer.from(requestText({ method, url, bodyHash }, hashed)));
}

/** A request that a seller asks payment for. Its headers do not matter. */
export interface SoldRequest {
  readonly method: string;
  /** Absolute, without a fragment. */
  readonly url: string;
  /** Hex SHA-256. */
  readonly bodyHash: string;
}

/** Returns what a request is, in canonical JSON. */
export function requestText(
  { method, url, bodyHash }: SoldRequest,
  headers: readonly Json[] = [],
): string {
  return canonicalJson({ domain: DOMAIN, method, url, bodyHash, headers });
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
