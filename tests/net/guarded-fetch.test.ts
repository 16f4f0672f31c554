import { afterAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { ApiError } from '../../src/model/errors.ts';
import { addressKind } from '../../src/net/address-policy.ts';
import { createGuardedFetch, type GuardOptions } from '../../src/net/guarded-fetch.ts';
import type { ServiceProblem } from '../../src/net/service-error.ts';
import { openOutsideService, TEST_CERTIFICATE } from '../support/outside-service.ts';
import { rejection } from '../support/rejection.ts';

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const url = new URL(request.url);
    switch (url.pathname) {
      case '/json':
        return Response.json({
          ok: true,
          host: request.headers.get('host'),
          headers: [...request.headers.keys()],
        });
      case '/text':
        return new Response('hello');
      case '/big':
        return new Response(`"${'x'.repeat(200_000)}"`);
      case '/slow':
        await Bun.sleep(2_000);
        return Response.json({});
      case '/drip':
        return new Response(
          new ReadableStream({
            async pull(controller) {
              controller.enqueue(new TextEncoder().encode(' '));
              await Bun.sleep(50);
            },
          }),
        );
      case '/latin1':
        return new Response(Uint8Array.of(0x22, 0xe9, 0x22));
      case '/bom':
        return new Response('\ufeff{"ok":true}');
      case '/gzip':
        return new Response(Bun.gzipSync('{}'), { headers: { 'content-encoding': 'gzip' } });
      case '/redirect':
        return new Response(null, {
          status: 302,
          headers: { location: url.searchParams.get('to') ?? '/json' },
        });
      default:
        return new Response('{}', { status: 404 });
    }
  },
});
afterAll(() => server.stop(true));

const base = `http://127.0.0.1:${server.port}`;
const trusting = createGuardedFetch({
  allowPrivateNetwork: false,
  allowLoopback: true,
  timeoutMs: 30_000,
});

async function refusal(
  url: string,
  problem: ServiceProblem,
  options: Partial<GuardOptions> = {},
): Promise<string> {
  const fetchJson = createGuardedFetch({
    allowPrivateNetwork: false,
    allowLoopback: false,
    timeoutMs: 30_000,
    ...options,
  });
  const error = await rejection(fetchJson(url));
  expect(error).toBeInstanceOf(ApiError);
  const { message } = error as ApiError;
  expect((error as ApiError).body()).toEqual({
    code: 113,
    msg: message,
    data: { problem },
    sensitive: false,
  });
  return message;
}

describe('what may be asked', () => {
  test('JSON over loopback http, where the sandbox allows it, without cookies or credentials', async () => {
    const answer = (await trusting(`${base}/json`)) as { headers: string[] };
    expect(answer).toMatchObject({ ok: true });
    expect(answer.headers).not.toContain('cookie');
    expect(answer.headers).not.toContain('authorization');
  });

  test('http elsewhere, other schemes, onion and user names are never asked', async () => {
    expect(await refusal('http://example.com/', 'not_allowed')).toMatch(/only https/);
    expect(await refusal(`${base}/json`, 'not_allowed')).toMatch(/only https/);
    expect(await refusal('ftp://example.com/', 'not_allowed')).toMatch(/only https/);
    expect(await refusal('file:///etc/passwd', 'not_allowed')).toMatch(/only https/);
    expect(await refusal('http://abc.onion/', 'not_allowed')).toMatch(/Tor/);
    expect(await refusal('https://user:pw@example.com/', 'not_allowed')).toMatch(/user name/);
    expect(await refusal('nonsense', 'not_allowed')).toMatch(/not a URL/);
  });
});

