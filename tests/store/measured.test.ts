import { beforeEach, expect, test } from 'bun:test';
import { type Metrics, openMetrics } from '../../src/lib/metrics.ts';
import type { Payment } from '../../src/model/payment.ts';
import { measuredStore } from '../../src/store/measured.ts';
import type { Store } from '../../src/store/ports.ts';
import { openSqliteStore } from '../../src/store/sqlite/index.ts';
import { leaseFrom } from '../../src/webhooks/lease.ts';
import {
  attemptRecord,
  claimConfigured,
  configured,
  failedAttempt,
} from '../support/delivery-steps.ts';
import { parseExposition } from '../support/exposition.ts';
import { sampleDone } from '../support/sample-payment.ts';
import { observe as observeIn, WALLET } from '../support/store-steps.ts';

const STARTED_MS = 1_000;
const clock = { now: () => STARTED_MS };
let metrics: Metrics;
let store: Store;
beforeEach(() => {
  metrics = openMetrics();
  store = measuredStore(openSqliteStore(':memory:'), metrics, clock);
});

const ended = (finalizedAtMs: number, change: Partial<Payment> = {}) =>
  sampleDone(finalizedAtMs, { finalizedAtMs, ...change });
const observe = (payments: readonly Payment[], journaled = false, wallet = WALLET) =>
  observeIn(store, payments, { journaled, wallet });
async function series(name: string): Promise<Record<string, number>> {
  const all = parseExposition(await metrics.render()).get(name)?.series ?? [];
  return Object.fromEntries([...all].filter(([, value]) => value > 0));
}
const finalized = () => series('wallet_sidecar_payments_finalized_total');
const label = (rail: string, direction: string, status: string) =>
  `wallet_sidecar_payments_finalized_total{rail="${rail}",direction="${direction}",status="${status}"}`;

test('a payment is counted when it ends, by rail, direction and status, and not before', async () => {
  await observe([ended(2_000, { status: 'pending', finalizedAtMs: null })]);
  expect(await finalized()).toEqual({});
  await observe([
    ended(2_000),
    ended(2_001, { direction: 'inbound', rail: 'offer' }),
    ended(2_002, { status: 'failed' }),
  ]);
  expect(await finalized()).toEqual({
    [label('invoice', 'outbound', 'completed')]: 1,
    [label('offer', 'inbound', 'completed')]: 1,
    [label('invoice', 'outbound', 'failed')]: 1,
  });
});

test('a payment whose end is told again, or that changes after its end, is counted once', async () => {
  for (const journaled of [false, true]) {
    await observe([ended(2_000)], journaled);
    await observe([ended(2_000)], journaled);
    await observe([ended(2_000, { updatedAtMs: 2_500, message: 'thanks' })], journaled);
  }
  expect(await finalized()).toEqual({ [label('invoice', 'outbound', 'completed')]: 1 });
});

test('both ends of a payment between two wallets are counted', async () => {
  await observe([ended(2_000)]);
  await observe([ended(2_000)], false, 'cd'.repeat(32));
  expect(await finalized()).toEqual({ [label('invoice', 'outbound', 'completed')]: 2 });
});

test('what ended before the start is history and not counted', async () => {
  await observe([ended(STARTED_MS - 1), ended(STARTED_MS)]);
  expect(await finalized()).toEqual({ [label('invoice', 'outbound', 'completed')]: 1 });
});

test('no payment is counted twice however many came in between', async () => {
  const many = Array.from({ length: 10_050 }, (_, n) => ended(2_000 + n));
  await observe(many);
  await observe(many.slice(0, 100));
  expect(await finalized()).toEqual({ [label('invoice', 'outbound', 'completed')]: 10_050 });
});

test('the outbox shows its deliveries by state', async () => {
  for (const at of [2_000, 2_001, 2_002]) {
    await store.watches.add(WALLET, { kind: 'payment', index: ended(at).index });
  }
  await observe([ended(2_000), ended(2_001), ended(2_002)]);
  const [first, second] = await claimConfigured(store, { ...leaseFrom(5_000, 1), limit: 3 });
  await store.outbox.delivered(configured(first?.id), attemptRecord());
  await store.outbox.attemptFailed(configured(second?.id), failedAttempt('answered 500'), null);
  const deliveries = (state: string) => `wallet_sidecar_outbox_deliveries{state="${state}"}`;
  expect(await series('wallet_sidecar_outbox_deliveries')).toEqual({
    [deliveries('pending')]: 1,
    [deliveries('delivered')]: 1,
    [deliveries('failed')]: 1,
  });
});

test('the last update has no time before there was one', async () => {
  const name = 'wallet_sidecar_last_update_timestamp_seconds';
  expect(await series(name)).toEqual({});
  await observe([]);
  expect(await series(name)).toEqual({});
  await observe([ended(2_000)]);
  expect(await series(name)).toEqual({ [name]: STARTED_MS / 1000 });
});
