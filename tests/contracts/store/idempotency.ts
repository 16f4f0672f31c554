import { beforeEach, describe, expect, test } from 'bun:test';
import type { KeyScope, Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { throwing } from '../../support/rejection.ts';
import { sampleDone, samplePayment } from '../../support/sample-payment.ts';
import {
  CLIENT,
  clientRecord,
  fits,
  newSpend,
  observe,
  WALLET,
} from '../../support/store-steps.ts';

/** Outcomes by Idempotency-Key: {@link IdempotencyStore}. */
export function idempotencyContract(open: () => Promise<Store>): void {
  describe('idempotency', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    const scope = (caller = 'owner', key = 'k', walletId = WALLET): KeyScope => ({
      walletId,
      caller,
      key,
    });
    const begin = (of = scope(), print = 'a') => store.idempotency.begin(of, print, 1);
    const finish = (of = scope(), subject: string | null = null) =>
      store.idempotency.finish(of, { httpStatus: 200, body: '{"a":1}', subject });
    const forget = (clientPk: string) =>
      store.clients.change(WALLET, () => ({
        records: [clientRecord({ clientPk, revokedAtMs: 5 })],
        budgets: [],
      }));

    test('a key is new, running, done or in conflict', async () => {
      expect(await begin()).toEqual({ state: 'new' });
      expect(await begin(scope(), 'b')).toEqual({ state: 'conflict' });
      expect(await begin()).toEqual({ state: 'running', index: null, effect: null });
      await finish();
      expect(await begin()).toEqual({ state: 'done', httpStatus: 200, body: '{"a":1}' });
    });

    test('a key is used from its claim on, by its caller alone, until it is released', async () => {
      const isUsed = (of = scope()) => store.idempotency.isUsed(of);
      expect(await isUsed()).toBe(false);
      await begin();
      expect(await isUsed()).toBe(true);
      expect(await isUsed(scope(CLIENT))).toBe(false);
      expect(await isUsed(scope('owner', 'other'))).toBe(false);
      await store.idempotency.release(scope());
      expect(await isUsed()).toBe(false);
      await begin();
      await finish();
      await store.idempotency.release(scope());
      expect(await isUsed()).toBe(true);
    });

    test('keys of different callers and wallets never meet', async () => {
      const scopes = [scope(), scope(CLIENT), scope('owner', 'k', 'cd'.repeat(32))];
      for (const of of scopes)
        expect(await begin(of, of.caller + of.walletId)).toEqual({ state: 'new' });
      await finish(scope(CLIENT));
      expect(await begin(scope(), `owner${WALLET}`)).toMatchObject({ state: 'running' });
      const one = samplePayment(1);
      await store.spends.begin(
        WALLET,
        newSpend(one, { caller: CLIENT, idempotencyKey: 'k' }),
        fits,
      );
      expect(await begin(scope(), `owner${WALLET}`)).toMatchObject({ index: null });
    });

    test('a key without payment or effect is released; a bound or named one is kept', async () => {
      await begin();
      await store.idempotency.release(scope());
      expect(await begin()).toEqual({ state: 'new' });
      const one = samplePayment(1);
      await store.spends.begin(WALLET, newSpend(one, { idempotencyKey: 'k' }), fits);
      await store.idempotency.release(scope());
      expect(await begin()).toEqual({ state: 'running', index: one.index, effect: null });
      await store.spends.abandon(WALLET, one.index, periodStart);
      await store.idempotency.release(scope());
      expect(await begin()).toEqual({ state: 'new' });
      await store.idempotency.name(scope(), { json: '{"client":"x"}', index: null });
      await store.idempotency.release(scope());
      expect(await begin()).toEqual({ state: 'running', index: null, effect: '{"client":"x"}' });
    });

    test('an effect that did not happen is unnamed and its key is free, but never that of an unfinished send', async () => {
      await begin();
      await store.idempotency.name(scope(), { json: '{}', index: samplePayment(1).index });
      await store.idempotency.unname(scope());
      expect(await begin()).toEqual({ state: 'new' });
      const one = samplePayment(1);
      await store.idempotency.name(scope(), { json: '{}', index: one.index });
      await store.spends.begin(WALLET, newSpend(one, { idempotencyKey: 'k' }), fits);
      await store.idempotency.unname(scope());
      expect(await begin()).toEqual({ state: 'running', index: one.index, effect: null });
    });

    test('an effect is not named for a key that is not kept, since a repeat would not know of it', async () => {
      const named = store.idempotency.name(scope(), { json: '{}', index: null });
      expect(await throwing(named)).toThrow('not stored');
    });

    test('the outcomes of an ended client go with it: its own calls, and the body that holds its credentials', async () => {
      const byParent = scope('owner', 'create');
      await begin(byParent);
      await finish(byParent, CLIENT);
      await begin(scope(CLIENT));
      await finish(scope(CLIENT));
      await begin(scope('owner', 'other'));
      await finish(scope('owner', 'other'), 'cd'.repeat(32));
      await forget(CLIENT);
      expect(await begin(byParent)).toEqual({ state: 'gone' });
      expect(await begin(byParent, 'b')).toEqual({ state: 'conflict' });
      expect(await begin(scope(CLIENT))).toEqual({ state: 'new' });
      expect(await begin(scope('owner', 'other'))).toMatchObject({ state: 'done' });
    });

    test('an outcome that arrives after its client was revoked is not kept', async () => {
      await begin();
      await store.clients.change(WALLET, () => ({
        records: [clientRecord({ revokedAtMs: 5 })],
        budgets: [],
      }));
      await finish(scope(), CLIENT);
      expect(await begin()).toEqual({ state: 'gone' });
    });

    test('old keys go, but not the newest, and not those of a send that is not over', async () => {
      const one = samplePayment(1);
      for (const key of ['old', 'bound', 'new']) await begin(scope('owner', key));
      await store.spends.begin(WALLET, newSpend(one, { idempotencyKey: 'bound' }), fits);
      await store.idempotency.begin(scope('owner', 'newest'), 'a', 2);
      await store.idempotency.prune({ beforeMs: 3, keep: 1 });
      expect(await begin(scope('owner', 'old'))).toEqual({ state: 'new' });
      expect(await begin(scope('owner', 'newest'))).toMatchObject({ state: 'running' });
      expect(await begin(scope('owner', 'bound'))).toMatchObject({ index: one.index });
      await observe(store, [sampleDone(1)], { journaled: true });
      await store.idempotency.prune({ beforeMs: 3, keep: 0 });
      expect(await begin(scope('owner', 'bound'))).toEqual({ state: 'new' });
    });
  });
}
