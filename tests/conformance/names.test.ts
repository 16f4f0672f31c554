import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { expectError } from '../support/requests.ts';
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
  test('unclaimed is 107; a claim gives both addresses, and both can be paid', async () => {
    expectError(await world.call('GET', '/v2/node/human_bitcoin_address'), 'notFound');
    const record = await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-1' });
    const name = `satoshi-1@127.0.0.1:${world.port}`;
    expect(record).toMatchObject({
      human_bitcoin_address: `₿${name}`,
      lightning_address: name,
      updatable: true,
    });
    expect(await world.get('/v2/node/human_bitcoin_address')).toEqual(record);
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

  test('it can be changed for 24 hours, is then frozen for 90 days, and is updatable again', async () => {
    await world.put('/v2/node/human_bitcoin_address', { username: 'satoshi-2' });
    expectError(
      await world.call('PUT', '/v2/node/human_bitcoin_address', {
        body: { username: 'satoshi-2' },
        credentials: world.bob,
      }),
      'refused',
      /taken/,
    );
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
