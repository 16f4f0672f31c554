import { describe, expect, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import type { ApiError, ErrorName } from '../../src/model/errors.ts';
import { createNameResolver } from '../../src/net/bip353.ts';
import { createTxtResolver } from '../../src/net/dns-over-https.ts';
import { createLnurlClient, type LnurlPayRequest } from '../../src/net/lnurl.ts';

const METADATA = JSON.stringify([
  ['text/plain', 'Shop'],
  ['text/long-desc', 'A long story'],
  ['image/png;base64', 'AAAA'],
]);
const TERMS = {
  tag: 'payRequest',
  callback: 'https://shop.example/cb?x=1',
  minSendable: 1000,
  maxSendable: 5000,
  metadata: METADATA,
  commentAllowed: 3,
};

const client = (answers: Record<string, unknown>, asked: string[] = []) =>
  createLnurlClient(async (url) => {
    asked.push(url);
    return answers[new URL(url).pathname] ?? answers['*'];
  });

async function refusal(work: Promise<unknown>, kind: ErrorName): Promise<string> {
  try {
    await work;
  } catch (error) {
    expect((error as ApiError).kind).toBe(kind);
    return (error as ApiError).message;
  }
  throw new Error('it was taken');
}

function invoice(amountMsat: bigint, metadata: string): string {
  return encodeBolt11(
    {
      network: 'regtest',
      amountMsat,
      timestampSecs: 1,
      paymentSecret: '11'.repeat(32),
      paymentHash: '22'.repeat(32),
      descriptionHash: bytesToHex(sha256(utf8ToBytes(metadata))),
      features: [8, 14],
    },
    new Uint8Array(32).fill(1),
  );
}

describe('LNURL-pay', () => {
  const request = () =>
    client({ '*': TERMS }).discover('https://shop.example/') as Promise<LnurlPayRequest>;

  test('terms are read, the long description with them (LUD-06, LUD-20)', async () => {
    expect(await request()).toMatchObject({
      tag: 'payRequest',
      minSendableMsat: 1000n,
      maxSendableMsat: 5000n,
      description: 'Shop',
      longDescription: 'A long story',
      commentAllowed: 3,
    });
  });

  test('the amount and a comment cut to length are added to the callback (LUD-12)', async () => {
    const asked: string[] = [];
    const answer = await client({ '/cb': { pr: invoice(2000n, METADATA) } }, asked).requestInvoice(
      await request(),
      { amountMsat: 2000n, comment: '😀abcd' },
    );
    expect(answer.sentComment).toBe('😀ab');
    expect(asked).toEqual([
      `https://shop.example/cb?x=1&amount=2000&comment=${encodeURIComponent('😀ab')}`,
    ]);
  });

  test('an invoice of another amount or for other terms is not paid', async () => {
    const ask = async (pr: string) =>
      client({ '/cb': { pr } }).requestInvoice(await request(), {
        amountMsat: 2000n,
        comment: null,
      });
    expect(await refusal(ask(invoice(2001n, METADATA)), 'refused')).toMatch(/another amount/);
    expect(await refusal(ask(invoice(2000n, `${METADATA} `)), 'refused')).toMatch(
      /does not commit/,
    );
    await refusal(ask('lnbc1'), 'unreadable');
  });

  test('actions after payment: message, url on the callback domain and aes are known, all others mean do not pay (LUD-09, LUD-10)', async () => {
    const ask = async (successAction: unknown) =>
      client({ '/cb': { pr: invoice(2000n, METADATA), successAction } }).requestInvoice(
        await request(),
        { amountMsat: 2000n, comment: null },
      );
    await ask(null);
    await ask({ tag: 'message', message: 'Thanks' });
    await ask({ tag: 'url', description: 'x', url: 'https://shop.example/order' });
    await ask({ tag: 'aes', description: 'x', ciphertext: 'AA==', iv: 'AA==' });
    expect(
      await refusal(ask({ tag: 'url', description: 'x', url: 'https://evil.example/' }), 'refused'),
    ).toMatch(/another domain/);
    expect(await refusal(ask({ tag: 'run', code: 1 }), 'refused')).toMatch(/does not know/);
    expect(await refusal(ask({ tag: 'message', message: 'x'.repeat(145) }), 'refused')).toMatch(
      /does not know/,
    );
  });

  const bad: readonly (readonly [string, object])[] = [
    ['crossed limits', { minSendable: 6000 }],
    ['a minimum of zero', { minSendable: 0 }],
    ['decimals', { minSendable: 1.5 }],
    ['text for numbers', { minSendable: '1000' }],
    ['no text/plain', { metadata: '[]' }],
    ['two text/plain', { metadata: '[["text/plain","a"],["text/plain","b"]]' }],
    ['metadata that is no JSON', { metadata: 'x' }],
    ['a callback that is no URL', { callback: 'x' }],
  ];
  for (const [what, change] of bad) {
    test(`${what}: unreadable`, async () => {
      await refusal(
        client({ '*': { ...TERMS, ...change } }).discover('https://x.example'),
        'unreadable',
      );
    });
  }
});

test('errors of a service are shown short and without control characters', async () => {
  const reason = `bad\u001b[31m\n${'x'.repeat(500)}`;
  const message = await refusal(
    client({ '*': { status: 'ERROR', reason } }).discover('https://x.example'),
    'refused',
  );
  expect(message).not.toMatch(/\p{C}/u);
  expect(message.length).toBeLessThan(250);
});

test('an LNURL for anything else is refused', async () => {
  expect(
    await refusal(client({ '*': { tag: 'login' } }).discover('https://x.example'), 'refused'),
  ).toMatch(/neither/);
  await refusal(client({ '*': [] }).discover('https://x.example'), 'unreadable');
});

describe('names', () => {
  const dns = (answer: unknown) =>
    createNameResolver({
      resolveTxt: createTxtResolver({
        url: 'https://dns.example/dns-query',
        fetch: Object.assign(async () => Response.json(answer), { preconnect: () => undefined }),
      }),
      localZone: () => null,
    })({ username: 'matt', domain: 'example.com' });
  const txt = (...data: string[]) => ({
    Status: 0,
    AD: true,
    Answer: data.map((one) => ({ type: 16, data: one })),
  });

  test('one validated record is the URI; its strings are joined', async () => {
    expect(await dns(txt('"bitcoin:?lno=abc" "def"'))).toBe('bitcoin:?lno=abcdef');
    expect(await dns(txt('"unrelated"', '"BITCOIN:?lno=x"'))).toBe('BITCOIN:?lno=x');
  });

  test('an answer without DNSSEC validation, several records, none, and failures are refused', async () => {
    expect(await refusal(dns({ ...txt('"bitcoin:?lno=x"'), AD: false }), 'refused')).toMatch(
      /DNSSEC/,
    );
    expect(await refusal(dns(txt('"bitcoin:?lno=x"', '"bitcoin:?lno=y"')), 'refused')).toMatch(
      /several/,
    );
    expect(await refusal(dns(txt('"other"')), 'notFound')).toMatch(/no payment record/);
    expect(await refusal(dns({ Status: 3, AD: true }), 'notFound')).toMatch(/no payment record/);
    await refusal(dns({ Status: 2, AD: false }), 'unreadable');
    await refusal(dns({ hello: 1 }), 'unreadable');
  });

  test('names of this sidecar itself are answered without asking anybody', async () => {
    const resolve = createNameResolver({
      resolveTxt: async () => Promise.reject(new Error('asked')),
      localZone: (name) =>
        name === 'me.user._bitcoin-payment.127.0.0.1:1' ? 'bitcoin:?lno=z' : null,
    });
    expect(await resolve({ username: 'me', domain: '127.0.0.1:1' })).toBe('bitcoin:?lno=z');
  });
});
