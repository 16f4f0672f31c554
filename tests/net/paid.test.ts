import { describe, expect, test } from 'bun:test';
import { hex } from '@scure/base';
import { isApiError } from '../../src/model/errors.ts';
import { authChallenges } from '../../src/net/paid/auth-params.ts';
import { challengeIn, proofOf } from '../../src/net/paid/index.ts';
import { networkId, requestHash } from '../../src/net/paid/x402.ts';
import { ACCEPTED, INVOICE, PREIMAGE } from '../support/x402-example.ts';
import vectors from '../vectors/x402-lnbtc.json';

describe('WWW-Authenticate (RFC 9110, section 11.6.1)', () => {
  const read = (header: string) =>
    authChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)]);

  test('several challenges in one header, quoted and not, with commas and escapes inside', () => {
    expect(
      read(
        'Basic realm="a, \\"b\\"", L402 macaroon="AG==", invoice=lnbc1, Payment id="x" , realm=y',
      ),
    ).toEqual([
      ['basic', { realm: 'a, "b"' }],
      ['l402', { macaroon: 'AG==', invoice: 'lnbc1' }],
      ['payment', { id: 'x', realm: 'y' }],
    ]);
  });

  test('names count in any case, and a challenge with one given twice is left out', () => {
    expect(read('LSAT Macaroon="a", INVOICE="b"')).toEqual([
      ['lsat', { macaroon: 'a', invoice: 'b' }],
    ]);
    expect(read('L402 invoice="a", invoice="b", Basic realm="c"')).toEqual([
      ['basic', { realm: 'c' }],
    ]);
  });

  test('nonsense ends the reading, however long it is', () => {
    expect(read('')).toEqual([]);
    expect(read('"')).toEqual([]);
    expect(read(',,, ,')).toEqual([]);
    expect(read('a="b"')).toEqual([]);
    expect(read('Basic realm="never closed')).toEqual([['basic', {}]]);
    expect(read(`L402 ${'a=b, '.repeat(20_000)}`)).toEqual([]);
    expect(read(`x${'\\"'.repeat(50_000)}`)).toEqual([['x', {}]]);
  });
});

describe('the request hash of x402 (vectors of its specification)', () => {
  test.each(vectors.http_binding)(
    '$id',
    ({ method, url, body_hex, bound_headers, headers, request_hash }) => {
      const request = {
        method,
        url,
        headers: headers as Record<string, string>,
        body: hex.decode(body_hex),
      };
      expect(requestHash(request, bound_headers)).toBe(request_hash);
    },
  );

  test('networks have the names of the specification', () => {
    expect(networkId('bitcoin')).toBe('lnbtc:000000000019d6689c085ae165831e93');
    expect(networkId('testnet')).toBe('lnbtc:000000000933ea01ad0ee984209779ba');
  });
});

