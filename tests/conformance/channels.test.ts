import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { test } from './node-test.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

describe('channels', () => {
  test('a channel is opened once for its id, usable after a block, and closed into coins', async () => {
    const body = { value: '50000', user_channel_id: 'cd'.repeat(16) };
    const opened = await world.post('/v2/node/open_channel', body);
    expect(await world.post('/v2/node/open_channel', body)).toEqual(opened);
    const find = async () =>
      (await world.get('/v2/node/list_channels')).channels.find(
        ({ channel_id }: Body) => channel_id === opened.channel_id,
      );
    expect(await find()).toMatchObject({
      user_channel_id: body.user_channel_id,
      channel_value: '50000',
      our_balance: '50000',
      their_balance: '0',
      is_usable: false,
    });
    await world.post('/sandbox/blocks', { count: 1 });
    expect(await find()).toMatchObject({
      is_usable: true,
      outbound_capacity: '49500',
      punishment_reserve: '500',
    });
    const before = await world.get('/v2/node/node_info');
    expect(await world.post('/v2/node/close_channel', { channel_id: opened.channel_id })).toEqual(
      {},
    );
    expect(await find()).toBeUndefined();
    const after = await world.get('/v2/node/node_info');
    expect(Number(after.num_channels)).toBe(Number(before.num_channels) - 1);
    expect(Number(after.onchain_balance)).toBeGreaterThan(Number(before.onchain_balance));
    expectError(
      await world.call('POST', '/v2/node/close_channel', {
        body: { channel_id: opened.channel_id },
      }),
      'notFound',
    );
  });

  test('a channel is opened to the peer that is named, and to no other by the same id', async () => {
    const { invoice } = await world.post('/sandbox/invoice', { amount: '1' });
    const peer = `${decodeBolt11(invoice).payeePubkey}@127.0.0.1:9735`;
    const body = { value: '40000', user_channel_id: 'ce'.repeat(16), peer };
    const opened = await world.post('/v2/node/open_channel', body);
    expect(await world.post('/v2/node/open_channel', body)).toEqual(opened);
    const stranger =
      '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798@127.0.0.1:1';
    for (const id of [body.user_channel_id, 'cf'.repeat(16)]) {
      const asked = { ...body, user_channel_id: id, peer: stranger };
      const other = await world.call('POST', '/v2/node/open_channel', { body: asked });
      expectError(other, 'refused');
      expect(other.body.data.sent).toBe('no');
    }
    const unreadable = await world.call('POST', '/v2/node/open_channel', {
      body: { ...body, peer: 'somewhere' },
    });
    expectError(unreadable, 'rejected', /<pubkey>@<host>:<port>/);
  });

  test('a forced close needs no peer, and a repeat finds the channel closed', async () => {
    await world.post('/sandbox/blocks', { count: 6 });
    const body = { value: '45000', user_channel_id: 'd1'.repeat(16) };
    const opened = await world.post('/v2/node/open_channel', body);
    await world.post('/sandbox/blocks', { count: 6 });
    await until(async () => {
      const { channels } = await world.get('/v2/node/list_channels');
      return channels.some((one: Body) => one.channel_id === opened.channel_id && one.is_usable);
    }, 'the channel is usable');
    const close = { channel_id: opened.channel_id, force: true };
    expect(await world.post('/v2/node/close_channel', close)).toEqual({});
    const { channels } = await world.get('/v2/node/list_channels');
    expect(channels.some((one: Body) => one.channel_id === opened.channel_id)).toBe(false);
    const again = await world.call('POST', '/v2/node/close_channel', { body: close });
    if (again.status !== 200) expectError(again, 'notFound');
  });

  test('funding_txo is <txid>_<vout>, while the outpoints of a transaction are <txid>:<vout>', async () => {
    const { channels } = await world.get('/v2/node/list_channels');
    expect(channels.length).toBeGreaterThan(0);
    for (const { funding_txo } of channels) expect(funding_txo).toMatch(/^[0-9a-f]{64}_\d+$/);
    const { address } = await world.post('/v2/node/get_next_unused_address', {}, world.bob);
    const { tx } = await world.post('/v2/node/pay_onchain', { address, amount: '5000' });
    expect(tx.input[0].previous_output).toMatch(/^[0-9a-f]{64}:\d+$/);
  });

  test('node_info tells true sums: what max_sendable says can be sent, and not more', async () => {
    const { client_credentials: credentials } = await world.post('/sandbox/wallets');
    const info = await world.get('/v2/node/node_info', {}, credentials);
    expect(info.balance).toBe(
      String(Number(info.lightning_balance) + Number(info.onchain_balance)),
    );
    expect(Number(info.lightning_max_sendable_balance)).toBeGreaterThanOrEqual(
      Number(info.lightning_sendable_balance),
    );
    expect(info.version).toContain('sandbox');
    const most = info.lightning_max_sendable_balance;
    const inside = await world.post('/v2/node/create_invoice', { amount: most });
    expect(
      await world.post('/v2/node/pay_invoice', { invoice: inside.invoice }, credentials),
    ).toMatchObject({ status: 'completed' });
    const next = await world.post('/v2/node/create_invoice', { amount: '1' });
    expectError(
      await world.call('POST', '/v2/node/pay_invoice', {
        body: { invoice: next.invoice },
        credentials,
      }),
      'refused',
    );
  });

  test('what lightning_sendable_balance says can be sent to the outside world', async () => {
    const { client_credentials: credentials } = await world.post('/sandbox/wallets');
    const { lightning_sendable_balance } = await world.get('/v2/node/node_info', {}, credentials);
    const { invoice } = await world.post('/sandbox/invoice', {
      amount: lightning_sendable_balance,
    });
    expect(await world.post('/v2/node/pay_invoice', { invoice }, credentials)).toMatchObject({
      status: 'completed',
    });
  });

  test('first money opens a channel just in time, and an info payment records the waived cost', async () => {
    const { client_credentials: credentials } = await world.post('/sandbox/wallets');
    const { payments } = await world.get('/v2/node/updated_payments', {}, credentials);
    expect(payments.find(({ direction }: Body) => direction === 'info')).toMatchObject({
      kind: 'waived_channel_fee',
      status: 'completed',
    });
  });
});