describe('private places', () => {
  const hidden = [
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:10.0.0.1]',
    '[fd00::1]',
    '[fe80::1]',
    '[::]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '2130706433',
    '0x7f.1',
    '017700000001',
    '127.1',
    '0177.0.0.1',
    '0x7f000001',
    '3232235777',
    '①②⑦.⓪.⓪.①',
    '127。0。0。1',
    '0.1.2.3',
    '100.127.255.255',
    '192.0.0.8',
    '198.18.0.1',
    '198.19.255.255',
    '240.0.0.1',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::1]',
    '[2001::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[100::1]',
    '224.0.0.1',
    '255.255.255.255',
  ];
  for (const host of hidden) {
    test(`${host} is refused`, async () => {
      expect(await refusal(`https://${host}/`, 'not_allowed')).toMatch(/public internet/);
    });
  }

  test('a name that resolves to a private address is refused, also when another of its addresses is public', async () => {
    for (const addresses of [['10.0.0.1'], ['1.1.1.1', '192.168.0.1']]) {
      const resolve = async () => addresses;
      expect(await refusal('https://shop.example/', 'not_allowed', { resolve })).toMatch(
        /public internet/,
      );
      // Loopback may be requested by its own name only. Another name that leads there is DNS rebinding.
      expect(
        await refusal('https://shop.example/', 'not_allowed', {
          resolve: async () => ['127.0.0.1'],
          allowLoopback: true,
        }),
      ).toMatch(/public internet/);
    }
  });

  test('the address that was checked is the one connected to: the name is looked up once, and a connection cannot look it up again', async () => {
    const outside = openOutsideService((request) =>
      Response.json({ host: request.headers.get('host') }),
    );
    // The system cannot resolve this name, so the connection must be to the checked address.
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    let lookups = 0;
    const fetchJson = createGuardedFetch({
      allowPrivateNetwork: true,
      allowLoopback: false,
      ca: TEST_CERTIFICATE,
      resolve: async () => answers[lookups++] ?? [],
    });
    expect(await fetchJson(`${outside.origin}/`)).toEqual({ host: `shop.example:${outside.port}` });
    expect(lookups).toBe(1);
    await outside.close();
  });

  test('the certificate must be trusted and fit the name, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    const outside = openOutsideService(() => Response.json({}));
    const options = { allowPrivateNetwork: true, resolve: async () => ['127.0.0.1'] };
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      await refusal(`${outside.origin}/`, 'unreachable', { ...options });
      const elsewhere = outside.origin.replace('shop', 'bank');
      await refusal(elsewhere, 'unreachable', {
        ...options,
        ca: TEST_CERTIFICATE,
      });
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
      await outside.close();
    }
  }, 60_000);

  test('addresses are judged by kind', () => {
    expect(['1.1.1.1', '2606:4700::1111', '8.8.8.8'].map(addressKind)).toEqual([
      'public',
      'public',
      'public',
    ]);
    expect(['::1', '127.9.9.9'].map(addressKind)).toEqual(['loopback', 'loopback']);
    const hiddenOnes = [
      'garbage',
      '2001:db8::1',
      'fc00::',
      '::ffff:192.168.0.1',
      '0:0:0:0:0:ffff:0a00:0001',
      '64:ff9b::7f00:1',
      '2606:4700::1111%eth0',
      'fe80::1%1',
    ];
    expect(hiddenOnes.filter((address) => addressKind(address) !== 'private')).toEqual([]);
    // The last address before each range and the first one after it are public.
    const publicOnes = [
      '100.63.255.255',
      '100.128.0.0',
      '172.15.255.255',
      '172.32.0.0',
      '198.17.255.255',
      '198.20.0.0',
      '223.255.255.255',
      '2001:200::',
    ];
    expect(publicOnes.filter((address) => addressKind(address) !== 'public')).toEqual([]);
  });
});

describe('redirects', () => {
  test('are followed three times, each checked the same way', async () => {
    expect(await trusting(`${base}/redirect?to=/json`)).toMatchObject({ ok: true });
    const nested = (depth: number): string =>
      depth === 0 ? '/json' : `/redirect?to=${encodeURIComponent(nested(depth - 1))}`;
    expect(await trusting(`${base}${nested(3)}`)).toMatchObject({ ok: true });
    expect(
      await refusal(`${base}${nested(4)}`, 'unusable_answer', { allowLoopback: true }),
    ).toMatch(/too often/);
    for (const [to, why] of [
      ['https://10.0.0.1/', /public internet/],
      ['https://user@example.com/', /user name/],
      ['http://example.com/', /only https/],
      ['file:///etc/passwd', /only https/],
      ['gopher://127.0.0.1:70/', /only https/],
      ['http://[', /not a URL/],
    ] as const) {
      const url = `${base}/redirect?to=${encodeURIComponent(to)}`;
      expect(await refusal(url, 'unusable_answer', { allowLoopback: true })).toMatch(why);
    }
  });
});

describe('answers', () => {
  const loop = { allowLoopback: true };
  test('over 128 KiB, compressed or not JSON cannot be used', async () => {
    expect(await refusal(`${base}/big`, 'unusable_answer', loop)).toMatch(/128 KiB/);
    expect(await refusal(`${base}/gzip`, 'unusable_answer', loop)).toMatch(/compressed/);
    expect(await refusal(`${base}/text`, 'unusable_answer', loop)).toMatch(/not JSON/);
  });

  test('of invalid UTF-8 cannot be used; a byte order mark is skipped', async () => {
    expect(await refusal(`${base}/latin1`, 'unusable_answer', loop)).toMatch(/not JSON/);
    expect(await trusting(`${base}/bom`)).toEqual({ ok: true });
  });

  test('whose headers never end are given up', async () => {
    const endless = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.write('HTTP/1.1 200 OK\r\n');
      const write = () => {
        if (!socket.destroyed) socket.write(`x-more: ${'x'.repeat(1000)}\r\n`, write);
      };
      write();
    }).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const { port } = endless.address() as AddressInfo;
    await refusal(`http://127.0.0.1:${port}/`, 'unreachable', loop);
    endless.close();
  }, 60_000);

  test('that come late or drip without end are timed out', async () => {
    expect(await refusal(`${base}/slow`, 'timed_out', { ...loop, timeoutMs: 300 })).toMatch(
      /did not answer within/,
    );
    await refusal(`${base}/drip`, 'timed_out', { ...loop, timeoutMs: 300 });
  });

  test('that never come, since no server listens or the name has no address, are error 113', async () => {
    await refusal('http://127.0.0.1:1/', 'unreachable', loop);
    await refusal('https://nowhere.example/', 'unreachable', { resolve: async () => [] });
  });
});
