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
  });
}