describe('the example of the specification of x402', () => {
  const url = 'https://api.example.com/article/A';
  const request = { method: 'GET', url, headers: {}, body: new Uint8Array() };
  const reading = { request, network: 'bitcoin', nowMs: 1_700_000_000_000 } as const;
  const headersOf = (accepted: object, resource: object = { url }) =>
    new Headers({
      'payment-required': Buffer.from(
        JSON.stringify({ x402Version: 2, resource, accepts: [accepted] }),
      ).toString('base64'),
    });

  test('is read, and its proof is the one that the specification shows', () => {
    const challenge = challengeIn(headersOf(ACCEPTED), reading);
    expect(challenge.invoice.amountMsat).toBe(25_000n);
    const [name, value] = proofOf(challenge, PREIMAGE);
    expect(name).toBe('payment-signature');
    expect(JSON.parse(Buffer.from(value, 'base64').toString())).toEqual({
      x402Version: 2,
      accepted: ACCEPTED,
      payload: { preimage: PREIMAGE },
    });
  });

  const changes: readonly [string, object][] = [
    ['its asset', { asset: 'USD' }],
    ['its amount', { amount: '25001' }],
    ['its amount in another form', { amount: '25000.0' }],
    ['its receiver', { payTo: `02${'1'.repeat(64)}` }],
    ['its time', { maxTimeoutSeconds: 301 }],
    ['its flow', { extra: { ...ACCEPTED.extra, paymentFlow: 'deferred' } }],
    ['its method', { extra: { ...ACCEPTED.extra, assetTransferMethod: 'bolt12' } }],
    ['its hash', { extra: { ...ACCEPTED.extra, requestHash: '0'.repeat(64) } }],
    ['its profile', { extra: { ...ACCEPTED.extra, requestBindingProfile: 'mcp:1' } }],
    ['no parameters', { extra: { ...ACCEPTED.extra, requestBindingParams: {} } }],
    [
      'more parameters',
      { extra: { ...ACCEPTED.extra, requestBindingParams: { headers: [], a: 1 } } },
    ],
    [
      'a bound header',
      { extra: { ...ACCEPTED.extra, requestBindingParams: { headers: ['accept'] } } },
    ],
    [
      'headers that are not in order',
      { extra: { ...ACCEPTED.extra, requestBindingParams: { headers: ['b', 'a'] } } },
    ],
    [
      'a header that cannot become a text',
      { extra: { ...ACCEPTED.extra, requestBindingParams: { headers: [{ toString: 1 }] } } },
    ],
    [
      'the header of its own proof',
      { extra: { ...ACCEPTED.extra, requestBindingParams: { headers: ['payment-signature'] } } },
    ],
    ['no invoice', { extra: { ...ACCEPTED.extra, invoice: null } }],
  ];
  test.each(changes)('is refused with another %s', (_, change) => {
    expect(() => challengeIn(headersOf({ ...ACCEPTED, ...change }), reading)).toThrow(/wrong/);
  });

  test('is refused for another resource, a request from the future, and on another network', () => {
    const refused = (headers: Headers, with_: object = {}) => {
      try {
        return challengeIn(headers, { ...reading, ...with_ });
      } catch (error) {
        return isApiError(error, 'serviceFailed');
      }
    };
    expect(refused(headersOf(ACCEPTED, { url: `${url}/` }))).toBe(true);
    expect(refused(headersOf(ACCEPTED), { nowMs: reading.nowMs - 60_001 })).toBe(true);
    expect(refused(headersOf(ACCEPTED), { nowMs: reading.nowMs - 60_000 })).not.toBe(true);
    expect(refused(headersOf(ACCEPTED), { network: 'testnet' })).toBe(true);
    for (const header of ['%%%', 'bnVsbA==', Buffer.from('[1]').toString('base64')]) {
      expect(refused(new Headers({ 'payment-required': header }))).toBe(true);
    }
  });
});

test('of several ways the one is taken that binds most, and a wrong one does not keep from a right one', () => {
  const request = { method: 'GET', url: 'https://a.example/', headers: {}, body: new Uint8Array() };
  const reading = { request, network: 'bitcoin', nowMs: 1_700_000_000_000 } as const;
  const scheme = Buffer.from(
    JSON.stringify({ amount: '25', currency: 'sat', methodDetails: { invoice: INVOICE } }),
  ).toString('base64url');
  const headers = new Headers({ 'payment-required': 'e30=' });
  headers.append('www-authenticate', `L402 token="AA==", invoice="${INVOICE}"`);
  headers.append(
    'www-authenticate',
    `Payment id="1", realm="r", method="lightning", intent="charge", request="${scheme}", expires="2023-11-14T22:13:21Z"`,
  );
  expect(challengeIn(headers, reading).dialect).toBe('payment');
  const late = { ...reading, nowMs: reading.nowMs + 1000 };
  expect(challengeIn(headers, late).dialect).toBe('l402');
  const [name, value] = proofOf({ dialect: 'l402', token: 'AA==' }, PREIMAGE);
  expect([name, value]).toEqual(['authorization', `L402 AA==:${PREIMAGE}`]);
});
