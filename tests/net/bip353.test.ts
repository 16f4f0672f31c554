import { describe, expect, test } from 'bun:test';
import { decodeHumanBitcoinAddress } from '../../src/codecs/human-bitcoin-address.ts';
import { ApiError } from '../../src/model/errors.ts';
import { createNameResolver } from '../../src/net/bip353.ts';
import { rejection } from '../support/rejection.ts';

type Found = readonly (string | Uint8Array)[] | null;

/** Resolves a name that has these TXT records. */
function ask(texts: Found, asked: string[] = []): Promise<string> {
  const resolveName = createNameResolver({
    resolveTxt: async (name) => {
      asked.push(name);
      return texts?.map((text) => Buffer.from(text as string)) ?? null;
    },
    localZone: async () => null,
  });
  return resolveName(decodeHumanBitcoinAddress('matt@example.com'));
}

async function expectError(work: Promise<unknown>, body: object): Promise<void> {
  const error = await rejection(work);
  if (!(error instanceof ApiError)) throw error;
  expect(error.body()).toMatchObject(body);
}

describe('Human Bitcoin Addresses (BIP 353)', () => {
  test('resolve to the one record that begins with bitcoin:, in any case; other records are ignored', async () => {
    const asked: string[] = [];
    expect(await ask(['bitcoin:?lno=abc'], asked)).toBe('bitcoin:?lno=abc');
    expect(asked).toEqual(['matt.user._bitcoin-payment.example.com']);
    const noText = Buffer.from([0xff, 0xfe]);
    const others = ['unrelated', ' bitcoin:x', 'bitcoin', noText];
    expect(await ask([...others, 'BITCOIN:?lno=x'])).toBe('BITCOIN:?lno=x');
    expect(await ask(['bitcoin:?label=₿'])).toBe('bitcoin:?label=₿');
  });

  test('with more than one such record are error 113, also when they are the same or no text', async () => {
    const several = { code: 113, msg: expect.stringMatching(/several/) };
    await expectError(ask(['bitcoin:?lno=x', 'bitcoin:?lno=y']), several);
    await expectError(ask(['bitcoin:?lno=x', 'BITCOIN:?lno=x']), several);
    await expectError(ask(['bitcoin:?lno=x', Buffer.from('bitcoin:\xff', 'latin1')]), several);
  });

  test('whose record is no text are error 113', async () => {
    const problem = { code: 113, data: { problem: 'unusable_answer' } };
    await expectError(ask([Buffer.from('bitcoin:\xff', 'latin1')]), problem);
  });

  test('without a record are not found (107)', async () => {
    for (const texts of [['other'], [], null]) await expectError(ask(texts), { code: 107 });
  });

  test('of this sidecar itself are resolved without a request, and hosts with a port never cause one', async () => {
    const resolveName = createNameResolver({
      resolveTxt: async () => Promise.reject(new Error('asked')),
      localZone: async (dnsName) =>
        dnsName === 'me.user._bitcoin-payment.127.0.0.1:1' ? 'bitcoin:?lno=z' : null,
    });
    expect(await resolveName(decodeHumanBitcoinAddress('me@127.0.0.1:1'))).toBe('bitcoin:?lno=z');
    for (const domain of ['127.0.0.1:2', 'example.com:443', '[::1]']) {
      await expectError(resolveName(decodeHumanBitcoinAddress(`me@${domain}`)), { code: 107 });
    }
  });
});
