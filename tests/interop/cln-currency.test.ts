import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { connectCln } from './connect.ts';
import { currencyPlugin } from './harness/cln-plugins.ts';
import { describeClnNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** What 5 EUR are worth at the rate of the sidecar's only source, in millisatoshis. */
const OURS_MSAT = 10_000_000;
const price = { currency: 'EUR', amount: '5.00' };

describeClnNetwork('an offer in a currency of Core Lightning', (network) => {
  const exchange = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('{"price":"50000"}'),
  });
  let sidecar: NodeSidecar;
  let offer: string;
  const pay = (body: object) => sidecar.call('POST', '/v2/node/pay', { body });
  /** Says what the issuer of the offer asks for 5 EUR. */
  const issuerAsks = (msat: number) => network().bob.rpc('setworth', { msat: msat / 5 });
  const invoices = async () =>
    (
      await network().bob.rpc<{ invoices: { status: string; amount_received_msat?: number }[] }>(
        'listinvoices',
      )
    ).invoices.filter(({ status }) => status === 'paid');

  beforeAll(async () => {
    const { alice, bob } = network();
    const { plugins } = await bob.rpc<{ plugins: { name: string }[] }>('plugin', {
      subcommand: 'list',
    });
    // The node's own asks services of the network.
    const own = plugins.find(({ name }) => name.endsWith('/cln-currencyrate'));
    if (own) await bob.rpc('plugin', { subcommand: 'stop', plugin: own.name });
    await bob.rpc('plugin', { subcommand: 'start', plugin: await currencyPlugin(bob.dir) });
    const made = await bob.rpc<{ bolt12: string }>('offer', {
      amount: '5EUR',
      description: 'a month',
    });
    offer = made.bolt12;
    sidecar = await startNodeSidecar([
      ...['--client-credentials', await connectCln(alice), '--allow-private-network'],
      ...['--rate-source', `http://127.0.0.1:${exchange.port}/{currency}#/price`],
    ]);
  });
  beforeEach(() => issuerAsks(OURS_MSAT));
  afterAll(async () => {
    await sidecar?.close();
    await exchange.stop(true);
  });

  test('is told by analyze with its price, and what that is worth here', async () => {
    const { payables } = await sidecar.get('/v2/node/analyze', { payment_string: offer });
    expect(payables).toMatchObject([{ kind: 'offer', price, amount: null, min_amount: '10000' }]);
  });

  test('is paid with what its issuer asks for, up to 2 per cent from our rate, and keeps the price', async () => {
    for (const asked of [OURS_MSAT, OURS_MSAT * 1.02, 9_804_000]) {
      await issuerAsks(asked);
      const { body } = await pay({ payable: offer });
      const amount = String(asked / 1000);
      expect(body).toMatchObject({ status: 'completed', amount, price, rate: '50000' });
      expect((await invoices()).at(-1)?.amount_received_msat).toBe(asked);
    }
    await issuerAsks(10_100_000);
    const body = { offer, price: { currency: 'EUR', amount: '5' } };
    const paid = await sidecar.post('/v2/node/pay_offer', body);
    expect(paid).toMatchObject({ status: 'completed', amount: '10100', price });
  });

  test('is refused where its issuer counts otherwise, and nothing is sent', async () => {
    const before = await invoices();
    for (const asked of [OURS_MSAT * 1.021, 9_803_000, 1_000_000]) {
      await issuerAsks(asked);
      const answer = await pay({ payable: offer });
      expectError(
        answer,
        'refused',
        /5.00 EUR.* 10000 sats .* sats: they are more than 2 per cent/,
      );
      expect(answer.body.data).toEqual({ sent: 'no' });
    }
    expect(await invoices()).toEqual(before);
  });

  test('is paid exactly what the caller names, which its issuer refuses where it is less', async () => {
    const more = await pay({ payable: offer, amount: '10500' });
    expect(more.body).toMatchObject({ status: 'completed', amount: '10500', price: null });
    const less = await pay({ payable: offer, amount: '9000' });
    expectError(less, 'refused');
    expect(less.body.data).toMatchObject({ sent: 'no' });
  });

  test('shows in the list of the node with price and rate after the cache was emptied', async () => {
    await sidecar.post('/v2/node/clear_payments');
    const found = await until(async () => {
      await sidecar.put('/v2/node/sync_payments');
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
      return payments.filter((one: Body) => one.price !== null).length === 4 && payments;
    }, 'the payments are listed');
    const priced = found.filter((one: Body) => one.price !== null);
    for (const one of priced) expect(one).toMatchObject({ price, rate: '50000', rail: 'offer' });
  });
});
