import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { caughtUp } from './harness/channels.ts';
import { describeNetwork, type LndNode } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('on-chain payments and channels on LND', (network) => {
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    const { bob } = network();
    sidecar = await startNodeSidecar([
      '--client-credentials',
      await connectLnd(network().alice),
      '--channel-peer',
      `${bob.pubkey}@${bob.peerAddress}`,
    ]);
  });
  afterAll(() => sidecar?.close());

  const newAddress = async (node: LndNode) =>
    (await node.rest<{ address: string }>('GET', '/v1/newaddress?type=0')).address;
  const mine = async (blocks: number) => {
    await network().btcd.generate(blocks);
    await caughtUp(network().btcd, [lndSteps(network().alice)]);
  };
  const sentOf = async (label: string) =>
    (
      await network().alice.rest<{ transactions: { label: string }[] }>('GET', '/v1/transactions')
    ).transactions.filter((transaction) => transaction.label === label).length;

  test('a send is pending and broadcasted, carries its transaction, and completes at the sixth block', async () => {
    const address = await newAddress(network().bob);
    const sent = await sidecar.post('/v2/node/pay_onchain', {
      address,
      amount: '30000',
      priority: 'high',
      personal_note: 'rent',
    });
    expect(sent).toMatchObject({
      status: 'pending',
      status_msg: 'broadcasted',
      rail: 'onchain',
      amount: '30000',
      address,
      priority: 'high',
      personal_note: 'rent',
      finalized_at: null,
    });
    expect(sent.tx.output.map(({ value }: { value: number }) => value)).toContain(30_000);
    const waiting = sidecar.get('/v2/node/wait_for_payment', {
      index: sent.index,
      timeout_secs: '60',
    });
    await mine(5);
    expect(await sidecar.get('/v2/node/payment', { index: sent.index })).toMatchObject({
      status: 'pending',
    });
    await mine(1);
    expect(await waiting).toMatchObject({
      index: sent.index,
      txid: sent.txid,
      status: 'completed',
      priority: 'high',
    });
  });

  test('the same client_payment_id sends once, also after a restart and for another sidecar', async () => {
    const request = {
      address: await newAddress(network().bob),
      amount: '20000',
      client_payment_id: 'c1'.repeat(32),
    };
    const first = await sidecar.post('/v2/node/pay_onchain', request);
    const again = await sidecar.post('/v2/node/pay_onchain', request);
    expect(again.txid).toBe(first.txid);
    await sidecar.kill();
    await sidecar.start();
    expect((await sidecar.post('/v2/node/pay_onchain', request)).txid).toBe(first.txid);
    const other = await startNodeSidecar([
      '--client-credentials',
      await connectLnd(network().alice),
    ]);
    try {
      expect((await other.post('/v2/node/pay_onchain', request)).txid).toBe(first.txid);
    } finally {
      await other.close();
    }
    expect(await sentOf(`ws:${request.client_payment_id}`)).toBe(1);
    expectError(
      await sidecar.call('POST', '/v2/node/pay_onchain', { body: { ...request, amount: '20001' } }),
      'refused',
      /client_payment_id/,
    );
    await mine(1);
  });

  test('a receive is seen unconfirmed, completes at the sixth block, and moves the unused address on', async () => {
    const { address } = await sidecar.post('/v2/node/get_next_unused_address');
    expect(await sidecar.post('/v2/node/get_next_unused_address')).toEqual({ address });
    const start = (await sidecar.get('/v2/node/updated_payments', { limit: '100' })).updated_index;
    await network().btcd.send([{ address, amountSat: 54_321n }]);
    const seen = await waitForAddress(address, start);
    expect(seen).toMatchObject({
      status: 'pending',
      status_msg: 'broadcasted',
      direction: 'inbound',
      amount: '54321',
      address,
    });
    expect((await sidecar.post('/v2/node/get_next_unused_address')).address).not.toBe(address);
    const waiting = sidecar.get('/v2/node/wait_for_payment', {
      index: seen.index,
      timeout_secs: '60',
    });
    await mine(6);
    expect(await waiting).toMatchObject({ index: seen.index, status: 'completed' });
  });

  test('a receive whose blocks were found while the sidecar was down is there when it is back', async () => {
    const { address } = await sidecar.post('/v2/node/get_next_unused_address');
    const start = (await sidecar.get('/v2/node/updated_payments', { limit: '100' })).updated_index;
    await sidecar.kill();
    await network().btcd.send([{ address, amountSat: 11_111n }]);
    await mine(6);
    await sidecar.start();
    expect(await waitForAddress(address, start)).toMatchObject({
      status: 'completed',
      amount: '11111',
    });
  });

  test('coins sent to an address of the wallet itself are a payment that completes, too', async () => {
    const { address } = await sidecar.post('/v2/node/get_next_unused_address');
    const sent = await sidecar.post('/v2/node/pay_onchain', { address, amount: '15000' });
    expect(sent).toMatchObject({ status: 'pending', amount: '15000', direction: 'outbound' });
    const waiting = sidecar.get('/v2/node/wait_for_payment', {
      index: sent.index,
      timeout_secs: '60',
    });
    await mine(6);
    expect(await waiting).toMatchObject({ status: 'completed', amount: '15000', address });
  });

  test('dust, too much and another network are refused and nothing is sent', async () => {
    const address = await newAddress(network().bob);
    for (const body of [
      { address, amount: '1' },
      { address, amount: '2000000000' },
      { address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', amount: '10000' },
    ]) {
      expectError(await sidecar.call('POST', '/v2/node/pay_onchain', { body }), 'refused');
    }
  });

  test('a channel is opened once for its id, listed, usable after confirmation, and closed', async () => {
    const user_channel_id = 'ab'.repeat(16);
    const opened = await sidecar.post('/v2/node/open_channel', {
      value: '2000000',
      user_channel_id,
    });
    expect(
      await sidecar.post('/v2/node/open_channel', { value: '2000000', user_channel_id }),
    ).toEqual(opened);
    const find = async () => {
      const { channels } = await sidecar.get('/v2/node/list_channels');
      return channels.find(
        ({ channel_id }: { channel_id: string }) => channel_id === opened.channel_id,
      );
    };
    expect(await find()).toMatchObject({
      user_channel_id,
      is_usable: false,
      channel_value: '2000000',
    });
    await mine(6);
    await waitUntil('the channel is usable', async () => (await find())?.is_usable === true);
    const channel = await find();
    expect(BigInt(channel.outbound_capacity)).toBeGreaterThan(1_900_000n);
    expect(await sidecar.post('/v2/node/close_channel', { channel_id: opened.channel_id })).toEqual(
      {},
    );
    await waitUntil('the channel is closed', async () => (await find()) === undefined);
    await mine(6);
    expectError(
      await sidecar.call('POST', '/v2/node/close_channel', {
        body: { channel_id: 'cd'.repeat(32) },
      }),
      'notFound',
    );
    await sidecar.put('/v2/node/sync_payments');
    const { payments } = await sidecar.get('/v2/node/list_payments', {
      filter: 'all',
      rail: 'onchain',
    });
    const amounts = payments.map(({ amount }: { amount: string }) => amount);
    expect(amounts).not.toContain('2000000');
  });

  /** LND tells of a receive at once; one that fell between two subscriptions is found by a look within 30 seconds. */
  async function waitForAddress(address: string, start: string) {
    let cursor = start;
    while (true) {
      const { payment, next_start_index } = await sidecar.get('/v2/node/wait_for_next_payment', {
        start_index: cursor,
        timeout_secs: '60',
      });
      if (payment.address === address) return payment;
      cursor = next_start_index;
    }
  }
});
