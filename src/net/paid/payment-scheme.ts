import { canonicalJson } from '../../lib/canonical-json.ts';
import { isSameSecret } from '../../lib/secrets/same-secret.ts';
import { authChallenges, challengeLine } from './auth-params.ts';
import {
  base64Object,
  challengeInvoice,
  type Dialect,
  type Json,
  type Mac,
  type Reading,
  readObject,
  textOf,
  wrongChallenge,
} from './challenge.ts';

/** What the proof says of the challenge again. */
const ECHOED = ['id', 'realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'];
const NEEDED = ['id', 'realm', 'method', 'intent', 'request'];
/** What the id of a challenge of ours is made of. */
const BOUND = ['realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'];
const NETWORK_NAMES = {
  bitcoin: 'mainnet',
  testnet: 'testnet',
  signet: 'signet',
  regtest: 'regtest',
};

/** The scheme "Payment" (draft-httpauth-payment): method `lightning`, intent `charge` (draft-lightning-charge). */
export const paymentScheme: Dialect = {
  proofHeader: 'authorization',
  read: (headers, reading) =>
    authChallenges(headers.get('www-authenticate') ?? '')
      .filter(
        ({ scheme, params }) =>
          scheme === 'payment' &&
          params.get('method') === 'lightning' &&
          params.get('intent') === 'charge',
      )
      .map(({ params }) => {
        const missing = NEEDED.find((name) => !params.has(name));
        if (missing) throw wrongChallenge(`it has no ${missing}`);
        const invoice = invoiceOf(params.get('request') ?? '', reading);
        requireInTime(params.get('expires'), reading);
        const echoed = ECHOED.flatMap((name) => {
          const value = params.get(name);
          return value === undefined ? [] : [[name, value]];
        });
        const token = canonicalJson(Object.fromEntries(echoed));
        return { dialect: 'payment', invoice, token };
      }),
  proof(token, preimage) {
    const said = { challenge: JSON.parse(token), payload: { preimage } };
    return ['authorization', `Payment ${encoded(said)}`];
  },
  ask({ invoice, description, url, mac }) {
    const { amountMsat, paymentHash, network } = invoice;
    // The scheme has no parts of a satoshi.
    if (amountMsat === null || amountMsat % 1000n !== 0n) return null;
    const request = encoded({
      amount: String(amountMsat / 1000n),
      currency: 'sat',
      description,
      methodDetails: { invoice: invoice.text, network: NETWORK_NAMES[network], paymentHash },
    });
    const params = {
      realm: url === null ? 'paywall' : new URL(url).host,
      method: 'lightning',
      intent: 'charge',
      request,
      expires: new Date(invoice.expiresAtMs).toISOString(),
    };
    const id = idOf(params, mac);
    return [challengeLine('Payment', { id, ...params }), 'Cache-Control: no-store'];
  },
  claim(header, mac) {
    const token = /^Payment +([A-Za-z0-9_-]+)={0,2}$/i.exec(header)?.[1] ?? '';
    const said = readObject(Buffer.from(token, 'base64url'));
    const challenge = Object(said?.challenge) as Json;
    const id = idOf(challenge, mac);
    if (!isSameSecret(textOf(challenge.id), id)) return null;
    const request = readObject(Buffer.from(textOf(challenge.request), 'base64url'));
    const paymentHash = textOf((Object(request?.methodDetails) as Json).paymentHash);
    const { preimage } = Object(said?.payload) as Json;
    return {
      paymentHash,
      preimage,
      needsRequest: false,
      receipt: (settledAtMs) => [
        `Payment-Receipt: ${encoded({
          method: 'lightning',
          challengeId: id,
          reference: paymentHash,
          status: 'success',
          timestamp: new Date(settledAtMs).toISOString(),
        })}`,
      ],
    };
  },
};

function idOf(params: Json, mac: Mac): string {
  return mac('payment', ...BOUND.map((name) => textOf(params[name])));
}

function encoded(value: Json): string {
  return Buffer.from(canonicalJson(value)).toString('base64url');
}

function invoiceOf(encoded: string, { network }: Reading) {
  const { amount, currency, methodDetails } = base64Object(encoded, 'its request');
  const details = Object(methodDetails) as Json;
  const invoice = challengeInvoice(details.invoice);
  if (currency !== 'sat') throw wrongChallenge('its currency is not sat');
  const isAmount = typeof amount === 'string' && /^[1-9]\d{0,15}$/.test(amount);
  if (!isAmount || BigInt(amount) * 1000n !== invoice.amountMsat) {
    throw wrongChallenge('its amount is not that of its invoice');
  }
  if ((details.paymentHash ?? invoice.paymentHash) !== invoice.paymentHash) {
    throw wrongChallenge('its payment hash is not that of its invoice');
  }
  if ((details.network ?? NETWORK_NAMES[network]) !== NETWORK_NAMES[network]) {
    throw wrongChallenge('it is for another network');
  }
  return invoice;
}

function requireInTime(expires: string | undefined, { nowMs }: Reading): void {
  if (expires === undefined) return;
  const endMs = Date.parse(expires);
  if (!(endMs > nowMs)) throw wrongChallenge('it has expired');
}
