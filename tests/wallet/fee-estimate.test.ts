import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import type { RoutingQuestion, WalletNode } from '../../src/nodes/node.ts';
import { analyze } from '../../src/wallet/strings/analyze.ts';
import { makeOffer } from '../support/bolt12-fixtures.ts';
import { addressOf, fakeServices, invoiceOf, PAY_LNURL, payingNode } from './payment-strings.ts';

/** The estimates for a string, in millisatoshis, by a node with those answers. */
async function estimates(
  text: string,
  node: {
    readonly routing?: (question: RoutingQuestion) => Promise<bigint | null>;
    readonly onchain?: () => Promise<bigint>;
  },
): Promise<(bigint | null)[]> {
  const paying = payingNode();
  const estimating = {
    ...paying,
    estimateRoutingFeeMsat: node.routing ?? paying.estimateRoutingFeeMsat,
    onchain: { ...paying.onchain, estimateFeeMsat: node.onchain },
  } as WalletNode;
  const found = await analyze(text, 'payment_string', { node: estimating }, fakeServices());
  return found.payables.map(({ feeEstimateMsat }) => feeEstimateMsat);
}

describe('the estimate of a fee', () => {
  test('is asked of the node by the receiver, the amount and the private routes', async () => {
    const asked: RoutingQuestion[] = [];
    const routing = async (question: RoutingQuestion) => {
      asked.push(question);
      return 7n;
    };
    expect(await estimates(invoiceOf(5000n), { routing })).toEqual([7n]);
    expect(asked).toMatchObject([{ amountMsat: 5000n, routeHints: [] }]);
    const offer = makeOffer().text;
    expect(await estimates(`bitcoin:?amount=0.00003&lno=${offer}`, { routing })).toEqual([7n]);
    expect(asked[1]).toMatchObject({ amountMsat: 3_000_000n });
  });

  test('is null without an amount, and the node is not asked', async () => {
    const uncalled = () => Promise.reject(new Error('this was not to be called'));
    const asking = { routing: uncalled, onchain: uncalled };
    expect(await estimates(invoiceOf(null), asking)).toEqual([null]);
    expect(await estimates(addressOf(1), asking)).toEqual([null]);
  });

  test('is null for an LNURL, of which only the service knows the receiver', async () => {
    expect(await estimates(`bitcoin:?amount=0.000003&lightning=${PAY_LNURL}`, {})).toEqual([null]);
  });

  test('is null where the node refuses or cannot be reached, and analyze answers', async () => {
    const unreachable = () => Promise.reject(new ApiError('unreachable', 'out of reach'));
    const uri = `bitcoin:${addressOf(1)}?amount=0.00003`;
    expect(await estimates(uri, { onchain: unreachable })).toEqual([null]);
    expect(await estimates(invoiceOf(5000n), { routing: unreachable })).toEqual([null]);
  });

  test('of a node that does not answer is given up, one for all methods', async () => {
    const silence = () => new Promise<never>(() => undefined);
    const uri = `bitcoin:${addressOf(1)}?amount=0.00003&lightning=${invoiceOf(3_000_000n)}`;
    expect(await estimates(uri, { onchain: silence, routing: async () => 9n })).toEqual([9n, null]);
  });
});
