import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { analyze, pay } = walletSteps(() => world);

describe('names', () => {
  test('unclaimed is 107; a claim gives both addresses', async () => {
    expectError(await world.call('GET', '/v2/node/human_bitcoin_address'), 'notFound');
    const record = await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-1' });
    const name = `satoshi-1@${world.domain}`;
    expect(record).toMatchObject({
      human_bitcoin_address: `₿${name}`,
      lightning_address: name,
      updatable: true,
    });
    expect(await world.get('/v2/node/human_bitcoin_address')).toEqual(record);
    expect(await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-1' })).toEqual(
      record,
    );
  });

  test('both addresses of a name can be paid', async () => {
    const name = `satoshi-1@${world.domain}`;
    const record = await world.get('/v2/node/human_bitcoin_address');
    expect(await pay({ payable: `₿${name}`, amount: '7' })).toMatchObject({
      status: 'completed',
      rail: 'offer',
    });
    expect(await pay({ payable: name, amount: '8', message: 'comment' })).toMatchObject({
      status: 'completed',
      rail: 'invoice',
      message: 'comment',
    });
    expect((await analyze(`₿${name}`)).payables[0]).toMatchObject({
      kind: 'offer',
      offer: record.offer,
    });
    expect((await analyze(name)).payables[0]).toMatchObject({ kind: 'lnurl-pay' });
  });

  test('payers get its terms and invoices by LNURL, and the wallet the comment as message', async () => {
    const terms = await world.get('/.well-known/lnurlp/satoshi-1');
    expect(terms).toMatchObject({ tag: 'payRequest', minSendable: 1000, commentAllowed: 200 });
    const { pathname } = new URL(terms.callback);
    const { pr } = await world.get(pathname, { amount: '21000', comment: 'for the tea' });
    const invoice = decodeBolt11(pr);
    expect(invoice.descriptionHash).toBe(
      new Bun.CryptoHasher('sha256').update(terms.metadata).digest('hex'),
    );
    expect(await world.post('/sandbox/pay', { payable: pr })).toEqual({ status: 'completed' });
    const { payments } = await world.get('/v2/node/updated_payments', { limit: '100' });
    const { index } = payments.find(({ hash }: Body) => hash === invoice.paymentHash);
    expect(
      await world.get('/v2/node/wait_for_payment', { index, timeout_secs: '30' }),
    ).toMatchObject({ direction: 'inbound', amount: '21', message: 'for the tea' });
  });

  test('every spelling of a name is read, and paid through its callback', async () => {
    const name = `satoshi-1@127.0.0.1:${world.port}`;
    for (const text of [
      `bitcoin:₿${name}`,
      `bitcoin:${encodeURIComponent(`₿${name}`)}?amount=0.00000011&message=Tip`,
      `BITCOIN://%e2%82%bfSATOSHI-1@127.0.0.1:${world.port}#tip`,
      `lightning:₿${name}`,
      encodeURIComponent(name),
      name.toUpperCase(),
    ]) {
      const [payable] = (await analyze(text)).payables;
      const callback = new URL(payable.callback);
      const query = Object.fromEntries(callback.searchParams);
      const paid = await world.call('POST', callback.pathname, {
        query,
        body: query.amount === undefined ? { amount: '11' } : {},
        credentials: world.bob,
      });
      expect(paid.body).toMatchObject({ status: 'completed', amount: '11', message: null });
    }
  });

  test('it can be changed, and no other wallet gets it meanwhile', async () => {
    await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-2' });
    expectError(
      await world.call('PUT', '/v2/node/human_bitcoin_address', {
        body: { username: 'satoshi-2' },
        credentials: world.bob,
      }),
      'refused',
      /taken/,
    );
  });

  test('it can be changed for 24 hours, is then frozen for 90 days, and is updatable again', async () => {
    await world.post('/sandbox/clock', { advance_secs: 24 * 3600 + 1 });
    expect((await world.get('/v2/node/human_bitcoin_address')).updatable).toBe(false);
    expectError(
      await world.call('PUT', '/v2/node/human_bitcoin_address', {
        body: { username: 'satoshi-3' },
      }),
      'refused',
      /frozen/,
    );
    await world.post('/sandbox/clock', { advance_secs: 90 * 24 * 3600 });
    expect((await world.get('/v2/node/human_bitcoin_address')).updatable).toBe(true);
    await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-3' });
  });

  for (const username of [
    'short',
    'x'.repeat(25),
    'Upper1',
    '-start',
    'end---',
    'two--hyphens',
    'under_score',
    'spa ce1',
  ]) {
    test(`rejects the username ${username}`, async () => {
      expectError(
        await world.call('PUT', '/v2/node/human_bitcoin_address', { body: { username } }),
        'rejected',
        /^username: must be 6 to 24 lowercase letters, digits and hyphens, without a hyphen at either end or two in a row$/,
      );
    });
  }
});
