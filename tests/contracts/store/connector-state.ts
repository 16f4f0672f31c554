import { beforeEach, describe, expect, test } from 'bun:test';
import type { Store } from '../../../src/store/ports.ts';
import { WALLET } from '../../support/store-steps.ts';

/** What connectors keep: {@link ConnectorState}. */
export function connectorStateContract(open: () => Promise<Store>): void {
  describe('connector state', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });

    test('is what was put last, by wallet, kind and key, and null before', async () => {
      const state = () => store.connectorState;
      expect(await state().get(WALLET, 'lnd', 'a')).toBeNull();
      await state().put(WALLET, 'lnd', 'a', { one: [1, null, 'x'] });
      await state().put(WALLET, 'lnd', 'b', 2);
      await state().put(WALLET, 'sandbox', 'a', 3);
      await state().put('cd'.repeat(32), 'lnd', 'a', 4);
      expect(await state().get(WALLET, 'lnd', 'a')).toEqual({ one: [1, null, 'x'] });
      await state().put(WALLET, 'lnd', 'a', null);
      expect(await state().get(WALLET, 'lnd', 'a')).toBeNull();
      expect(await state().get(WALLET, 'lnd', 'b')).toBe(2);
      expect(await state().get(WALLET, 'sandbox', 'a')).toBe(3);
      expect(await state().get('cd'.repeat(32), 'lnd', 'a')).toBe(4);
    });

    test('of values that are put first, side by side too, one is kept and told to all', async () => {
      const put = (value: unknown, wallet = WALLET) =>
        store.connectorState.putFirst(wallet, 'paywall', 'a', value);
      const [one, ...others] = await Promise.all([put('x'), put('y'), put('z')]);
      expect(['x', 'y', 'z']).toContain(one as string);
      expect(others).toEqual([one, one]);
      expect(await put('late')).toBe(one);
      expect(await store.connectorState.get(WALLET, 'paywall', 'a')).toBe(one);
      expect(await put('own', 'cd'.repeat(32))).toBe('own');
      await store.connectorState.put(WALLET, 'paywall', 'a', null);
      expect(await put('again')).toBe('again');
    });

    test('is listed by kind and key, and changed or removed only where it is', async () => {
      const { connectorState: state } = store;
      const change = (key: string, to: (value: unknown) => unknown) =>
        state.change(WALLET, 'device', key, to);
      await state.put(WALLET, 'device', 'b', 2);
      await state.put(WALLET, 'device', 'a', { one: 1 });
      await state.put(WALLET, 'device', 'gone', null);
      await state.put(WALLET, 'other', 'c', 3);
      await state.put('cd'.repeat(32), 'device', 'd', 4);
      const listed = async () => [...(await state.list(WALLET, 'device'))];
      expect(await listed()).toEqual([
        ['a', { one: 1 }],
        ['b', 2],
      ]);
      await change('a', (value) => ({ ...Object(value), two: 2 }));
      await change('b', () => null);
      for (const key of ['b', 'gone', 'never']) await change(key, () => 'back');
      expect(await listed()).toEqual([['a', { one: 1, two: 2 }]]);
      expect(await state.get(WALLET, 'device', 'b')).toBeNull();
    });
  });
}
