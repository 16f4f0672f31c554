import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import { idOf } from '../../../src/model/payment.ts';
import { paymentIndex } from '../../../src/model/payment-index.ts';
import { send } from '../../../src/wallet/pay/send.ts';
import type { SendIdentity } from '../../../src/wallet/pay/send-plan.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { WALLET } from '../../support/store-steps.ts';
import { until } from '../../support/until.ts';
import { SIGNED } from '../fake-node.ts';
import { walletWorld } from '../wallet-world.ts';
import { contextOf, planOf, sent, shown } from './plan.ts';
import { errorOf, refusal, sendWorld, silence } from './send-world.ts';

const wallet = sendWorld();
const { unfinished } = wallet;

describe('what the node tells of an attempt while the request is on its way', () => {
  const { failed } = sent;
  const toldFailed = async () => {
    const { owner } = wallet;
    await until(() => owner.feed.standing?.state === 'caught_up', 'it is followed');
    const payment = failed({ index: paymentIndex(77, idOf(samplePayment(1))), createdAtMs: 77 });
    await owner.feed.observe({ payment, attempt: 5 }, owner.node);
  };

  test('is not taken for its own where the answer is lost: the node is asked', async () => {
    const { payment } = await send(
      contextOf(wallet.owner),
      planOf(async () => {
        await toldFailed();
        return silence();
      }),
    );
    expect(await unfinished()).toMatchObject([{ state: 'asked', attempt: null }]);
    const row = await wallet.world.store.journal.get(WALLET, payment.index);
    expect(row?.status).toBe('pending');
  });

  test('is not taken for its own where the answer cannot be stored', async () => {
    const { observations } = wallet.world.store;
    const { apply } = observations;
    const error = await errorOf(
      contextOf(wallet.owner),
      planOf(async (identity) => {
        await toldFailed();
        Object.assign(observations, {
          apply: () => {
            Object.assign(observations, { apply });
            return Promise.reject(new ApiError('overCapacity', 'The disk is full.'));
          },
        });
        return shown(sent.pending(identity), 6);
      }),
    );
    expect(error.data).toMatchObject({ sent: 'unknown' });
    expect(await unfinished()).toMatchObject([{ state: 'asked', attempt: null }]);
  });

  for (const [how, end, left] of [
    ['under way', sent.pending, [{ state: 'known', attempt: 5 }]],
    ['done', sent.done, []],
  ] as const) {
    test(`and was taken for its own is met where the request is then refused (${how})`, async () => {
      const world = await walletWorld();
      const { owner } = await world.start();
      let starts = 0;
      const plan = planOf(async (identity) => {
        starts++;
        const answers = { index: identity.index, isTaken: false };
        await owner.feed.observe({ payment: end(identity), attempt: 5, answers }, owner.node);
        expect(await world.store.spends.unfinished(WALLET)).toMatchObject(left);
        return refusal();
      });
      const met = await send(contextOf(owner), plan);
      const isOutside = end === sent.pending;
      expect(met).toMatchObject({ begun: false, isOutside });
      expect(met.payment.status).toBe(isOutside ? 'pending' : 'completed');
      expect([starts, await world.store.spends.unfinished(WALLET)]).toEqual([1, []]);
      await world.close();
    });
  }

  test('on chain is its own, also where publishing it is refused or said to be another’s', async () => {
    const onchain = { rail: 'onchain', again: 'never', sign: async () => SIGNED } as const;
    const { owner, world } = wallet;
    const own = ({ index, createdAtMs }: SendIdentity, number: number) => ({
      payment: samplePayment(number, { rail: 'onchain', index, createdAtMs, txid: SIGNED.txid }),
      attempt: null,
    });
    const refusedOnce = planOf(
      async (identity) => {
        await owner.feed.observe(own(identity, 1), owner.node);
        return refusal();
      },
      { ...onchain, number: 1 },
    );
    const taken = planOf(async (identity) => ({ state: 'taken', ...own(identity, 2) }), {
      ...onchain,
      number: 2,
    });
    for (const plan of [refusedOnce, taken]) {
      const { payment, begun } = await send(contextOf(owner), plan);
      expect([begun, payment.status]).toEqual([true, 'pending']);
    }
    expect((await unfinished()).map(({ state }) => state).toSorted()).toEqual(['asked', 'known']);
    expect(world.fake.onchainCalls.filter((call) => call.startsWith('release'))).toEqual([]);
  });
});
