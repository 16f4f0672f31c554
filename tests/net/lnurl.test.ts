import { describe, expect, test } from 'bun:test';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { encodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type ApiError, type ErrorName, isApiError, refused } from '../../src/model/errors.ts';
import { createLnurlClient, type LnurlPayRequest } from '../../src/net/lnurl.ts';
import { isServiceRefusal } from '../../src/net/service-error.ts';
import { rejection } from '../support/rejection.ts';
import luds from '../vectors/lnurl.json';

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
  const error = await rejection(work);
  expect((error as ApiError).kind).toBe(kind);
  return (error as ApiError).message;
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
    expect(await refusal(ask(invoice(2001n, METADATA)), 'serviceFailed')).toMatch(/another amount/);
    expect(await refusal(ask(invoice(2000n, `${METADATA} `)), 'serviceFailed')).toMatch(
      /does not commit/,
    );
    await refusal(ask('lnbc1'), 'serviceFailed');
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
      await refusal(
        ask({ tag: 'url', description: 'x', url: 'https://evil.example/' }),
        'serviceFailed',
      ),
    ).toMatch(/another domain/);
    expect(await refusal(ask({ tag: 'run', code: 1 }), 'serviceFailed')).toMatch(/does not know/);
    expect(
      await refusal(ask({ tag: 'message', message: 'x'.repeat(145) }), 'serviceFailed'),
    ).toMatch(/does not know/);
  });

  const lud = (id: string) => luds.luds.find((vector) => vector.id === id);

  test.each(['lud09-message', 'lud09-url'])('the action that %s shows is known', async (id) => {
    const { success_action: successAction } = lud(id) ?? {};
    const callback = 'https://www.ln-service.com/cb';
    const wallet = client({
      '/': { ...TERMS, callback },
      '/cb': { pr: invoice(2000n, METADATA), successAction },
    });
    const request = (await wallet.discover('https://www.ln-service.com/')) as LnurlPayRequest;
    expect(
      await wallet.requestInvoice(request, { amountMsat: 2000n, comment: null }),
    ).toMatchObject({ invoice: { amountMsat: 2000n } });
    expect(successAction).toBeDefined();
  });

  test('a service that must know something of the payer cannot be paid (LUD-18)', async () => {
    const ask = (payerData: unknown) =>
      client({ '*': { ...TERMS, payerData } }).discover('https://shop.example/');
    for (const payerData of [
      { name: { mandatory: true } },
      { name: { mandatory: false }, auth: { mandatory: true, k1: '00' } },
      { shoeSize: { mandatory: true } },
    ]) {
      expect(await refusal(ask(payerData), 'refused')).toMatch(/about the payer/);
    }
    for (const payerData of [null, {}, [], 'x', { name: { mandatory: false }, email: {}, x: 1 }]) {
      expect(await ask(payerData)).toMatchObject({ tag: 'payRequest' });
    }
  });

  test('no payer data is sent, so an invoice that commits to some is not paid (LUD-18)', async () => {
    const { metadata = '', hashed_text = '' } = lud('lud18-description-hash-input') ?? {};
    const ask = async (committed: string) => {
      const wallet = client({
        '/': { ...TERMS, metadata },
        '/cb': { pr: invoice(2000n, committed) },
      });
      const request = (await wallet.discover('https://shop.example/')) as LnurlPayRequest;
      expect(request.description).toBe('description');
      return wallet.requestInvoice(request, { amountMsat: 2000n, comment: null });
    };
    expect(await ask(metadata)).toMatchObject({ sentComment: null });
    expect(await refusal(ask(hashed_text), 'serviceFailed')).toMatch(/does not commit/);
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
    test(`${what}: error 113`, async () => {
      await refusal(
        client({ '*': { ...TERMS, ...change } }).discover('https://x.example'),
        'serviceFailed',
      );
    });
  }
});

describe('a refusal of the service (status ERROR)', () => {
  const refusing = (reason: unknown) =>
    rejection(client({ '*': { status: 'ERROR', reason } }).discover('https://x.example'));

  test('is error 113, told apart from every other failure of a service', async () => {
    const error = await refusing('voucher is used up');
    expect((error as ApiError).body()).toMatchObject({
      code: 113,
      msg: 'The service answered: voucher is used up',
      data: { problem: 'refused', reason: 'voucher is used up' },
    });
    expect(isServiceRefusal(error)).toBe(true);
    for (const reply of [{}, null, { status: 'OK' }, { status: 'error' }, [{ status: 'ERROR' }]]) {
      const other = await rejection(client({ '*': reply }).discover('https://x.example'));
      expect(isApiError(other, 'serviceFailed')).toBe(true);
      expect(isServiceRefusal(other)).toBe(false);
    }
    expect(isServiceRefusal(refused('The node refused.'))).toBe(false);
  });

  test('shows at most 200 printable characters of its reason', async () => {
    const reason = `bad\u001b[31m\n\u202egnp.exe\ud800${'x'.repeat(500)}`;
    const { data } = (await refusing(reason)) as ApiError;
    const shown = (data as { reason: string }).reason;
    expect(shown).toStartWith('bad [31m gnp.exe xxx');
    expect(shown).not.toMatch(/\p{C}/u);
    expect([...shown].length).toBe(200);
  });

  test('may have a reason of any shape, or none', async () => {
    const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    for (const reason of [undefined, null, 7, {}, { toString: 1, valueOf: 1 }, deep, '', '\n']) {
      const error = await refusing(reason);
      expect(isServiceRefusal(error)).toBe(true);
      expect((error as ApiError).message).toBe('The service refused without a reason.');
    }
  });
});

test('an LNURL for logging in or opening a channel is refused (106); an unknown kind is error 113', async () => {
  for (const tag of ['login', 'channelRequest', 'hostedChannelRequest']) {
    expect(
      await refusal(client({ '*': { tag } }).discover('https://x.example'), 'refused'),
    ).toMatch(/neither/);
  }
  for (const reply of [{ tag: 'x' }, { tag: '' }, { tag: '\ud800' }, { tag: ['payRequest'] }, []]) {
    await refusal(client({ '*': reply }).discover('https://x.example'), 'serviceFailed');
  }
});
