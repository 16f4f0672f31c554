import { beforeEach, describe, expect, test } from 'bun:test';
import { encodeClientCredentials } from '../../../src/model/credentials.ts';
import { openPairings } from '../../../src/nwc/pairings.ts';
import type { Store } from '../../../src/store/ports.ts';
import { CLIENT, clientRecord, WALLET } from '../../support/store-steps.ts';

/** What Nostr Wallet Connect keeps in a store (docs/decisions.md 200). */
export function pairingContract(open: () => Promise<Store>): void {
  describe('pairings', () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    const credentialsOf = (client: string) =>
      encodeClientCredentials({ client, secret: 'ab'.repeat(32) });

    test('are kept as they were first made, have keys of their own, and are gone when they are removed', async () => {
      const pairings = openPairings(store);
      const add = (client: string, relay = 'wss://relay.example') =>
        pairings.add(credentialsOf(client), { relays: [relay] });
      const [first, other] = [await add('01'.repeat(32)), await add('02'.repeat(32))];
      expect(await add('01'.repeat(32), 'wss://later.example')).toBe(first);
      expect(new URL(first).host).not.toBe(new URL(other).host);
      expect((await pairings.list()).map(({ clientPk }) => clientPk)).toEqual([
        '01'.repeat(32),
        '02'.repeat(32),
      ]);
      await pairings.remove('01'.repeat(32));
      expect(await pairings.list()).toHaveLength(1);
    });

    test('a refused key is used up for the client alone, whatever the request is', async () => {
      const pairings = openPairings(store);
      const records = [clientRecord()];
      await store.clients.change(WALLET, () => ({ records, budgets: [] }));
      await pairings.refuse(CLIENT, 'id', 1);
      const claim = (caller: string) =>
        store.idempotency.begin({ walletId: WALLET, caller, key: 'id' }, 'print', 2, 'print');
      expect((await claim(CLIENT)).state).toBe('conflict');
      expect((await claim('another')).state).toBe('new');
    });
  });
}
