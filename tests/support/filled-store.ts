import { updatedIndexOf } from '../../src/model/payment.ts';
import type { Store } from '../../src/store/ports.ts';
import { periodStart } from '../../src/wallet/budget/budget.ts';
import { nameRecord } from '../contracts/store/names.ts';
import { attemptRecord, configured, endpointRecord, failedAttempt } from './delivery-steps.ts';
import { sampleDone, samplePayment } from './sample-payment.ts';
import {
  CLIENT,
  clientRecord,
  fits,
  newSpend,
  observe,
  rules,
  setBudget,
  WALLET,
} from './store-steps.ts';

export const CREATED = { walletId: WALLET, caller: 'owner', key: 'create' };
export const RUNNING = { walletId: WALLET, caller: 'owner', key: 'running' };
/** More than a double can hold exactly. */
export const LARGE_MSAT = 2n ** 60n + 1n;

/** Fills every table of a store. */
export async function fill(store: Store): Promise<void> {
  await setBudget(store, {
    amountMsat: LARGE_MSAT * 4n,
    period: 'day',
    maxPaymentMsat: LARGE_MSAT,
  });
  await store.clients.change(WALLET, () => ({
    records: [
      clientRecord({ clientPk: '01'.repeat(32), label: 'a\u0000b', revokedAtMs: 9, token: null }),
      clientRecord({ budgetState: 'set', token: { id: '8', token: 'bb', exposed: true } }),
    ],
    budgets: [],
  }));
  const reservation = { clientPk: CLIENT, amountMsat: LARGE_MSAT, nowMs: 5 };
  await store.idempotency.begin(RUNNING, 'print', 1);
  const spend = { caller: CLIENT, reservation, plan: '{"tx":"00"}', fetchedInvoice: 'lni1' };
  await store.spends.begin(WALLET, newSpend(samplePayment(1), spend), fits);
  await store.spends.begin(WALLET, newSpend(samplePayment(2), { idempotencyKey: 'running' }), fits);
  await store.spends.begin(WALLET, newSpend(samplePayment(3), { reservation }), fits);
  await store.spends.begin(WALLET, newSpend(samplePayment(4)), fits);
  await store.spends.abandon(WALLET, samplePayment(4).index, periodStart);
  await observe(store, [sampleDone(3)], { journaled: true, cursor: 'c\u0000', attempt: 7 });
  await store.spends.begin(WALLET, newSpend(samplePayment(5)), fits);
  await observe(store, [samplePayment(6)], { journaled: true, attempt: 8 });
  const given = {
    payment: samplePayment(6),
    attempt: 8,
    answers: { index: samplePayment(5).index, isTaken: true },
  };
  const seen = { observations: [given], cursor: null, journaled: true, nowMs: 1000 };
  await store.observations.apply(WALLET, seen, rules);
  const key = configured(`msg_${samplePayment(3).index}`);
  await store.outbox.attemptFailed(key, failedAttempt('no\u0000'), 20_000);
  await store.outbox.delivered(key, attemptRecord({ answer: '\u0000' }));
  await store.webhookEndpoints.add(endpointRecord({ description: null, expiresAtMs: 99 }), 1);
  await store.connectorState.put(WALLET, 'lnd', 'a', { b: [1] });
  await store.names.claim(WALLET, 'satoshi', () => nameRecord({ offer: 'lno1' }));
  const place = { id: samplePayment(9).index.slice(20) as never, source: 'a', expiresAtMs: 50 };
  await store.names.takePlace(WALLET, place, { nowMs: 1, most: 1, mostOfSource: 1 });
  await store.idempotency.begin(CREATED, 'print', 1);
  await store.idempotency.name(CREATED, { json: '{"client":"x"}', index: null });
  await store.idempotency.finish(CREATED, { httpStatus: 200, body: '{"a":1}', subject: null });
  await store.cache.apply(WALLET, [samplePayment(1), sampleDone(3)], updatedIndexOf(sampleDone(3)));
}
