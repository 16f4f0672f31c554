import { describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import {
  challengeIn,
  challengesOf,
  claimsIn,
  proofOf,
  requestText,
} from '../../src/net/paid/index.ts';
import { ACCEPTED, INVOICE, PREIMAGE } from '../support/x402-example.ts';

/** The seller's side of the ways of HTTP 402, with the examples of their specifications. */

const mac = (...texts: readonly string[]) =>
  createHmac('sha256', 'key').update(JSON.stringify(texts)).digest('hex');
const URL_SOLD = 'https://api.example.com/article/A';
const invoice = decodeBolt11(INVOICE);
const SALE = { invoice, description: 'Ein Bericht "x"', url: URL_SOLD, mac };
const challenges = challengesOf(SALE);
const valueIn = (line: string | undefined) => line?.replace(/^[\w-]+: /, '') ?? '';
const objectOf = (base64: string) => JSON.parse(Buffer.from(base64, 'base64').toString());

describe('L402', () => {
  const line = challenges.l402?.[0] ?? '';
  const token = /token="(.+?)"/.exec(line)?.[1] ?? '';
  const bytes = Buffer.from(token, 'base64');
  const claims = (authorization: string) => claimsIn({ authorization }, mac);

  test('the token is a macaroon in version 2, whose identifier is in version 0 and names the payment', () => {
    expect(bytes.subarray(0, 5)).toEqual(Buffer.of(2, 2, 66, 0, 0));
    expect(bytes.subarray(5, 37).toString('hex')).toBe(invoice.paymentHash);
    expect(bytes.subarray(69, 73)).toEqual(Buffer.of(0, 0, 6, 32));
    expect(bytes).toHaveLength(105);
  });

  test('clients find it under both names, also those that look for one text at the beginning', () => {
    expect(line).toBe(
      `WWW-Authenticate: L402 macaroon="${token}", invoice="${INVOICE}", version="0", token="${token}"`,
    );
    const read = /(LSAT|L402) macaroon="(.*?)", invoice="(.*?)"/.exec(line);
    expect(read?.slice(2)).toEqual([token, INVOICE]);
  });

  test('its proof is known again, under the earlier name too', () => {
    for (const scheme of ['L402', 'LSAT', 'l402']) {
      expect(claims(`${scheme} ${token}:${PREIMAGE}`)).toMatchObject([
        { paymentHash: invoice.paymentHash, preimage: PREIMAGE, needsRequest: false },
      ]);
    }
  });

  test('one with a caveat that a holder has added is refused, since nobody knows whether it holds', () => {
    const caveat = Buffer.from('services=other:0');
    const signature = createHmac('sha256', bytes.subarray(-32)).update(caveat).digest();
    const narrowed = Buffer.concat([
      bytes.subarray(0, -35),
      Buffer.of(2, caveat.length),
      caveat,
      Buffer.of(0, 0, 6, 32),
      signature,
    ]);
    expect(claims(`L402 ${narrowed.toString('base64')}:${PREIMAGE}`)).toEqual([]);
  });

  test('one of another seller, and a preimage of another payment, are refused', () => {
    const other = (...texts: readonly string[]) => mac('other', ...texts);
    expect(claimsIn({ authorization: `L402 ${token}:${PREIMAGE}` }, other)).toEqual([]);
    expect(claims(`L402 ${token}:${'00'.repeat(32)}`)).toEqual([]);
    expect(claims(`L402 ${token}:${PREIMAGE}00`)).toEqual([]);
    expect(claims(`L402 ${token}:${PREIMAGE.slice(2)}`)).toEqual([]);
    expect(claims(`L402 ${token},${token}:${PREIMAGE}`)).toEqual([]);
  });
});

describe('the scheme Payment (draft-lightning-charge)', () => {
  const [line = '', cache] = challenges.payment ?? [];
  const param = (name: string) => new RegExp(` ${name}="(.+?)"`).exec(line)?.[1] ?? '';

  test('the challenge has the fields of the draft, in canonical JSON without padding', () => {
    expect(cache).toBe('Cache-Control: no-store');
    expect(line).toMatch(/^WWW-Authenticate: Payment id="[0-9a-f]{64}", realm="api\.example\.com"/);
    expect([param('method'), param('intent')]).toEqual(['lightning', 'charge']);
    expect(param('request')).toMatch(/^[\w-]+$/);
    expect(Date.parse(param('expires'))).toBe(invoice.expiresAtMs);
    expect(Buffer.from(param('request'), 'base64url').toString()).toBe(
      `{"amount":"25","currency":"sat","description":"Ein Bericht \\"x\\"","methodDetails":{"invoice":"${INVOICE}","network":"mainnet","paymentHash":"${invoice.paymentHash}"}}`,
    );
  });

  const asked = { id: param('id'), realm: 'api.example.com', method: 'lightning' };
  const challenge = {
    ...asked,
    intent: 'charge',
    request: param('request'),
    expires: param('expires'),
  };
  const claims = (change: object, payload: object = { preimage: PREIMAGE }) => {
    const said = { challenge: { ...challenge, ...change }, payload, source: 'did:key:x' };
    const text = Buffer.from(JSON.stringify(said)).toString('base64url');
    return claimsIn({ authorization: `Payment ${text}` }, mac);
  };

  test('its proof is known again, and its receipt has the fields of the draft', () => {
    const [claim] = claims({ description: 'added' });
    expect(claim).toMatchObject({ paymentHash: invoice.paymentHash, preimage: PREIMAGE });
    const [receipt] = claim?.receipt(1_773_176_400_000) ?? [];
    expect(receipt).toStartWith('Payment-Receipt: ');
    expect(objectOf(valueIn(receipt))).toEqual({
      method: 'lightning',
      challengeId: challenge.id,
      reference: invoice.paymentHash,
      status: 'success',
      timestamp: '2026-03-10T21:00:00.000Z',
    });
  });

  test('no part of the challenge can be changed, left out or added', () => {
    const later = new Date(invoice.expiresAtMs + 1000).toISOString();
    const changes = [
      ...Object.keys(challenge).flatMap((name) => [{ [name]: undefined }, { [name]: 'x' }]),
      { expires: later },
      { digest: 'sha-256=:x:' },
      { opaque: 'e30' },
      { realm: ['api.example.com'], id: [challenge.id, ''] },
    ];
    for (const change of changes) expect(claims(change)).toEqual([]);
    for (const payload of [{}, { preimage: null }, { preimage: 'AB'.repeat(32) }]) {
      expect(claims({}, payload)).toEqual([]);
    }
  });

  test('a price with parts of a satoshi cannot be asked', () => {
    const sale = { ...SALE, invoice: { ...invoice, amountMsat: 25_001n } };
    expect(challengesOf(sale).payment).toBeNull();
  });
});

describe('x402 (the example of scheme_exact_lnbtc.md)', () => {
  const asked = objectOf(valueIn(challenges.x402?.[0]));
  const [accepted] = asked.accepts;
  const claims = (change: object, more: object = {}) => {
    const said = { x402Version: 2, accepted: { ...accepted, ...change }, ...more };
    const signed = { ...said, payload: { preimage: PREIMAGE } };
    const value = Buffer.from(JSON.stringify(signed)).toString('base64');
    return claimsIn({ 'PAYMENT-SIGNATURE': value }, mac);
  };

  test('the text of the request has the hash of the specification', () => {
    const bodyHash = createHash('sha256').digest('hex');
    const text = requestText({ method: 'GET', url: URL_SOLD, bodyHash });
    expect(createHash('sha256').update(text).digest('hex')).toBe(ACCEPTED.extra.requestHash);
  });

  test('the challenge is the one that the specification shows, and an id', () => {
    expect(asked).toMatchObject({ x402Version: 2, resource: { url: URL_SOLD } });
    const { id, ...extra } = accepted.extra;
    expect({ ...accepted, extra }).toEqual(ACCEPTED);
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(challengesOf({ ...SALE, url: null }).x402).toBeNull();
  });

  test('its proof is known again, with fields that the buyer has added, and its receipt is the one of the specification', () => {
    const [claim] = claims({ note: 1, extra: { ...accepted.extra, memo: 'x' } });
    expect(claim).toMatchObject({ needsRequest: true, paymentHash: invoice.paymentHash });
    expect(objectOf(valueIn(claim?.receipt(0)[0]))).toEqual({
      success: true,
      transaction: 'a923c2c0e4fe77061ff1cb882171f6fdf926719bb7f5ffe2e05458438c52825e',
      network: 'lnbtc:000000000019d6689c085ae165831e93',
    });
  });

  test('no field that was asked can be changed or left out', () => {
    for (const name of Object.keys(ACCEPTED)) {
      expect(claims({ [name]: undefined })).toEqual([]);
      expect(claims({ [name]: 'x' })).toEqual([]);
    }
    for (const name of Object.keys(accepted.extra)) {
      for (const value of [undefined, null, 'x', { headers: ['accept'] }]) {
        expect(claims({ extra: { ...accepted.extra, [name]: value } })).toEqual([]);
      }
    }
    expect(claims({}, { x402Version: 1 })).toEqual([]);
  });
});

test('what a buyer has nested deeply, or what cannot become a text, is no proof and no error', () => {
  const [line] = challenges.x402 ?? [];
  const [accepted] = objectOf(valueIn(line)).accepts;
  const deep = '['.repeat(6000) + ']'.repeat(6000);
  const odd = '{"toString":1,"valueOf":1}';
  for (const [name, json] of [
    ['amount', deep],
    ['amount', odd],
    ['extra', JSON.stringify(accepted.extra).replace('{"headers":[]}', deep.slice(1500, -1500))],
    ['extra', `{"invoice":${odd},"id":${odd}}`],
  ]) {
    const own = JSON.stringify({ ...accepted, [name ?? '']: '%' }).replace('"%"', json ?? '');
    const said = `{"x402Version":2,"accepted":${own},"payload":{"preimage":"${PREIMAGE}"}}`;
    const value = Buffer.from(said).toString('base64');
    expect(claimsIn({ 'payment-signature': value }, mac)).toEqual([]);
  }
  for (const json of [`{"challenge":{"id":${odd}}}`, `{"challenge":{"id":"x","realm":${odd}}}`]) {
    const authorization = `Payment ${Buffer.from(json).toString('base64url')}`;
    expect(claimsIn({ authorization }, mac)).toEqual([]);
  }
});

test('of a request with several proofs each is known, in headers of any case and in lists', () => {
  const request = { method: 'GET', url: URL_SOLD, headers: {}, body: new Uint8Array() };
  const reading = { request, network: 'bitcoin', nowMs: 1_700_000_000_000 } as const;
  const proofs = Object.values(challenges).map((lines) => {
    const [line = ''] = lines ?? [];
    const [name = ''] = line.split(':');
    return proofOf(challengeIn(new Headers({ [name]: valueIn(line) }), reading), PREIMAGE)[1];
  });
  const [l402 = '', payment = '', x402 = ''] = proofs;
  const headers = { AUTHORIZATION: ['Bearer x', payment, ` ${l402} `], 'Payment-Signature': x402 };
  expect(claimsIn(headers, mac)).toHaveLength(3);
  expect(claimsIn({ 'x-authorization': l402, cookie: [l402] }, mac)).toEqual([]);
  expect(claimsIn({ authorization: `${' '.repeat(20_000)}${l402}` }, mac)).toHaveLength(1);
  expect(claimsIn({ authorization: `L402 ${' '.repeat(20_000)}${l402.slice(5)}` }, mac)).toEqual(
    [],
  );
});

test('a request can hold many headers: only the first proofs of each way are looked at', () => {
  let macs = 0;
  const counting = (...texts: readonly string[]) => {
    macs += 1;
    return mac(...texts);
  };
  expect(claimsIn({ authorization: Array<string>(10_000).fill('L402 aa:bb') }, counting)).toEqual(
    [],
  );
  expect(macs).toBeLessThan(100);
});

test('what stands in the URL cannot end a parameter of the challenge', () => {
  const url = 'https://a"b.example/x';
  const [line] = challengesOf({ ...SALE, url }).payment ?? [];
  expect(line).toContain('realm="a\\"b.example"');
});
