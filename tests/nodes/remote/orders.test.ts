import { expect, test } from 'bun:test';
import { refused } from '../../../src/model/errors.ts';
import { blankPayment } from '../../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../../src/model/payment-index.ts';
import { maybeOpening, notAgreed } from '../../../src/nodes/remote/orders/channel-refusals.ts';
import { asBegun, reportOf } from '../../../src/nodes/remote/orders/sends.ts';

const ID = paymentId('ln', '7c'.repeat(32));
const INDEX = paymentIndex(1_700_000_000_000, ID);
const shown = (amountMsat: bigint | null) => ({
  attempt: 1,
  payment: {
    ...blankPayment({
      index: paymentIndex(1_700_000_005_000, ID),
      rail: 'invoice',
      direction: 'outbound',
      status: 'pending',
      statusMsg: 'pending',
      createdAtMs: 1_700_000_005_000,
      updatedAtMs: 1_700_000_005_000,
    }),
    amountMsat,
  },
});

test('a send that the node shows has index and time of the wallet, and the amount that the node shows', () => {
  const begun = { index: INDEX, createdAtMs: 1_700_000_000_000, amountMsat: 1_000n };
  expect(asBegun(shown(990n), begun).payment).toMatchObject({ ...begun, amountMsat: 990n });
  expect(asBegun(shown(null), begun).payment).toMatchObject(begun);
});

test('an error of a call that moves money is a refusal only where nothing was sent', () => {
  expect(reportOf(refused('No.')).state).toBe('refused');
  expect(reportOf(maybeOpening()).state).toBe('unknown');
});

test('a channel that may still be opening or closing is an order of unknown outcome', () => {
  for (const error of [notAgreed(), maybeOpening()]) {
    expect(error).toMatchObject({ kind: 'timeout', outcomeUnknown: true });
  }
});
