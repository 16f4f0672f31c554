import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { decodeBolt11 } from '../../src/codecs/bolt11/index.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork, type LndNode } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { lndPayments, outsider } from './outsider.ts';

setDefaultTimeout(SLOW_TEST_MS);

const LONG_MS = 120_000;

describeNetwork('the fee that analyze expects on LND', (network) => {
  let sidecar: NodeSidecar;
  let carol: LndNode;
  let dave: LndNode;
  beforeAll(async () => {
    carol = await network().addBeyondBob('carol');
    dave = await network().addBeyondBob('dave', { isPrivate: true });
    sidecar = await startNodeSidecar(['--client-credentials', await connectLnd(network().alice)]);
  }, LONG_MS);
  afterAll(() => sidecar?.close());

  const estimateOf = async (payment_string: string): Promise<string | null> => {
    const { payables } = await sidecar.get('/v2/node/analyze', { payment_string });
    return payables[0].fee_estimate;
  };
  const attempts = async () => (await lndPayments(network().alice)).length;

  test('is the routing fee that the payment then costs, to the millisatoshi', async () => {
    const { invoice } = await outsider(carol).invoice({ value: '20000' });
    const estimate = await estimateOf(invoice);
    expect(Number(estimate)).toBeGreaterThan(0);
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice });
    expect(paid).toMatchObject({ status: 'completed', fees: estimate });
  });

  test('of a receiver with a private channel comes from the route hint', async () => {
    const { invoice } = await outsider(dave).invoice({ value: '30000', private: true });
    const { routeHints, payeePubkey } = decodeBolt11(invoice);
    expect(routeHints).toMatchObject([[{ pubkey: network().bob.pubkey }]]);
    expect(payeePubkey).toBe(dave.pubkey);
    const estimate = await estimateOf(invoice);
    expect(Number(estimate)).toBeGreaterThan(0);
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice });
    expect(paid).toMatchObject({ status: 'completed', fees: estimate });
  });

  test('is null without a way to the receiver', async () => {
    const { invoice } = await outsider(dave).invoice({ value: '30000' });
    expect(decodeBolt11(invoice).routeHints).toEqual([]);
    expect(await estimateOf(invoice)).toBeNull();
  });

  test('sends no probe', async () => {
    const before = await attempts();
    for (const node of [carol, dave]) {
      const { invoice } = await outsider(node).invoice({ value: '1000', private: true });
      await estimateOf(invoice);
    }
    expect(await attempts()).toBe(before);
  });
});
