import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { createInvoice } from '../../../../src/nodes/sandbox/lightning/invoices.ts';
import {
  createLnurlService,
  type LnurlService,
  lightningAddressAnswer,
  lnurlAnswer,
  lnurlCallbackAnswer,
} from '../../../../src/nodes/sandbox/lnurl/services.ts';
import { invoiceCommand } from '../../../contracts/node/steps.ts';
import { onchainWorld } from '../../../support/onchain-world.ts';

const host = {
  domain: 'example.com',
  callbackUrl: (name: string) => `https://example.com/lnurl/${name}/callback`,
};

function setUp() {
  const { world, wallet, reload } = onchainWorld();
  const service = (change: Partial<LnurlService> = {}) =>
    createLnurlService(world, {
      tag: 'payRequest',
      minMsat: 1_000n,
      maxMsat: 50_000n,
      commentLength: 10,
      description: 'Tea',
      ...change,
    }).name;
  const first = (name: string) => lnurlAnswer(world, name, host);
  const second = (name: string, query: Record<string, string>) =>
    lnurlCallbackAnswer(world, name, query, host);
  const invoice = (userPk: string, amountMsat: bigint | null) =>
    createInvoice(
      world,
      userPk,
      invoiceCommand(world, { expirationSecs: 600, amountMsat, description: null }),
    );
  return { world, wallet, reload, service, first, second, invoice };
}

const error = (reason: string) => ({ status: 'ERROR', reason: expect.stringContaining(reason) });

function hashOf(metadata: unknown): string {
  return createHash('sha256').update(String(metadata)).digest('hex');
}

describe('a pay service', () => {
  test('tells its terms (LUD-06, LUD-12, LUD-16)', () => {
    const { service, first } = setUp();
    const name = service();
    expect(first(name)).toEqual({
      tag: 'payRequest',
      callback: `https://example.com/lnurl/${name}/callback`,
      minSendable: 1_000,
      maxSendable: 50_000,
      metadata: JSON.stringify([
        ['text/plain', 'Tea'],
        ['text/identifier', `${name}@example.com`],
      ]),
      commentAllowed: 10,
    });
  });

  test('gives an invoice of the outside world for the amount, committed to the metadata', () => {
    const { service, first, second } = setUp();
    const name = service();
    const { pr, routes } = second(name, { amount: '2500', comment: 'hi' });
    const invoice = decodeBolt11(String(pr));
    expect(invoice).toMatchObject({
      amountMsat: 2_500n,
      network: 'regtest',
      descriptionHash: hashOf(first(name).metadata),
    });
    expect(routes).toEqual([]);
  });

  test.each([
    [{ amount: '999' }, 'from 1000 to 50000'],
    [{ amount: '50001' }, 'from 1000 to 50000'],
    [{ amount: '1.5' }, 'Say the amount'],
    [{}, 'Say the amount'],
    [{ amount: '1000', comment: '12345678901' }, 'at most 10 characters'],
  ])('refuses %j', (query, reason) => {
    const { service, second } = setUp();
    expect(second(service(), query as Record<string, string>)).toEqual(error(reason));
  });

  test('takes amounts at both ends of its range and a comment of the full length', () => {
    const { service, second } = setUp();
    const name = service();
    for (const amount of ['1000', '50000']) {
      expect(second(name, { amount, comment: '1234567890' })).toHaveProperty('pr');
    }
  });

  test('is a Lightning Address too, and a withdraw service is none', () => {
    const { world, service, first } = setUp();
    const pay = service();
    expect(lightningAddressAnswer(world, pay, host)).toEqual(first(pay));
    const withdraw = service({ tag: 'withdrawRequest' });
    expect(lightningAddressAnswer(world, withdraw, host)).toEqual(error('takes no payments'));
    expect(lightningAddressAnswer(world, 'nobody', host)).toBeNull();
    expect(first('nobody')).toEqual(error('no service of that name'));
  });
});

describe('a withdraw service', () => {
  function withdrawal() {
    const setup = setUp();
    const name = setup.service({ tag: 'withdrawRequest' });
    const k1 = String(setup.first(name).k1);
    return { ...setup, name, k1 };
  }

  test('tells its terms with a fresh k1 (LUD-03)', () => {
    const { name, k1, first } = withdrawal();
    const again = first(name);
    expect(again).toMatchObject({
      tag: 'withdrawRequest',
      callback: `https://example.com/lnurl/${name}/callback`,
      defaultDescription: 'Tea',
      minWithdrawable: 1_000,
      maxWithdrawable: 50_000,
    });
    expect(again.k1).not.toBe(k1);
  });

  test('pays the invoice of the wallet', () => {
    const { wallet, name, k1, second, invoice, reload } = withdrawal();
    const alice = wallet();
    const created = invoice(alice, 40_000n);
    expect(second(name, { k1, pr: created.invoice })).toEqual({ status: 'OK' });
    expect(reload(alice, created.payment)).toMatchObject({
      status: 'completed',
      amountMsat: 40_000n,
    });
  });

  test('pays once for a k1: the same invoice is answered again, another is refused', () => {
    const { wallet, name, k1, second, invoice, reload } = withdrawal();
    const alice = wallet();
    const [created, other] = [invoice(alice, 40_000n), invoice(alice, 40_000n)];
    second(name, { k1, pr: created.invoice });
    expect(second(name, { k1, pr: created.invoice })).toEqual({ status: 'OK' });
    expect(second(name, { k1, pr: other.invoice })).toEqual(error('was used already'));
    expect(reload(alice, other.payment).status).toBe('pending');
  });

  test('a k1 that could not be paid may be used again', () => {
    const { world, wallet, name, k1, second, invoice } = withdrawal();
    const alice = wallet();
    const late = invoice(alice, 40_000n);
    world.clock.advance(601_000);
    expect(second(name, { k1, pr: late.invoice })).toMatchObject({ status: 'ERROR' });
    expect(second(name, { k1, pr: invoice(alice, 40_000n).invoice })).toEqual({ status: 'OK' });
  });

  test.each([
    [999n, 'must be for 1000 to 50000'],
    [50_001n, 'must be for 1000 to 50000'],
    [null, 'must be for 1000 to 50000'],
  ])('refuses an invoice of %p', (amountMsat, reason) => {
    const { wallet, name, k1, second, invoice } = withdrawal();
    const pr = invoice(wallet(), amountMsat).invoice;
    expect(second(name, { k1, pr })).toEqual(error(reason));
  });

  test('refuses a k1 it did not give out, that of another service, and missing or unreadable parts', () => {
    const { wallet, service, first, name, k1, second, invoice } = withdrawal();
    const pr = invoice(wallet(), 40_000n).invoice;
    const foreign = String(first(service({ tag: 'withdrawRequest' })).k1);
    expect(second(name, { k1: 'ab'.repeat(32), pr })).toEqual(error('not given out here'));
    expect(second(name, { k1: 'short', pr })).toEqual(error('not given out here'));
    expect(second(name, { k1: foreign, pr })).toEqual(error('not given out here'));
    expect(second(name, { k1 })).toEqual(error('k1 and pr are needed'));
    expect(second(name, { k1, pr: 'lnbcrt1nonsense' })).toMatchObject({ status: 'ERROR' });
  });
});
