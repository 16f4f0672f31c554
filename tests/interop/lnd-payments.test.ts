import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hex } from '@scure/base';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { commitmentsSettled } from './commitments.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('Lightning payments on LND', (network) => {
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    sidecar = await startNodeSidecar(['--client-credentials', await connectLnd(network().alice)]);
  });
  afterAll(() => sidecar?.close());

  const bob = () => outsider(network().bob);

  test('a node that never had an invoice pays', async () => {
    const { invoices } = await network().alice.rest<{ invoices: unknown[] }>('GET', '/v1/invoices');
    expect(invoices).toEqual([]);
    const { invoice } = await bob().invoice({ value: '5' });
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice });
    expect(paid).toMatchObject({ status: 'completed', amount: '5' });
  });

  test('node_info tells version, keys and balances as LND does', async () => {
    const info = await sidecar.get('/v2/node/node_info');
    const { alice } = network();
    const wallet = await alice.rest<{ total_balance: string }>('GET', '/v1/balance/blockchain');
    expect(info.node_pk).toBe(alice.pubkey);
    expect(info.onchain_balance).toBe(wallet.total_balance);
    expect(info.onchain_trusted_balance).toBe(wallet.total_balance);
    expect(BigInt(info.balance)).toBe(
      BigInt(info.lightning_balance) + BigInt(wallet.total_balance),
    );
    expect(info).toMatchObject({ num_channels: 1, num_usable_channels: 1 });
    expect(info.version).toMatch(/^\d+\.\d+\.\d+-beta/);
  });

  test('lightning_max_sendable_balance can be sent to the satoshi, and one more cannot', async () => {
    await commitmentsSettled([lndSteps(network().alice), lndSteps(network().bob)]);
    const info = await sidecar.get('/v2/node/node_info');
    const most = BigInt(info.lightning_max_sendable_balance);
    const above = await bob().invoice({ value: `${most + 1n}` });
    expectError(
      await sidecar.call('POST', '/v2/node/pay_invoice', { body: { invoice: above.invoice } }),
      'refused',
      new RegExp(`${most} sats`),
    );
    const exact = await bob().invoice({ value: `${most}` });
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice: exact.invoice });
    expect(paid).toMatchObject({ status: 'completed', amount: `${most}` });
    const back = await sidecar.post('/v2/node/create_invoice', { amount: `${most}` });
    expect(await bob().pays(back.invoice)).toBe('SUCCEEDED');
  });

  test('an invoice that bob pays completes, and a caller that waits is told', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', {
      amount: '1234.567',
      description: 'coffee é',
      personal_note: 'table 4',
    });
    expect(made).toMatchObject({ amount: '1234.567', description: 'coffee é' });
    const before = await sidecar.get('/v2/node/payment', { index: made.index });
    expect(before).toMatchObject({
      status: 'pending',
      status_msg: 'invoice generated',
      preimage: null,
      personal_note: 'table 4',
    });
    const waiting = sidecar.get('/v2/node/wait_for_payment', {
      index: made.index,
      timeout_secs: '30',
    });
    expect(await bob().pays(made.invoice)).toBe('SUCCEEDED');
    expect(await waiting).toMatchObject({
      index: made.index,
      hash: made.payment_hash,
      status: 'completed',
      direction: 'inbound',
      rail: 'invoice',
      amount: '1234.567',
      personal_note: 'table 4',
    });
  });

  test('an invoice without an amount completes with what was paid', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', {});
    expect(made.amount).toBeNull();
    expect(await bob().pays(made.invoice, '77001')).toBe('SUCCEEDED');
    const paid = await sidecar.get('/v2/node/wait_for_payment', {
      index: made.index,
      timeout_secs: '30',
    });
    expect(paid).toMatchObject({ status: 'completed', amount: '77.001' });
  });

  test('pay_invoice answers the completed payment with its preimage; paying again returns the first', async () => {
    const { invoice, hash } = await bob().invoice({ value_msat: '50001', memo: 'tea' });
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice, personal_note: 'mine' });
    expect(paid).toMatchObject({
      hash,
      status: 'completed',
      direction: 'outbound',
      amount: '50.001',
      personal_note: 'mine',
    });
    expect(createHash('sha256').update(hex.decode(paid.preimage)).digest('hex')).toBe(hash);
    const again = await sidecar.post('/v2/node/pay_invoice', { invoice });
    expect(again).toEqual(paid);
  });

  test('an invoice without an amount is paid with the fallback amount', async () => {
    const { invoice } = await bob().invoice({});
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice, fallback_amount: '31' });
    expect(paid).toMatchObject({ status: 'completed', amount: '31' });
  });

  test('an invoice of the own wallet is refused', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '5' });
    const answer = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: made.invoice },
    });
    expectError(answer, 'refused', /own/);
  });

  test('a payment that the receiver refuses is failed, says why, and may be tried again', async () => {
    const { invoice, hash } = await bob().invoice({ value: '21' });
    await bob().cancel(hash);
    const failed = await sidecar.post('/v2/node/pay_invoice', { invoice });
    expect(failed).toMatchObject({ status: 'failed', status_msg: 'rejected by the receiver' });
    const again = await sidecar.post('/v2/node/pay_invoice', { invoice });
    expect(again).toMatchObject({ status: 'failed' });
    expect(again.index).not.toBe(failed.index);
  });

  test('a held payment is pending until the receiver decides, over as many requests as one likes', async () => {
    const hold = await bob().holds('21000');
    const first = sidecar.post('/v2/node/pay_invoice', { invoice: hold.invoice });
    await hold.accepted();
    const early = await sidecar.call('POST', '/v2/node/pay_invoice', {
      body: { invoice: hold.invoice },
      headers: { prefer: 'respond-async' },
    });
    expect(early.status).toBe(202);
    expect(early.body).toMatchObject({ status: 'pending', hash: hold.hash });
    await hold.settle();
    expect(await first).toMatchObject({ status: 'completed', preimage: hold.preimage });
    const canceled = await bob().holds('22000');
    const second = sidecar.post('/v2/node/pay_invoice', { invoice: canceled.invoice });
    await canceled.accepted();
    await canceled.cancel();
    expect(await second).toMatchObject({
      status: 'failed',
      status_msg: 'rejected by the receiver',
    });
  });

  test('a canceled invoice is failed at once and cannot be paid; one that was paid first stays paid', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '9' });
    const waiting = sidecar.get('/v2/node/wait_for_payment', {
      index: made.index,
      timeout_secs: '30',
    });
    expect(await sidecar.post('/v2/node/cancel_payment', { index: made.index })).toEqual({});
    expect(await waiting).toMatchObject({ status: 'failed', status_msg: 'canceled' });
    expect(await sidecar.post('/v2/node/cancel_payment', { index: made.index })).toEqual({});
    expect(await bob().pays(made.invoice)).toBe('FAILED');
    const paid = await sidecar.post('/v2/node/create_invoice', { amount: '9' });
    expect(await bob().pays(paid.invoice)).toBe('SUCCEEDED');
    expectError(
      await sidecar.call('POST', '/v2/node/cancel_payment', { body: { index: paid.index } }),
      'refused',
    );
  });

  test('an invoice that passes its expiry unpaid becomes failed, expired', async () => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '9', expiration_secs: 1 });
    const gone = await sidecar.get('/v2/node/wait_for_payment', {
      index: made.index,
      timeout_secs: '30',
    });
    expect(gone).toMatchObject({ status: 'failed', status_msg: 'expired' });
    expect(gone.finalized_at).toBe(made.expires_at);
  });

  test('a keysend arrives as a spontaneous payment with its message', async () => {
    const { hash, status } = await bob().keysends(network().alice, '4321', 'héllo');
    expect(status).toBe('SUCCEEDED');
    const found = await waitUntilValue(async () => {
      await sidecar.put('/v2/node/sync_payments');
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
      return payments.find((payment: { hash: string }) => payment.hash === hash);
    });
    expect(found).toMatchObject({
      rail: 'spontaneous',
      kind: 'spontaneous',
      direction: 'inbound',
      amount: '4.321',
      message: 'héllo',
      invoice: null,
    });
  });

  test('what LND cannot do is error 110 and names the node', async () => {
    for (const [method, path, body] of [
      ['POST', '/v2/node/create_offer', {}],
      ['GET', '/v2/node/human_bitcoin_address', undefined],
      ['POST', '/v2/node/create_payer_proof', { index: `${'0'.repeat(19)}-fs_${'0'.repeat(64)}` }],
    ] as const) {
      const answer = await sidecar.call(method, path, { body });
      expectError(answer, 'unsupported', /lnd/);
      expect(answer.body.data).toEqual({ node: 'lnd' });
    }
  });

  test('no macaroon stands in any line of the log', () => {
    const secret = readFileSync(network().alice.macaroonPath);
    expect(sidecar.log()).not.toContain(secret.toString('hex'));
    expect(sidecar.log()).not.toContain(secret.toString('base64'));
  });
});

async function waitUntilValue<T>(read: () => Promise<T | undefined>): Promise<T> {
  let value: T | undefined;
  await waitUntil('the value is there', async () => {
    value = await read();
    return value !== undefined;
  });
  if (value === undefined) throw new Error('unreachable');
  return value;
}
