import { describe, expect, test } from 'bun:test';
import { type KeyOutcome, requireSightOf } from '../../src/http/sight-of-outcome.ts';
import type { Permission } from '../../src/model/clients/permissions.ts';
import { encodePayment, type Payment, paymentJson } from '../../src/model/payment.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { rejection } from '../support/rejection.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { CLIENT } from '../support/store-steps.ts';

const payment = sampleDone(1);
/** The answer of before the end. */
const kept = { body: JSON.stringify(encodePayment(samplePayment(1))) };
const bound = { index: payment.index };

/** Asks for a client with these permissions; `payer` is whose the payment is known to be. */
function sight(
  outcome: KeyOutcome,
  {
    permissions = ['pay_invoice'],
    payer = null,
    found = payment,
  }: { permissions?: Permission[]; payer?: string | null; found?: Payment | null } = {},
): Promise<void> {
  const session = {
    isOwner: false,
    caller: { id: CLIENT },
    userPk: 'ab',
    client: () => ({ scopes: [], permissions }),
    history: { payment: async () => found },
    store: {
      makers: { of: async () => new Set() },
      spends: { callerOf: async () => payer },
    },
    configured: null,
  } as unknown as Session;
  return requireSightOf(outcome, session, {
    permissionOf: (answer) =>
      paymentJson().parse(answer).rail === 'offer' ? 'pay_offer' : 'pay_invoice',
  });
}

describe('the payment of a key of any caller', () => {
  test('is shown to who may read payments, and to its own payer', async () => {
    for (const outcome of [kept, bound]) {
      await sight(outcome, { permissions: ['pay_invoice', 'get_payment_by_id'] });
      await sight(outcome, { payer: CLIENT });
    }
  });

  test('is to all others error 106 with the status as it is now, and nothing else', async () => {
    for (const outcome of [kept, bound]) {
      for (const payer of [null, 'cd'.repeat(32)]) {
        const error = await sight(outcome, { payer }).catch((thrown) => thrown);
        expect(error).toMatchObject({ kind: 'refused' });
        expect(error.with({ sent: 'no' }).data).toEqual({ status: 'completed' });
      }
    }
  });

  test('is error 108 first for who may not pay in that way', async () => {
    const found = { ...payment, rail: 'offer' as const };
    expect(await rejection(sight(bound, { found }))).toMatchObject({ kind: 'forbidden' });
  });

  test('has the status that was answered where the node does not know it', async () => {
    const error = await sight(kept, { found: null }).catch((thrown) => thrown);
    expect(error.data).toEqual({ status: 'pending' });
    await sight(bound, { found: null });
  });
});

test('an outcome that is no payment is shown', async () => {
  for (const body of ['{}', '{"offer":"lno1"}', JSON.stringify({ index: payment.index })]) {
    await sight({ body });
  }
});
