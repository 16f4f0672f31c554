import { canonicalJson } from '../../lib/canonical-json.ts';
import { authChallenges } from './auth-params.ts';
import {
  base64Object,
  challengeInvoice,
  type Dialect,
  type Reading,
  wrongChallenge,
} from './challenge.ts';

/** What the proof says of the challenge again. */
const ECHOED = ['id', 'realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'];
const NEEDED = ['id', 'realm', 'method', 'intent', 'request'];
const NETWORK_NAMES = {
  bitcoin: 'mainnet',
  testnet: 'testnet',
  signet: 'signet',
  regtest: 'regtest',
};

/**
 * The scheme "Payment" (draft-httpauth-payment), with the method `lightning` and the intent `charge`
 * (draft-lightning-charge).
 */
export const paymentScheme: Dialect = {
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
    const said = canonicalJson({ challenge: JSON.parse(token), payload: { preimage } });
    return ['authorization', `Payment ${Buffer.from(said).toString('base64url')}`];
  },
};

function invoiceOf(encoded: string, { network }: Reading) {
  const { amount, currency, methodDetails } = base64Object(encoded, 'its request');
  const details = Object(methodDetails) as Readonly<Record<string, unknown>>;
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
