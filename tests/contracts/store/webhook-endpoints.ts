import { beforeEach, describe, expect, test } from 'bun:test';
import type { Payment } from '../../../src/model/payment.ts';
import type { EndpointRecord, Store } from '../../../src/store/ports.ts';
import { deliveryRule } from '../../../src/webhooks/draft.ts';
import { leaseFrom } from '../../../src/webhooks/lease.ts';
import {
  attemptRecord,
  endpointRecord,
  failedAttempt,
  nextDueAt,
} from '../../support/delivery-steps.ts';
import { samplePayment as payment, sampleDone } from '../../support/sample-payment.ts';
import { rules, WALLET } from '../../support/store-steps.ts';

const OTHER = 'cd'.repeat(32);
const NOW_MS = 1_000;

/** Webhook endpoints and what is delivered to them: {@link WebhookEndpointStore}, {@link Outbox}. */
export function webhookEndpointContract(open: () => Promise<Store>): void {
  describe('webhook endpoints', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const add = async (change: Partial<EndpointRecord> = {}) => {
      expect(await store.webhookEndpoints.add(endpointRecord(change), 100)).toBe(true);
    };
    /** Ends a payment of a wallet, by the rule that the program has. Returns how many deliveries were written. */
    const end = async (number: number, change: Partial<Payment> = {}, wallet = WALLET) => {
      const done = sampleDone(number, change);
      await store.watches.add(wallet, { kind: 'payment', index: payment(number).index });
      await store.watches.add(wallet, { kind: 'held', index: payment(number).index });
      const batch = {
        observations: [{ payment: done, attempt: null }],
        cursor: null,
        journaled: false,
        nowMs: NOW_MS,
      };
      const deliver = deliveryRule({ configured: null, clock: { now: () => NOW_MS } });
      return (await store.observations.apply(wallet, batch, { ...rules, deliver })).deliveries;
    };
    const log = (wallet = WALLET) =>
      store.outbox.list({
        walletId: wallet,
        state: null,
        endpoint: null,
        limit: 100,
        before: null,
      });
    const claim = (endpoint: string, nowMs = NOW_MS) =>
      store.outbox.claim({ endpoint, ...leaseFrom(nowMs, 1000), limit: 100 });
    const attempts = (change: { id?: string; endpoint?: string; after?: number }) =>
      store.outbox.attempts({
        walletId: WALLET,
        id: null,
        endpoint: null,
        after: 0,
        limit: 100,
        ...change,
      });

    test('are listed by wallet, oldest first, and found by id', async () => {
      await add({ id: 'ep_b', createdAtMs: 2, events: ['payment.held'], description: 'shop' });
      await add({ id: 'ep_a', createdAtMs: 3, expiresAtMs: 9 });
      await add({ id: 'ep_c', createdAtMs: 1, walletId: OTHER });
      const listed = await store.webhookEndpoints.list(WALLET);
      expect(listed).toEqual([
        endpointRecord({
          id: 'ep_b',
          createdAtMs: 2,
          events: ['payment.held'],
          description: 'shop',
        }),
        endpointRecord({ id: 'ep_a', createdAtMs: 3, expiresAtMs: 9 }),
      ]);
      expect(await store.webhookEndpoints.find('ep_a')).toEqual(listed[1] ?? null);
      expect(await store.webhookEndpoints.find('ep_none')).toBeNull();
    });

    test('a wallet has at most as many as the caller allows, whatever other wallets have', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b', walletId: OTHER });
      expect(await store.webhookEndpoints.add(endpointRecord({ id: 'ep_c' }), 1)).toBe(false);
      expect(await store.webhookEndpoints.find('ep_c')).toBeNull();
      expect(await store.webhookEndpoints.add(endpointRecord({ id: 'ep_c' }), 2)).toBe(true);
    });

    test('the end of a payment is written for each endpoint of its wallet that hears of it, under one webhook-id', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b', events: ['payment.held', 'payment.finalized'] });
      await add({ id: 'ep_c', events: ['payment.held'] });
      await add({ id: 'ep_d', walletId: OTHER });
      await add({ id: 'ep_e', expiresAtMs: NOW_MS });
      expect(await end(1)).toBe(2);
      const rows = await log();
      expect(rows.map(({ endpoint, type }) => [endpoint, type]).toSorted()).toEqual([
        ['ep_a', 'payment.finalized'],
        ['ep_b', 'payment.finalized'],
      ]);
      expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
      expect(await log(OTHER)).toEqual([]);
      const held = { status: 'pending', statusMsg: 'held', direction: 'inbound' } as const;
      expect(await end(2, { ...held, preimage: null, finalizedAtMs: null })).toBe(2);
      expect((await log()).filter(({ type }) => type === 'payment.held')).toMatchObject([
        { endpoint: 'ep_c' },
        { endpoint: 'ep_b' },
      ]);
    });

    test('an endpoint that is made later hears of no payment that has ended, also when it is observed again', async () => {
      await add({ id: 'ep_a' });
      expect(await end(1)).toBe(1);
      await add({ id: 'ep_b' });
      expect(await end(1)).toBe(0);
      expect(await log()).toMatchObject([{ endpoint: 'ep_a' }]);
    });

    test('each endpoint has its own claims, attempts and state', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b' });
      await end(1);
      const [toA] = await claim('ep_a');
      expect(toA).toMatchObject({ endpoint: 'ep_a', attempts: 0 });
      expect(await claim('ep_a')).toEqual([]);
      const { id = '' } = toA ?? {};
      await store.outbox.attemptFailed({ id, endpoint: 'ep_a' }, failedAttempt('no'), 5_000);
      expect(await store.outbox.queued()).toEqual([
        { endpoint: 'ep_a', firstDueAtMs: 5_000, lastDueAtMs: 5_000 },
        { endpoint: 'ep_b', firstDueAtMs: NOW_MS, lastDueAtMs: NOW_MS },
      ]);
      expect(await claim('ep_b')).toMatchObject([{ id, endpoint: 'ep_b', attempts: 0 }]);
      await store.outbox.delivered({ id, endpoint: 'ep_b' }, attemptRecord());
      expect((await log()).map(({ endpoint, state }) => [endpoint, state]).toSorted()).toEqual([
        ['ep_a', 'pending'],
        ['ep_b', 'delivered'],
      ]);
    });

    test('deleting one cancels what is pending for it at once, for good, and nothing else', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b' });
      await end(1);
      await end(2);
      const [first] = await claim('ep_a');
      const { id = '' } = first ?? {};
      expect(await store.webhookEndpoints.remove(OTHER, 'ep_a')).toBeNull();
      await store.outbox.delivered({ id, endpoint: 'ep_a' }, attemptRecord());
      expect(await store.webhookEndpoints.remove(WALLET, 'ep_a')).toBe(1);
      expect(await store.webhookEndpoints.remove(WALLET, 'ep_a')).toBeNull();
      expect(await store.webhookEndpoints.find('ep_a')).toBeNull();
      expect(await claim('ep_a', 100_000)).toEqual([]);
      const of = async (endpoint: string) =>
        (await log()).filter((row) => row.endpoint === endpoint).map(({ state }) => state);
      expect((await of('ep_a')).toSorted()).toEqual(['canceled', 'delivered']);
      expect(await of('ep_b')).toEqual(['pending', 'pending']);
      expect(await store.outbox.counts()).toEqual({
        pending: 2,
        delivered: 1,
        failed: 0,
        canceled: 1,
      });
    });

    test('an attempt that was on its way when its endpoint was deleted changes nothing of the delivery', async () => {
      await add({ id: 'ep_a' });
      await end(1);
      const [due] = await claim('ep_a');
      const key = { id: due?.id ?? '', endpoint: 'ep_a' };
      await store.webhookEndpoints.remove(WALLET, 'ep_a');
      await store.outbox.release(key, 5);
      await store.outbox.attemptFailed(key, failedAttempt('no'), 5);
      await store.outbox.delivered(key, attemptRecord());
      // What was tried is in the log of attempts, and counted.
      expect(await log()).toMatchObject([{ state: 'canceled', attempts: 2, delivered_at: null }]);
      expect(await nextDueAt(store)).toBeNull();
    });

    test('a delivery is sent again to one endpoint or to all that are there, not to one that was deleted', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b' });
      await add({ id: 'ep_c' });
      await end(1);
      const [due] = await claim('ep_a');
      await store.webhookEndpoints.remove(WALLET, 'ep_c');
      const again = (endpoint: string | null) =>
        store.outbox.redeliver({ walletId: WALLET, nowMs: 5, id: due?.id ?? '', endpoint });
      expect([await again('ep_a'), await again(null), await again('ep_c')]).toEqual([1, 2, 0]);
      const since = { walletId: WALLET, nowMs: 5, sinceMs: 0, endpoint: null };
      expect(await store.outbox.redeliver(since)).toBe(2);
    });

    test('one with a time is renewed while that is not over, and deleted as by hand when it is', async () => {
      await add({ id: 'ep_a', expiresAtMs: 2_000 });
      await add({ id: 'ep_b' });
      await end(1);
      const renew = (id: string, nowMs: number, wallet = WALLET) =>
        store.webhookEndpoints.renew(wallet, id, { nowMs, expiresAtMs: nowMs + 1_000 });
      expect(await renew('ep_a', 1_500, OTHER)).toBeNull();
      expect(await renew('ep_a', 1_500)).toMatchObject({ id: 'ep_a', expiresAtMs: 2_500 });
      expect(await renew('ep_b', 1_500)).toMatchObject({ id: 'ep_b', expiresAtMs: null });
      expect(await store.webhookEndpoints.removeExpired(2_499)).toEqual([]);
      expect(await renew('ep_a', 2_500)).toBeNull();
      expect(await store.webhookEndpoints.removeExpired(2_500)).toEqual(['ep_a']);
      expect(await store.webhookEndpoints.removeExpired(1e15)).toEqual([]);
      const states = (await log()).map(({ endpoint, state }) => [endpoint, state]);
      expect(states.toSorted()).toEqual([
        ['ep_a', 'canceled'],
        ['ep_b', 'pending'],
      ]);
    });

    test('the list goes on behind one delivery, or behind all of a webhook-id', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b' });
      await end(1);
      await end(2);
      const page = async (before: { id: string; endpoint: string | null } | null, limit = 100) =>
        store.outbox.list({ walletId: WALLET, state: null, endpoint: null, limit, before });
      const all = await log();
      const [newest] = await page(null, 1);
      const { id = '', endpoint = '' } = newest ?? {};
      expect(await page({ id, endpoint })).toEqual(all.slice(1));
      expect(await page({ id, endpoint: null })).toEqual(all.slice(2));
    });

    test('every attempt is kept with what was sent and answered, and shown to its wallet alone', async () => {
      await add({ id: 'ep_a' });
      await add({ id: 'ep_b' });
      await end(1);
      const [due] = await claim('ep_a');
      const { id = '', body = '' } = due ?? {};
      const headers = { 'webhook-id': id, 'webhook-signature': 'v1,x' };
      const failed = attemptRecord({
        headers,
        httpStatus: 500,
        error: 'answered 500',
        durationMs: 7,
      });
      await store.outbox.attemptFailed({ id, endpoint: 'ep_a' }, failed, 20);
      await store.outbox.delivered({ id, endpoint: 'ep_b' }, attemptRecord({ headers }));
      const [first, second] = await attempts({ id });
      expect(first).toEqual({
        number: first?.number ?? 0,
        id,
        endpoint: 'ep_a',
        type: 'payment.finalized',
        index: payment(1).index,
        at: 10_000,
        duration_ms: 7,
        http_status: 500,
        error: 'answered 500',
        answer: 'ok',
        request: { headers, body },
      });
      expect(second).toMatchObject({ endpoint: 'ep_b', http_status: 200, error: null });
      expect(await attempts({ endpoint: 'ep_b' })).toEqual(second ? [second] : []);
      expect(await attempts({ id, after: first?.number ?? 0 })).toEqual(second ? [second] : []);
      const foreign = { walletId: OTHER, id, endpoint: null, after: 0, limit: 100 };
      expect(await store.outbox.attempts(foreign)).toEqual([]);
    });

    test('of a delivery the newest 20 attempts are kept, and none when it is pruned', async () => {
      await add({ id: 'ep_a' });
      await end(1);
      await end(2);
      const [one, two] = await claim('ep_a');
      const key = { id: one?.id ?? '', endpoint: 'ep_a' };
      const other = { id: two?.id ?? '', endpoint: 'ep_a' };
      await store.outbox.attemptFailed(other, failedAttempt('kept'), null);
      for (let number = 1; number <= 25; number++) {
        await store.outbox.attemptFailed(key, failedAttempt(`${number}`), null);
      }
      const errors = async () => (await attempts({ endpoint: 'ep_a' })).map(({ error }) => error);
      const newest = Array.from({ length: 20 }, (_, at) => `${at + 6}`);
      expect(await errors()).toEqual(['kept', ...newest]);
      await store.outbox.prune({ beforeMs: 0, least: 0, most: 1, mostAttempts: 100 });
      expect(await errors()).toHaveLength(one && two && (await log())[0]?.id === one.id ? 20 : 1);
      await store.outbox.prune({ beforeMs: 1e15, least: 0, most: 0, mostAttempts: 100 });
      expect(await errors()).toEqual([]);
    });

    test('the oldest attempts beyond a count are deleted, and their deliveries stay', async () => {
      await add({ id: 'ep_a' });
      for (const number of [1, 2, 3]) await end(number);
      for (const { id } of await claim('ep_a')) {
        await store.outbox.delivered({ id, endpoint: 'ep_a' }, attemptRecord());
      }
      const all = await attempts({ endpoint: 'ep_a' });
      await store.outbox.prune({ beforeMs: 0, least: 0, most: 100, mostAttempts: 2 });
      expect(await attempts({ endpoint: 'ep_a' })).toEqual(all.slice(1));
      expect(await log()).toHaveLength(3);
    });
  });
}
