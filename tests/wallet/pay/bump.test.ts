import { describe, expect, test } from 'bun:test';
import { ApiError } from '../../../src/model/errors.ts';
import { bumpFee } from '../../../src/wallet/pay/bump.ts';
import { type EffectNames, randomNames } from '../../../src/wallet/session/effect-names.ts';
import { rejection } from '../../support/rejection.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { sendWorld } from './send-world.ts';

const wallet = sendWorld();
/** An on-chain send that waits for its first confirmation. */
const PENDING = samplePayment(1, { rail: 'onchain', txid: 'aa'.repeat(32) });
/** The names of a repeat whose first run may have asked the node. */
const repeated: EffectNames = {
  ...randomNames,
  isKeyed: true,
  earlier: () => '500',
  kept: async () => '500',
};

describe('an error before the node is asked to raise a fee says what was sent (decision 12)', () => {
  for (const [run, names, sent] of [
    ['no for a first run', randomNames, 'no'],
    ['unknown for a repeat, since its first run may have asked the node', repeated, 'unknown'],
  ] as const) {
    test(`${run}, when it cannot be read who made the payment`, async () => {
      const { world } = wallet;
      const { session } = await wallet.clientOf(['send']);
      world.fake.shown.set(PENDING.index, { payment: PENDING, attempt: null });
      const fullDisk = () => Promise.reject(new ApiError('overCapacity', 'The disk is full.'));
      Object.assign(world.store.spends, { callerOf: fullDisk });
      const request = { index: PENDING.index, priority: 'high', maxFeeMsat: null } as const;
      expect(await rejection(bumpFee(session, request, names))).toMatchObject({
        kind: 'overCapacity',
        data: { sent },
      });
    });
  }
});
