import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type ConformanceWorld, openConformanceWorld } from '../conformance/world.ts';
import { metricsReader } from '../support/metrics-reader.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { rawExchange } from './raw-exchange.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
let host: string;
beforeAll(async () => {
  world = await openConformanceWorld();
  host = `Host: 127.0.0.1:${world.port}\r\n`;
}, 30_000);
afterAll(() => world.close());

const KIB = 1024;
const send = (bytes: string) => rawExchange(world.port, bytes);
const rejected = (body: string) => expect(JSON.parse(body)).toMatchObject({ code: 7 });

describe('HEAD', () => {
  test('of the stream is 405 with Allow, and a thousand of them hold no feed', async () => {
    const metrics = metricsReader(() => world.baseUrl);
    const feeds = async () =>
      [...(await metrics.series('wallet_sidecar_open_feeds')).values()].reduce((a, b) => a + b, 0);
    const before = await feeds();
    const url = `${world.baseUrl}/v2/node/events`;
    for (let i = 0; i < 1000; i++) {
      const response = await fetch(url, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${world.bob}` },
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('GET');
    }
    await until(async () => (await feeds()) === before);
  }, 60_000);

  test('of any other path has the status and the headers of GET and no body', async () => {
    for (const path of ['/v2/health', '/v2/node/node_info', '/v2/openapi.json', '/v2/nothing']) {
      const get = await fetch(`${world.baseUrl}${path}`);
      const head = await fetch(`${world.baseUrl}${path}`, { method: 'HEAD' });
      expect([path, head.status]).toEqual([path, get.status]);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(await head.text()).toBe('');
    }
  });
});

describe('a request line and its headers', () => {
  const get = (target: string, headers: string) =>
    send(`GET ${target} HTTP/1.1\r\n${host}${headers}\r\n`);

  test('of 60 KiB are read', async () => {
    expect((await get(`/v2/health?x=${'a'.repeat(60 * KIB)}`, '')).status).toBe(200);
    expect((await get('/v2/health', `X-Long: ${'a'.repeat(60 * KIB)}\r\n`)).status).toBe(200);
    const many = Array.from({ length: 60 }, (_, i) => `X-${i}: ${'a'.repeat(KIB)}\r\n`).join('');
    expect((await get('/v2/health', many)).status).toBe(200);
  });

  test('of 64 KiB and a byte are error 7: 414 for the line, 431 for all', async () => {
    const line = await get(`/v2/health?x=${'a'.repeat(64 * KIB)}`, '');
    expect(line.status).toBe(414);
    rejected(line.body);
    const fixed = `GET /v2/health HTTP/1.1\r\n${host}X-Long: \r\n\r\n`.length;
    const fits = 64 * KIB - fixed;
    expect((await get('/v2/health', `X-Long: ${'a'.repeat(fits)}\r\n`)).status).toBe(200);
    const all = await get('/v2/health', `X-Long: ${'a'.repeat(fits + 1)}\r\n`);
    expect(all.status).toBe(431);
    rejected(all.body);
    const many = Array.from({ length: 120 }, (_, i) => `X-${i}: ${'a'.repeat(KIB)}\r\n`).join('');
    const split = await get('/v2/health', many);
    expect(split.status).toBe(431);
    rejected(split.body);
  });

  test('beyond 128 KiB are 431 of the runtime, and the next request is served', async () => {
    const answer = await get('/v2/health', `X-Long: ${'a'.repeat(200 * KIB)}\r\n`);
    expect(answer.status).toBe(431);
    expect((await get('/v2/health', '')).status).toBe(200);
  });
});

describe('a body', () => {
  const post = (headers: string, body: string) =>
    send(
      `POST /v2/node/create_invoice HTTP/1.1\r\n${host}Content-Type: application/json\r\n${headers}\r\n${body}`,
    );
  const large = 'a'.repeat(300 * KIB);

  test('beyond 256 KiB is error 7 with status 413, by its length or by its chunks', async () => {
    const byLength = await post(`Content-Length: ${large.length}\r\n`, large);
    expect(byLength.status).toBe(413);
    rejected(byLength.body);
    const chunks = `${large.length.toString(16)}\r\n${large}\r\n0\r\n\r\n`;
    const chunked = await post('Transfer-Encoding: chunked\r\n', chunks);
    expect(chunked.status).toBe(413);
    rejected(chunked.body);
  });

  test('announced beyond all bounds is error 7 before it is sent', async () => {
    for (const length of [200 * KIB * KIB, 2 ** 40]) {
      const answer = await post(`Content-Length: ${length}\r\n`, 'a');
      expect([length, answer.status]).toEqual([length, 413]);
      rejected(answer.body);
    }
  });

  test('of a GET is not read', async () => {
    const answer = await send(`GET /v2/health HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\n{"a":`);
    expect(answer.status).toBe(200);
  });
});

describe('a request that is not HTTP is turned away, and the next one is served', () => {
  const post = (headers: string, body: string) =>
    `POST /v2/node/create_invoice HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`;
  for (const [what, bytes] of [
    ['bad chunks', post('Transfer-Encoding: chunked\r\n', 'zz\r\n')],
    ['no Host', 'GET /v2/health HTTP/1.1\r\n\r\n'],
    ['two lengths', post('Content-Length: 3\r\nContent-Length: 4\r\n', 'abcd')],
    [
      'a length and chunks',
      post('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
    ],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a space in a name', 'GET / HTTP/1.1\r\nHost: x\r\nX y: a\r\n\r\n'],
    ['another version', 'GET / HTTP/1.2\r\nHost: x\r\n\r\n'],
    ['HTTP/1.0 without Host', 'GET /v2/health HTTP/1.0\r\n\r\n'],
    ['a target that is no path', 'GET http://[ HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['CONNECT', 'CONNECT example.org:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ] as const) {
    test(what, async () => {
      const { status } = await send(bytes);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(600);
      expect(status).not.toBe(500);
      expect((await fetch(`${world.baseUrl}/v2/health`)).status).toBe(200);
    });
  }
});

describe('what the runtime answers, without the body of errors (docs/api.md, Answers of the runtime)', () => {
  const chunks = '2\r\n{}\r\n0\r\n';
  const post = (headers: string, body: string) =>
    `POST /v2/node/create_invoice HTTP/1.1\r\n${host}Content-Type: application/json\r\n${headers}\r\n${body}`;

  test('a method that it does not know ends the connection without an answer', async () => {
    for (const method of ['FOO', 'get']) {
      const { status, body } = await send(`${method} /v2/health HTTP/1.1\r\n${host}\r\n`);
      expect([method, status, body]).toEqual([method, 0, '']);
    }
  });

  test('OPTIONS *, and a length beside chunks in any order, are 400', async () => {
    for (const bytes of [
      `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
      post('Content-Length: 12\r\nTransfer-Encoding: chunked\r\n', `${chunks}\r\n`),
      post('Transfer-Encoding: chunked\r\nContent-Length: 12\r\n', `${chunks}\r\n`),
      post('Transfer-Encoding: gzip\r\n', `${chunks}\r\n`),
    ]) {
      const { status, body } = await send(bytes);
      expect([status, body]).toEqual([400, '']);
    }
  });

  test('a method that it knows and a path does not have is answered with the body', async () => {
    for (const [method, path, status] of [
      ['OPTIONS', '/v2/node/pay', 405],
      ['TRACE', '/v2/node/pay', 405],
      ['PROPFIND', '/v2/health', 405],
      ['DELETE', '/nowhere', 404],
    ] as const) {
      const answer = await send(`${method} ${path} HTTP/1.1\r\n${host}\r\n`);
      expect([method, answer.status]).toEqual([method, status]);
      expect(JSON.parse(answer.body)).toMatchObject({ code: status === 405 ? 7 : 107 });
    }
  });

  test('a chunked body with a trailer that was announced makes nothing, and no trailer is served as a request', async () => {
    const noted = async (note: string) => {
      const { payments } = await world.get('/v2/node/updated_payments', { limit: '100' });
      return payments.filter((one: { personal_note: string }) => one.personal_note === note).length;
    };
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n`;
    const body = chunk('{"personal_note":"announced"}');
    const announced = 'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n';
    expect((await send(post(announced, `${body}X-Sum: 1\r\n\r\n`))).status).toBe(400);
    const inner = '{"personal_note":"hidden"}';
    const hidden = `POST /v2/node/create_invoice HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`;
    await send(post('Transfer-Encoding: chunked\r\n', `${chunk('{}')}${hidden}`));
    await world.get('/v2/node/node_info');
    expect([await noted('announced'), await noted('hidden')]).toEqual([0, 0]);
  });
});
