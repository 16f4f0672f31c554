import { createHash } from 'node:crypto';
import { hex } from '@scure/base';
import { NETWORKS, type Network } from '../../codecs/network.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import {
  base64Object,
  type Challenge,
  challengeInvoice,
  type Dialect,
  type Reading,
  type ResourceRequest,
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

type Json = Readonly<Record<string, unknown>>;

/**
 * x402, version 2, scheme `exact` on Lightning (`lnbtc`, scheme_exact_lnbtc.md of x402-foundation/x402): the invoice's
 * description hash is that of the request.
 */
export const x402: Dialect = {
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
    return ['payment-signature', Buffer.from(canonicalJson(said)).toString('base64')];
  },
};

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
  const names = headers.map(String);
  const isOrdered = names.every((name, at) => at === 0 || (names[at - 1] ?? '') < name);
  if (!isOrdered || !names.every((name) => /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))) {
    throw wrongChallenge('its list of headers is wrong');
  }
  const notOurs = names.find((name) => NOT_OURS.has(name));
  if (notOurs) throw wrongChallenge(`it binds the header ${notOurs}, which cannot be known`);
  return names;
}

/** Returns the hash by which an invoice is for one request: hex SHA-256 of what the request is, in canonical JSON. */
export function requestHash(
  { method, url, headers, body }: ResourceRequest,
  bound: readonly string[],
): string {
  const valueHash = (value: string | undefined) =>
    value === undefined
      ? sha256(Buffer.of(0))
      : sha256(Buffer.concat([Buffer.of(1), Buffer.from(value.trim())]));
  return sha256(
    Buffer.from(
      canonicalJson({
        domain: DOMAIN,
        method,
        url,
        bodyHash: sha256(body),
        headers: bound.map((name) => ({
          name,
          valueHash: valueHash(Object.hasOwn(headers, name) ? headers[name] : undefined),
        })),
      }),
    ),
  );
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
