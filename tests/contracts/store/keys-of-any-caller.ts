import { afterEach, describe, expect, test } from 'bun:test';
import type { KeyScope, Store } from '../../../src/store/ports.ts';
import { periodStart } from '../../../src/wallet/budget/budget.ts';
import { samplePayment } from '../../support/sample-payment.ts';
import { CLIENT, fits, newSpend, WALLET } from '../../support/store-steps.ts';
import type { OpenedStore } from '../store.ts';

/** Keys of which it is not known whose they are (docs/decisions.md 148): {@link IdempotencyStore}. */
export function keysOfAnyCallerContract(open: () => Promise<OpenedStore>): void {
  describe('keys of any caller', () => {
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    const owners = (key: string): KeyScope => ({ walletId: WALLET, caller: 'owner', key });
    const clients = (key: string): KeyScope => ({ ...owners(key), caller: CLIENT });
    const one = samplePayment(1);
    const done = { state: 'done', httpStatus: 200, body: '{"a":1}' } as const;
    const begun = { state: 'running', index: null, effect: null } as const;

    /** A store with a finished key, one bound to a payment, and one that the client has too; null without a file. */
    async function upgraded() {
      const { store, forgetCallers } = await open();
      opened.push(store);
      const { idempotency } = store;
      const begin = (scope: KeyScope, print = 'a') => idempotency.begin(scope, print, 1);
      const finish = (scope: KeyScope, body: string) =>
        idempotency.finish(scope, { httpStatus: 200, body, subject: null });
      for (const key of ['done', 'bound', 'both']) await begin(owners(key));
      await finish(owners('done'), '{"a":1}');
      await finish(owners('both'), '{"a":1}');
      await store.spends.begin(WALLET, newSpend(one, { idempotencyKey: 'bound' }), fits);
      await begin(clients('both'), 'b');
      await forgetCallers?.();
      return forgetCallers ? { store, begin, finish } : null;
    }

    test('are met by every caller of the wallet, with the same request', async () => {
      const world = await upgraded();
      if (world === null) return;
      const { begin } = world;
      for (const of of [owners, clients]) {
        expect(await begin(of('done'))).toEqual({ ...done, ofAnyCaller: true });
        const running = { ...begun, index: one.index, ofAnyCaller: true } as const;
        expect(await begin(of('bound'))).toEqual(running);
        for (const key of ['done', 'bound']) {
          expect(await begin(of(key), 'b')).toEqual({ state: 'conflict' });
        }
      }
      const elsewhere = { ...clients('done'), walletId: 'cd'.repeat(32) };
      expect(await begin(elsewhere)).toEqual({ state: 'new' });
    });

    test("come after the caller's own", async () => {
      const world = await upgraded();
      if (world === null) return;
      const { begin, finish } = world;
      expect(await begin(clients('both'))).toEqual({ state: 'conflict' });
      expect(await begin(clients('both'), 'b')).toEqual(begun);
      await finish(clients('both'), '{"b":1}');
      expect(await begin(owners('both'))).toMatchObject(done);
    });

    test('keep their outcome when a client meets them', async () => {
      const world = await upgraded();
      if (world === null) return;
      const { begin, finish, store } = world;
      expect(await store.idempotency.isUsed(clients('done'))).toBe(true);
      await begin(clients('done'));
      await finish(clients('done'), '{"b":1}');
      await store.idempotency.release(clients('done'));
      expect(await begin(clients('done'))).toMatchObject(done);
    });

    test('are free for every caller when their payment was certainly not sent', async () => {
      const world = await upgraded();
      if (world === null) return;
      const { begin, store } = world;
      await store.spends.abandon(WALLET, one.index, periodStart);
      expect(await begin(clients('bound'))).toEqual({ state: 'new' });
      expect(await begin(owners('bound'), 'b')).toEqual({ state: 'conflict' });
      expect(await begin(owners('bound'))).toEqual(begun);
    });
  });
}
