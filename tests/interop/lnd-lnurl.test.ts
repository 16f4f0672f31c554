import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const METADATA = JSON.stringify([['text/plain', 'Tips for bob']]);

describeNetwork('LNURL and the purchase link on LND', (network) => {
  let sidecar: NodeSidecar;
  /** LNURL services in front of bob's node, as a shop would run them. */
  const services = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const url = new URL(request.url);
      const base = `http://${url.host}`;
      const bob = outsider(network().bob);
      switch (url.pathname) {
        case '/.well-known/lnurlp/bob':
        case '/pay':
          return Response.json({
            tag: 'payRequest',
            callback: `${base}/pay/callback`,
            minSendable: 1000,
            maxSendable: 50_000_000,
            metadata: METADATA,
            commentAllowed: 10,
          });
        case '/pay/callback': {
          comments.push(url.searchParams.get('comment') ?? '');
          const { invoice } = await bob.invoice({
            value_msat: url.searchParams.get('amount') ?? '',
            description_hash: createHash('sha256').update(METADATA).digest('base64'),
          });
          return Response.json({ pr: invoice, routes: [] });
        }
        case '/withdraw':
          return Response.json({
            tag: 'withdrawRequest',
            callback: `${base}/withdraw/callback`,
            k1: 'k1',
            defaultDescription: 'Refund',
            minWithdrawable: 1000,
            maxWithdrawable: 40_000,
          });
        default: {
          void bob.pays(url.searchParams.get('pr') ?? '');
          return Response.json({ status: 'OK' });
        }
      }
    },
  });
  const comments: string[] = [];
  const lnurl = (path: string) =>
    bech32.encode('lnurl', bech32.toWords(Buffer.from(`${services.url.origin}${path}`)), false);
  beforeAll(async () => {
    sidecar = await startNodeSidecar([
      '--client-credentials',
      await connectLnd(network().alice),
      '--allow-private-network',
    ]);
  });
  afterAll(async () => {
    await sidecar?.close();
    await services.stop(true);
  });

  test('LNURL-pay pays, and the comment is cut to the length that the service takes', async () => {
    const paid = await sidecar.post('/v2/node/pay_lnurl', {
      lnurl: lnurl('/pay'),
      amount: '321',
      message: 'more than ten characters',
    });
    expect(paid).toMatchObject({ status: 'completed', amount: '321', direction: 'outbound' });
    expect(comments).toEqual(['more than ']);
    expect(paid.message).toBe('more than ');
  });

  test('a Lightning Address is paid through pay', async () => {
    const paid = await sidecar.post('/v2/node/pay', {
      payable: `bob@${services.url.host}`,
      amount: '12',
    });
    expect(paid).toMatchObject({ status: 'completed', amount: '12' });
  });

  test('a URI as names of BIP 353 lead to is paid by its invoice, on chain where it has only an address, and not by an offer', async () => {
    const { invoice } = await outsider(network().bob).invoice({ value: '17' });
    const { address } = await network().bob.rest<{ address: string }>(
      'GET',
      '/v1/newaddress?type=0',
    );
    expect(
      await sidecar.post('/v2/node/pay', { payable: `bitcoin:?lightning=${invoice}` }),
    ).toMatchObject({ status: 'completed', amount: '17', rail: 'invoice' });
    expect(
      await sidecar.post('/v2/node/pay', { payable: `bitcoin:${address}`, amount: '21000' }),
    ).toMatchObject({ status: 'pending', amount: '21000', rail: 'onchain', address });
    const offer =
      'lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2uckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg';
    const answer = await sidecar.call('POST', '/v2/node/pay', {
      body: { payable: `bitcoin:?lno=${offer}`, amount: '5' },
    });
    expectError(answer, 'refused', /lnd/);
  });

  test('LNURL-withdraw takes the most by default and answers the completed payment', async () => {
    const withdrawn = await sidecar.post('/v2/node/withdraw_lnurl', { lnurl: lnurl('/withdraw') });
    expect(withdrawn).toMatchObject({ status: 'completed', amount: '40', direction: 'inbound' });
  });

  test('the purchase link carries an invoice of this wallet, and paying it completes the payment', async () => {
    const { redirect_url, index } = await sidecar.post('/v2/node/buy_with_payment_app', {
      amount: '5000',
    });
    const invoice = redirect_url.slice(redirect_url.indexOf('lnbcrt'));
    expect(await outsider(network().bob).pays(invoice)).toBe('SUCCEEDED');
    expect(
      await sidecar.get('/v2/node/wait_for_payment', { index, timeout_secs: '30' }),
    ).toMatchObject({ status: 'completed', amount: '5000' });
  });

  test('a service on this machine is refused unless private networks are allowed', async () => {
    const strict = await startNodeSidecar([
      '--client-credentials',
      await connectLnd(network().alice),
    ]);
    try {
      expectError(
        await strict.call('POST', '/v2/node/pay_lnurl', {
          body: { lnurl: lnurl('/pay'), amount: '5' },
        }),
        'serviceFailed',
      );
    } finally {
      await strict.close();
    }
  });
});
