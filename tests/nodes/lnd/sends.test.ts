import { afterAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { decodeBolt11 } from '../../../src/codecs/bolt11/index.ts';
import { paymentHashOf } from '../../../src/codecs/preimage.ts';
import type { NodeCredentials } from '../../../src/model/credentials.ts';
import { blankPayment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { mintMacaroon } from '../../../src/nodes/lnd/words/macaroon.ts';
import type { SendQuestion, WalletNode } from '../../../src/nodes/node.ts';
import { questionOf } from '../../contracts/node/steps.ts';
import { CERT, head, startRawServer } from '../../support/raw-server.ts';
import { rejection } from '../../support/rejection.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import { until } from '../../support/until.ts';
import { channelOf } from './channel-of.ts';
import { infoOf, nodeKey, refusal, scriptedLnd } from './scripted-lnd.ts';

/** An example of BOLT 11 from 2017. Its hash is 0001020304..., and it expires an hour after its creation. */
const INVOICE =
  'lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdwk8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql';
const HASH = '0001020304050607080900010203040506070809000102030405060708090102';
const EXPIRES_SECS = 1_496_314_658 + 3600;
const node = nodeKey(1);
const TOKEN = mintMacaroon(
  new Uint8Array(32),
  new Uint8Array(16),
  new Map([['offchain', ['read', 'write']]]),
);
const lnd = scriptedLnd();
afterAll(() => lnd.stop());

const entry = (change: Partial<NodeCredentials> = {}): NodeCredentials => ({
  kind: 'lnd',
  url: lnd.url,
  cert: lnd.cert,
  nodePk: node.pk,
  network: 'regtest',
  token: TOKEN,
  ...change,
});
async function walletAt(at = entry()): Promise<WalletNode> {
  const connector = openLnd(remoteOptions([at]));
  return (await connector.connectConfigured(at)).node;
}

const CHANNEL = channelOf();
const paymentOf = (nth: number, status = 'IN_FLIGHT') => ({
  payment_hash: HASH,
  value_msat: '5000',
  fee_msat: '0',
  creation_time_ns: `${attemptOf(nth)}456`,
  payment_preimage: '',
  payment_request: INVOICE,
  status,
  failure_reason: 'FAILURE_REASON_NONE',
  payment_index: `${nth}`,
  htlcs: [],
});
/** The number of an attempt that LND made in that second: the time of its creation, in microseconds. */
const attemptOf = (nth: number) => 1_700_000_000_000_123 + nth * 1_000_000;
const streamed = (...items: object[]) =>
  new Response(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
const TRACK = 'GET /v2/router/track/';
const SEND = 'POST /v2/router/send';

beforeEach(() => {
  lnd.reset();
  lnd.on('GET /v1/getinfo', infoOf(node.pk));
  lnd.on('GET /v1/channels', { channels: [CHANNEL] });
});

const index = paymentIndex(1_700_000_000_123, paymentId('ln', HASH));
const command = {
  index,
  createdAtMs: 1_700_000_000_123,
  amountMsat: 5000n,
  personalNote: null,
  externalId: null,
  invoice: decodeBolt11(INVOICE),
  maxFeeMsat: 1000n,
  message: null,
};
async function pay(at = entry(), change: { isRepeat?: boolean } = {}) {
  return (await walletAt(at)).payInvoice({ ...command, ...change });
}
const asked = () => lnd.requests.filter(({ path }) => path === '/v2/router/send').length;

/** An LND that cuts the connection of everything that it is asked, but for itself and its channels. */
async function startCutting() {
  const raw = await startRawServer();
  const json = (body: object) => {
    const text = JSON.stringify(body);
    return `${head('200 OK', `content-length: ${text.length}`, 'connection: close')}${text}`;
  };
  raw.behave((socket, request) => {
    if (request.includes('/v1/getinfo')) socket.end(json(infoOf(node.pk)));
    else if (request.includes('/v1/channels')) socket.end(json({ channels: [CHANNEL] }));
    else socket.destroy();
  });
  return raw;
}

describe('paying an invoice', () => {
  test('is known with its attempt as soon as LND has it', async () => {
    lnd.on(SEND, () => streamed({ result: paymentOf(7) }));
    expect(await pay()).toMatchObject({
      state: 'known',
      attempt: attemptOf(7),
      payment: { index },
    });
  });

  test('is refused, and was not asked for, when the wallet cannot send so much', async () => {
    lnd.on('GET /v1/channels', { channels: [] });
    expect((await pay()).state).toBe('refused');
    lnd.on('GET /v1/channels', () => new Response('<html>', { status: 502 }));
    expect((await pay()).state).toBe('refused');
    expect(asked()).toBe(0);
  });

  const refusals: [string, () => Response][] = [
    ['an expired invoice', () => refusal(500, 2, 'invoice expired. Valid until 2020')],
    ['a payment to itself', () => refusal(500, 2, 'self-payments not allowed')],
    ['what the macaroon does not allow', () => refusal(500, 2, 'permission denied')],
    [
      'an expired invoice, inside an answer that began well',
      () => streamed({ error: { code: 2, message: 'invoice expired. Valid until 2020' } }),
    ],
  ];
  for (const [name, answer] of refusals) {
    test(`is refused when LND refuses ${name}`, async () => {
      lnd.on(SEND, answer);
      expect((await pay()).state).toBe('refused');
      expect(asked()).toBe(1);
    });
  }

  const unclear: [string, () => Response][] = [
    ["a proxy's page (502)", () => new Response('<html>', { status: 502 })],
    ["a proxy's page (504)", () => new Response('<html>', { status: 504 })],
    ["a proxy's page (200)", () => new Response('<html>')],
    ['an empty answer', () => new Response('')],
    ['half an item', () => new Response('{"result":')],
    ['an item of another form', () => streamed({ result: { status: 'PERHAPS' } })],
    ['unavailable', () => refusal(503, 14, 'transport is closing')],
    ['a deadline', () => refusal(504, 4, 'context deadline exceeded')],
    ['canceled', () => refusal(499, 1, 'context canceled')],
    ['an internal error', () => refusal(500, 13, 'internal server error')],
    ['words that are not known', () => refusal(500, 2, 'database is closed')],
    ['a redirect', () => Response.redirect('https://127.0.0.1:1/', 307)],
    [
      'an error inside an answer that began well',
      () => streamed({ error: { code: 14, message: 'transport is closing' } }),
    ],
  ];
  for (const [name, answer] of unclear) {
    test(`is unknown after ${name}, and asked for once`, async () => {
      lnd.on(SEND, answer);
      expect((await pay()).state).toBe('unknown');
      expect(asked()).toBe(1);
    });
  }

  test('is unknown when the connection is cut after the request', async () => {
    const raw = await startCutting();
    const report = await pay(entry({ url: raw.url, cert: CERT }));
    raw.stop();
    expect(raw.requests.at(-1)).toStartWith('POST /v2/router/send');
    expect(report.state).toBe('unknown');
  });

  describe('of a hash that LND is paying or has paid', () => {
    const met = (status: string, change: object = {}) => {
      lnd.on(SEND, () => refusal(409, 6, 'payment is in transition'));
      lnd.on(TRACK, () => streamed({ result: { ...paymentOf(3, status), ...change } }));
    };

    for (const status of ['IN_FLIGHT', 'SUCCEEDED', 'FAILED']) {
      test(`reports that attempt as taken, under the identity that the feed gives it (${status})`, async () => {
        met(status);
        const report = await pay();
        expect(report).toMatchObject({ state: 'taken', attempt: attemptOf(3) });
        const createdAtMs = Math.floor(attemptOf(3) / 1000);
        expect(report).toMatchObject({ payment: { hash: HASH, createdAtMs } });
        expect(asked()).toBe(1);
      });
    }

    test('reports it as its own where the request may have left before', async () => {
      met('IN_FLIGHT');
      expect(await pay(entry(), { isRepeat: true })).toMatchObject({
        state: 'known',
        attempt: attemptOf(3),
        payment: { index },
      });
      // No request of this payment asked for another amount.
      met('SUCCEEDED', { value_msat: '5001' });
      expect((await pay(entry(), { isRepeat: true })).state).toBe('taken');
    });

    test('reports it as its own where it is a keysend, whose hash only this wallet can pay', async () => {
      const { spontaneous } = await walletAt();
      if (!spontaneous) throw new Error('LND makes keysends');
      const preimage = '11'.repeat(32);
      const hash = paymentHashOf(preimage);
      lnd.on(SEND, () => refusal(500, 6, 'invoice is already paid'));
      lnd.on(TRACK, () => streamed({ result: { ...paymentOf(7), payment_hash: hash } }));
      const keysend = { ...command, preimage, nodePk: nodeKey(2).pk };
      const named = { ...keysend, index: paymentIndex(command.createdAtMs, paymentId('ln', hash)) };
      expect(await spontaneous.pay(named)).toMatchObject({
        state: 'known',
        payment: { index: named.index },
      });
      expect((await spontaneous.pay({ ...named, amountMsat: 6000n })).state).toBe('taken');
    });

    test('is unknown when that attempt cannot be read', async () => {
      met('IN_FLIGHT');
      lnd.on(TRACK, () => refusal(503, 14, 'transport is closing'));
      expect((await pay()).state).toBe('unknown');
    });
  });

  test('asks LND once for its hash while it is prepared', async () => {
    const wallet = await walletAt();
    lnd.on(TRACK, () => streamed({ result: paymentOf(4, 'FAILED') }));
    lnd.on('GET /v1/invoice/', () => refusal(404, 5, 'unable to locate invoice'));
    const id = paymentId('ln', HASH);
    const [newest, latest] = await Promise.all([
      wallet.newestAttempt(id),
      wallet.latestPayment(id),
    ]);
    expect([newest, latest?.attempt]).toEqual([attemptOf(4), attemptOf(4)]);
    const asked = () => lnd.requests.filter(({ path }) => path.startsWith('/v2/router/track'));
    expect(asked()).toHaveLength(1);
    await wallet.latestPayment(id);
    expect(asked()).toHaveLength(2);
  });

  test('is written once, also where its connection breaks, so that a refusal is of this very request', async () => {
    for (const isPrepared of [false, true]) {
      const raw = await startCutting();
      const wallet = await walletAt(entry({ url: raw.url, cert: CERT }));
      if (isPrepared) await wallet.newestAttempt(paymentId('ln', HASH)).catch(() => undefined);
      expect((await wallet.payInvoice(command)).state).toBe('unknown');
      raw.stop();
      const sent = raw.requests.filter((one) => one.startsWith('POST /v2/router/send'));
      expect(sent).toHaveLength(1);
    }
  });
});

describe('what became of a Lightning send', () => {
  const payment = {
    ...blankPayment({
      index,
      rail: 'invoice',
      direction: 'outbound',
      status: 'pending',
      statusMsg: 'pending',
      createdAtMs: 1_700_000_000_123,
      updatedAtMs: 1_700_000_000_123,
    }),
    hash: HASH,
    invoice: INVOICE,
    amountMsat: 5000n,
  } as const;
  const outcome = async (change: Partial<SendQuestion> = {}) =>
    (await walletAt()).sendOutcome(questionOf(payment, { afterAttempt: attemptOf(4), ...change }));
  const chainAt = (secs: number) =>
    lnd.on('GET /v1/getinfo', infoOf(node.pk, { best_header_timestamp: `${secs}` }));
  const listed = (...payments: object[]) =>
    lnd.on('GET /v1/payments', { payments, last_index_offset: '0' });
  beforeEach(() => {
    lnd.on(TRACK, () => refusal(404, 5, "payment isn't initiated"));
    listed();
    chainAt(EXPIRES_SECS + 601);
  });

  test('is known by an attempt after those that were there before', async () => {
    lnd.on(TRACK, () => streamed({ result: paymentOf(5, 'FAILED') }));
    const known = { state: 'known', attempt: attemptOf(5), payment: { index } };
    expect(await outcome()).toMatchObject(known);
    expect(await outcome({ afterAttempt: 0 })).toMatchObject(known);
    expect(await outcome({ attempt: attemptOf(5) })).toMatchObject(known);
  });

  test("is known by another attempt than the one from before, also where LND's clock was set back", async () => {
    lnd.on(TRACK, () => streamed({ result: { ...paymentOf(3), payment_index: '9' } }));
    expect(await outcome()).toMatchObject({ state: 'known', attempt: attemptOf(3) });
  });

  test('is not told by an earlier attempt', async () => {
    lnd.on(TRACK, () => streamed({ result: paymentOf(4, 'FAILED') }));
    listed(paymentOf(4, 'FAILED'));
    expect((await outcome()).state).toBe('never');
    chainAt(EXPIRES_SECS);
    expect((await outcome()).state).toBe('unknown');
  });

  test('is that another attempt took its hash, where LND has completed one that is not of this send', async () => {
    const taken = (nth: number) => ({
      state: 'taken',
      attempt: attemptOf(nth),
      payment: { hash: HASH, createdAtMs: Math.floor(attemptOf(nth) / 1000) },
    });
    lnd.on(TRACK, () => streamed({ result: paymentOf(4, 'SUCCEEDED') }));
    expect(await outcome()).toMatchObject(taken(4));
    // Of another amount, so that no request of this payment made it.
    const other = { value_msat: '5001' };
    lnd.on(TRACK, () => streamed({ result: { ...paymentOf(5, 'SUCCEEDED'), ...other } }));
    expect(await outcome()).toMatchObject(taken(5));
    chainAt(EXPIRES_SECS);
    for (const status of ['IN_FLIGHT', 'FAILED']) {
      lnd.on(TRACK, () => streamed({ result: { ...paymentOf(5, status), ...other } }));
      expect((await outcome()).state).toBe('unknown');
    }
  });

  test('is told by what version 0.2 stored, the payment_index, also after LND has numbered anew', async () => {
    const before = { afterAttempt: 4 };
    lnd.on(TRACK, () => streamed({ result: paymentOf(5) }));
    expect(await outcome(before)).toMatchObject({ state: 'known', attempt: attemptOf(5) });
    expect(await outcome({ attempt: 5 })).toMatchObject({ state: 'known' });
    const at = (ms: number) => ({ ...paymentOf(2), creation_time_ns: `${ms}000000` });
    lnd.on(TRACK, () => streamed({ result: at(payment.createdAtMs) }));
    expect(await outcome(before)).toMatchObject({ state: 'known' });
    lnd.on(TRACK, () => streamed({ result: at(payment.createdAtMs - 1) }));
    chainAt(EXPIRES_SECS);
    expect((await outcome(before)).state).toBe('unknown');
    for (const afterAttempt of [1, 4]) {
      const same = { ...at(payment.createdAtMs - 1), payment_index: `${afterAttempt}` };
      lnd.on(TRACK, () => streamed({ result: same }));
      expect((await outcome({ afterAttempt })).state).toBe('unknown');
    }
  });

  test('is not told by another attempt than the one that LND has named, also a later one', async () => {
    const named = { attempt: attemptOf(5), afterAttempt: attemptOf(4) };
    for (const nth of [4, 6]) {
      for (const status of ['IN_FLIGHT', 'FAILED']) {
        lnd.on(TRACK, () => streamed({ result: paymentOf(nth, status) }));
        expect(await outcome(named)).toEqual({ state: 'unknown' });
      }
      lnd.on(TRACK, () => streamed({ result: paymentOf(nth, 'SUCCEEDED') }));
      expect(await outcome(named)).toMatchObject({ state: 'taken', attempt: attemptOf(nth) });
    }
  });

  test("is 'never' only ten minutes after the invoice's expiry, by the chain that LND knows", async () => {
    chainAt(EXPIRES_SECS + 599);
    expect((await outcome()).state).toBe('unknown');
    chainAt(EXPIRES_SECS + 600);
    expect(await outcome()).toEqual({ state: 'never', reason: 'not sent' });
  });

  test('reads the whole list, after the clock, before it says so', async () => {
    lnd.on('GET /v1/payments', ({ path }) => {
      const page = Array.from({ length: 500 }, (_, at) => ({
        ...paymentOf(1 + at),
        payment_hash: 'ff'.repeat(32),
      }));
      const payments = path.endsWith('index_offset=0') ? page : [paymentOf(501)];
      return Response.json({ payments, last_index_offset: '0' });
    });
    expect(await outcome()).toMatchObject({ state: 'known', attempt: attemptOf(501) });
    const paths = lnd.requests.map(({ path }) => path);
    const list = paths.findIndex((path) => path.startsWith('/v1/payments'));
    expect(paths.lastIndexOf('/v1/getinfo')).toBeLessThan(list);
    expect(paths[list]).toContain('include_incomplete=true');
  });

  test('stays unknown for an attempt that LND has shown once, and for a keysend', async () => {
    expect((await outcome({ attempt: attemptOf(9) })).state).toBe('unknown');
    expect((await outcome({ payment: { ...payment, invoice: null } })).state).toBe('unknown');
  });

  test('is not said when LND cannot be read', async () => {
    lnd.on('GET /v1/payments', () => new Response('<html>', { status: 502 }));
    expect(await rejection(outcome())).toMatchObject({ kind: 'unreadable' });
  });
});

test('an answer that falls silent is given up, since its connection may have died without a sign', async () => {
  const set = globalThis.setTimeout;
  const silences: (() => void)[] = [];
  const noted = (work: () => void, ms?: number) => {
    if (ms === 60_000) silences.push(work);
    return set(work, ms);
  };
  using _ = spyOn(globalThis, 'setTimeout').mockImplementation(noted as typeof set);
  let isGivenUp = false;
  lnd.on(SEND, () => {
    const item = new TextEncoder().encode(`${JSON.stringify({ result: paymentOf(7) })}\n`);
    return new Response(
      new ReadableStream({
        start: (stream) => stream.enqueue(item),
        cancel: () => {
          isGivenUp = true;
        },
      }),
    );
  });
  expect((await pay()).state).toBe('known');
  for (const end of silences) end();
  await until(() => isGivenUp, 'the connection is closed');
});
