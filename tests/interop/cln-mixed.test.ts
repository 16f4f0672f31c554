import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { commitmentsSettled } from './commitments.ts';
import { connectCln, connectLnd } from './connect.ts';
import { clnSteps } from './harness/cln-steps.ts';
import { describeMixedNetwork } from './harness/index.ts';
import { lndSteps } from './harness/lnd-steps.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeMixedNetwork('one sidecar with an LND and a Core Lightning', (network) => {
  const folder = temporaryFolder('mixed');
  let sidecar: NodeSidecar;
  let lnd: string;
  let cln: string;
  beforeAll(async () => {
    lnd = await connectLnd(network().lnd);
    cln = await connectCln(network().cln);
    const further = join(folder, 'cln.credentials');
    writeFileSync(further, cln, { mode: 0o600 });
    const flags = ['--client-credentials', lnd, '--node-credentials-path', further];
    sidecar = await startNodeSidecar(flags);
    await network().channelUsable();
  });
  afterAll(async () => {
    await sidecar?.close();
    removeFolder(folder);
  });

  const ways = [
    { title: 'LND pays Core Lightning', from: () => lnd, to: () => cln },
    { title: 'Core Lightning pays LND', from: () => cln, to: () => lnd },
  ];
  const settled = () => commitmentsSettled([lndSteps(network().lnd), clnSteps(network().cln)]);
  const balanceOf = async (credentials: string) => {
    await settled();
    return Number((await sidecar.get('/v2/node/node_info', {}, credentials)).lightning_balance);
  };

  test('each wallet is that of its own node', async () => {
    expect((await sidecar.get('/v2/node/node_info', {}, lnd)).node_pk).toBe(network().lnd.pubkey);
    expect((await sidecar.get('/v2/node/node_info', {}, cln)).node_pk).toBe(network().cln.pubkey);
  });

  test.each(ways)('$title an invoice, and both tell the same', async ({ from, to }) => {
    const before = await balanceOf(to());
    const made = await sidecar.post(
      '/v2/node/create_invoice',
      { amount: '1234.567', description: 'tea' },
      to(),
    );
    const pending = await sidecar.get('/v2/node/payment', { index: made.index }, to());
    expect(pending).toMatchObject({ status: 'pending', direction: 'inbound', preimage: null });
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice: made.invoice }, from());
    expect(paid).toMatchObject({
      status: 'completed',
      direction: 'outbound',
      hash: made.payment_hash,
      amount: '1234.567',
      fees: '0',
    });
    const proof = createHash('sha256').update(Buffer.from(paid.preimage, 'hex')).digest('hex');
    expect(proof).toBe(made.payment_hash);
    const query = { index: made.index, timeout_secs: '30' };
    const received = await sidecar.get('/v2/node/wait_for_payment', query, to());
    expect(received).toMatchObject({
      status: 'completed',
      direction: 'inbound',
      amount: '1234.567',
      fees: '0',
      preimage: paid.preimage,
    });
    // LND counts its balance in whole satoshis.
    expect(Math.abs((await balanceOf(to())) - before - 1234.567)).toBeLessThan(1);
    const again = await sidecar.post('/v2/node/pay_invoice', { invoice: made.invoice }, from());
    expect(again).toEqual(paid);
    expect(Math.abs((await balanceOf(to())) - before - 1234.567)).toBeLessThan(1);
  });

  test.each(ways)('$title an invoice without an amount', async ({ from, to }) => {
    const made = await sidecar.post('/v2/node/create_invoice', {}, to());
    const order = { invoice: made.invoice, fallback_amount: '31' };
    const paid = await sidecar.post('/v2/node/pay_invoice', order, from());
    expect(paid).toMatchObject({ status: 'completed', amount: '31' });
    const query = { index: made.index, timeout_secs: '30' };
    const received = await sidecar.get('/v2/node/wait_for_payment', query, to());
    expect(received).toMatchObject({ status: 'completed', amount: '31' });
  });

  test.each(ways)('$title not once the invoice was canceled', async ({ from, to }) => {
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '5' }, to());
    await sidecar.post('/v2/node/cancel_payment', { index: made.index }, to());
    const failed = await sidecar.post('/v2/node/pay_invoice', { invoice: made.invoice }, from());
    expect(failed).toMatchObject({ status: 'failed', status_msg: 'rejected by the receiver' });
    expect(await sidecar.get('/v2/node/payment', { index: made.index }, to())).toMatchObject({
      status: 'failed',
      status_msg: 'canceled',
    });
  });
});
