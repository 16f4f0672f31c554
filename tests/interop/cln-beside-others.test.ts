import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { FaultProxy } from '../hostile/fault-proxy.ts';
import { rejection } from '../support/rejection.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { describeClnNetwork } from './harness/index.ts';
import { behindFaultProxy, clnNode } from './kinds.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

interface MadeOffer {
  readonly bolt12: string;
  readonly offer_id: string;
}
interface Coin {
  readonly txid: string;
  readonly output: number;
  readonly amount_msat: number;
  readonly status: string;
  readonly reserved: boolean;
}

describeClnNetwork('beside other programs on Core Lightning', (network) => {
  let proxy: FaultProxy;
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    const placed = await behindFaultProxy(clnNode(network().alice));
    proxy = placed.proxy;
    sidecar = await startNodeSidecar(['--client-credentials', placed.credentials]);
  });
  afterEach(() => proxy.rules());
  afterAll(async () => {
    await sidecar?.close();
    await proxy?.stop();
  });

  const offerOf = (description: string) =>
    network().bob.rpc<MadeOffer>('offer', { amount: 'any', description });
  const coins = async () =>
    (await network().alice.rpc<{ outputs: Coin[] }>('listfunds')).outputs
      .filter(({ status, reserved }) => status === 'confirmed' && !reserved)
      .toSorted((a, b) => b.amount_msat - a.amount_msat);
  /** Reserves a coin, as another program would. */
  const reserve = ({ txid, output }: Coin) =>
    network().alice.rpc('utxopsbt', {
      satoshi: '0sat',
      feerate: '253perkw',
      startweight: 0,
      utxos: [`${txid}:${output}`],
      excess_as_change: true,
    });
  const asked = (method: string) => proxy.seen.filter(({ path }) => path === `/v1/${method}`);
  const fund = async (amountsSat: readonly bigint[]) => {
    const { alice, btcd } = network();
    const before = (await coins()).length;
    const { bech32: address } = await alice.rpc<{ bech32: string }>('newaddr', {
      addresstype: 'bech32',
    });
    for (const amountSat of amountsSat) await btcd.send([{ address, amountSat }]);
    await btcd.generate(1);
    await until(async () => (await coins()).length >= before + amountsSat.length);
  };

  test('20 payments of an offer at once all arrive, with the id that its node gives the offer', async () => {
    const { bolt12: offer, offer_id } = await offerOf('many at once');
    const payments: Body[] = await Promise.all(
      Array.from({ length: 20 }, () =>
        sidecar.post('/v2/node/pay_offer', { offer, amount: '3', message: 'one of many' }),
      ),
    );
    for (const payment of payments) {
      expect(payment).toMatchObject({ status: 'completed', amount: '3', offer_id });
    }
    expect(new Set(payments.map(({ hash }) => hash)).size).toBe(20);
  });

  test('a payment of an offer that another program made has the id of the offer', async () => {
    const { bolt12, offer_id } = await offerOf('paid beside');
    await network().alice.rpc('xpay', { invstring: bolt12, amount_msat: 4000 });
    const payment = await until(async () => {
      await sidecar.put('/v2/node/sync_payments');
      const { payments } = await sidecar.get('/v2/node/list_payments', { filter: 'completed' });
      return payments.find((one: Body) => one.amount === '4') as Body | undefined;
    }, 'the payment is listed');
    expect(payment).toMatchObject({ rail: 'offer', direction: 'outbound', offer_id });
  });

  test('a send takes other coins where another program reserves those that were chosen', async () => {
    await fund([900_000n, 800_000n, 700_000n, 600_000n]);
    const { bech32: address } = await network().bob.rpc<{ bech32: string }>('newaddr', {
      addresstype: 'bech32',
    });
    const send = () =>
      sidecar.post('/v2/node/pay_onchain', {
        address,
        amount: '20000',
        client_payment_id: crypto.randomUUID().replaceAll('-', '').repeat(2),
      });
    // Each send leaves unconfirmed change, about which the next ones ask once they have the list of coins.
    await send();
    const before = asked('getutxout').length;
    await send();
    const choices = asked('getutxout').length - before;
    const [largest] = await coins();
    if (largest === undefined) throw new Error('alice has no coins');
    // The first of the last two answers is late, so that the coins are chosen of a list that is old by then.
    const nth = (choices - 1) * 2 + 1;
    const late = { kind: 'delay', ms: 3000 } as const;
    proxy.rules({ method: 'POST', path: /^\/v1\/getutxout$/, nth, fault: late });
    const [start, prepared] = [asked('getutxout').length, asked('txprepare').length];
    const sending = send();
    await until(() => asked('getutxout').length - start >= nth, 'the change is asked about');
    await reserve(largest);
    const { tx } = await sending;
    expect(asked('txprepare').length - prepared).toBe(2);
    const spent = tx.input.map(({ previous_output }: Body) => previous_output);
    expect(spent).not.toContain(`${largest.txid}:${largest.output}`);
  });

  test('a node says of a reserved coin what makes the sidecar choose again, for channels too', async () => {
    const { alice, bob } = network();
    await fund([600_000n]);
    const [coin] = await coins();
    if (coin === undefined) throw new Error('alice has no coins');
    await reserve(coin);
    const utxos = [`${coin.txid}:${coin.output}`];
    const refusal = {
      code: -32602,
      reason: expect.stringMatching(/^UTXO \S+ already reserved$/),
    };
    const order = { id: bob.pubkey, amount: '100000sat', feerate: '253perkw', utxos };
    expect(await rejection(alice.rpc('fundchannel', order))).toMatchObject(refusal);
    expect(await rejection(reserve(coin))).toMatchObject(refusal);
  });
});
