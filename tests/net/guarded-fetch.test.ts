import { afterAll, describe, expect, test } from 'bun:test';
import { ApiError, type ErrorName } from '../../src/model/errors.ts';
import { addressKind } from '../../src/net/address-policy.ts';
import { createGuardedFetch, type GuardOptions } from '../../src/net/guarded-fetch.ts';

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
  timeoutMs: 300,
});

async function refusal(
  url: string,
  kind: ErrorName,
  options: Partial<GuardOptions> = {},
): Promise<string> {
  const fetchJson = createGuardedFetch({
    allowPrivateNetwork: false,
    allowLoopback: false,
    timeoutMs: 300,
    ...options,
  });
  try {
    await fetchJson(url);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).kind).toBe(kind);
    return (error as ApiError).message;
  }
  throw new Error(`${url} was fetched`);
}

describe('what may be asked', () => {
  test('JSON over loopback http, where the sandbox allows it, without cookies or credentials', async () => {
    const answer = (await trusting(`${base}/json`)) as { headers: string[] };
    expect(answer).toMatchObject({ ok: true });
    expect(answer.headers).not.toContain('cookie');
    expect(answer.headers).not.toContain('authorization');
  });

  test('http elsewhere, other schemes, onion and user names are refused', async () => {
    expect(await refusal('http://example.com/', 'refused')).toMatch(/only https/);
    expect(await refusal(`${base}/json`, 'refused')).toMatch(/only https/);
    expect(await refusal('ftp://example.com/', 'refused')).toMatch(/only https/);
    expect(await refusal('file:///etc/passwd', 'refused')).toMatch(/only https/);
    expect(await refusal('http://abc.onion/', 'refused')).toMatch(/Tor/);
    expect(await refusal('https://user:pw@example.com/', 'refused')).toMatch(/user name/);
    expect(await refusal('nonsense', 'refused')).toMatch(/no URL/);
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
    '224.0.0.1',
    '255.255.255.255',
  ];
  for (const host of hidden) {
    test(`${host} is refused`, async () => {
      expect(await refusal(`https://${host}/`, 'refused')).toMatch(/public internet/);
    });
  }

  test('a name that resolves to a private address is refused, also when another of its addresses is public', async () => {
    for (const addresses of [['10.0.0.1'], ['1.1.1.1', '192.168.0.1']]) {
      const resolve = async () => addresses;
      expect(await refusal('https://shop.example/', 'refused', { resolve })).toMatch(
        /public internet/,
      );
      // Loopback may be asked by its own name only: a stranger's name that leads there is rebinding.
      expect(
        await refusal('https://shop.example/', 'refused', {
          resolve: async () => ['127.0.0.1'],
          allowLoopback: true,
        }),
      ).toMatch(/public internet/);
    }
  });

  test('the address that was checked is the one connected to: a second look-up cannot change it', async () => {
    let lookups = 0;
    const resolve = async () => {
      lookups++;
      return ['127.0.0.1'];
    };
    const fetchJson = createGuardedFetch({
      allowPrivateNetwork: true,
      allowLoopback: true,
      resolve,
    });
    // The name does not exist, so only a pinned connection can succeed.
    const answer = await fetchJson(`http://localhost:${server.port}/json`);
    expect(answer).toMatchObject({ ok: true, host: `localhost:${server.port}` });
    expect(lookups).toBe(1);
  });

  test('addresses are judged by kind', () => {
    expect(['1.1.1.1', '2606:4700::1111', '8.8.8.8'].map(addressKind)).toEqual([
      'public',
      'public',
      'public',
    ]);
    expect(['::1', '127.9.9.9'].map(addressKind)).toEqual(['loopback', 'loopback']);
    expect(['garbage', '2001:db8::1', 'fc00::', '::ffff:192.168.0.1'].map(addressKind)).toEqual([
      'private',
      'private',
      'private',
      'private',
    ]);
  });
});

describe('redirects', () => {
  test('are followed three times, each checked the same way', async () => {
    expect(await trusting(`${base}/redirect?to=/json`)).toMatchObject({ ok: true });
    const nested = (depth: number): string =>
      depth === 0 ? '/json' : `/redirect?to=${encodeURIComponent(nested(depth - 1))}`;
    expect(await trusting(`${base}${nested(3)}`)).toMatchObject({ ok: true });
    expect(await refusal(`${base}${nested(4)}`, 'refused', { allowLoopback: true })).toMatch(
      /too often/,
    );
    for (const to of ['https://10.0.0.1/', 'http://example.com/', 'file:///etc/passwd']) {
      await refusal(`${base}/redirect?to=${encodeURIComponent(to)}`, 'refused', {
        allowLoopback: true,
      });
    }
  });
});

describe('answers', () => {
  const loop = { allowLoopback: true };
  test('over 128 KiB, compressed or not JSON are unreadable', async () => {
    expect(await refusal(`${base}/big`, 'unreadable', loop)).toMatch(/128 KiB/);
    expect(await refusal(`${base}/gzip`, 'unreadable', loop)).toMatch(/compressed/);
    expect(await refusal(`${base}/text`, 'unreadable', loop)).toMatch(/not JSON/);
  });

  test('that come late or drip without end are timed out', async () => {
    expect(await refusal(`${base}/slow`, 'timeout', loop)).toMatch(/did not answer within/);
    await refusal(`${base}/drip`, 'timeout', loop);
  });

  test('of nobody are unreachable', async () => {
    await refusal('http://127.0.0.1:1/', 'unreachable', loop);
    await refusal('https://nowhere.example/', 'unreachable', { resolve: async () => [] });
  });
});
