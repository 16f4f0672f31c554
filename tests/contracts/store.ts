import { afterEach, describe, expect, test } from 'bun:test';
import { updatedIndexOf } from '../../src/model/payment.ts';
import type { Store } from '../../src/store/ports.ts';
import { leaseFrom } from '../../src/webhooks/lease.ts';
import { claimConfigured, endpointRecord } from '../support/delivery-steps.ts';
import { sampleDone, samplePayment } from '../support/sample-payment.ts';
import { clientRecord, countOf, fits, newSpend, observe, WALLET } from '../support/store-steps.ts';
import { attemptContract } from './store/attempts.ts';
import { budgetContract } from './store/budgets.ts';
import { cacheContract } from './store/cache.ts';
import { clientContract } from './store/clients.ts';
import { connectorStateContract } from './store/connector-state.ts';
import { damagedSpendContract } from './store/damaged-spends.ts';
import { givingWayContract } from './store/giving-way.ts';
import { idempotencyContract } from './store/idempotency.ts';
import { identityContract } from './store/identity.ts';
import { issuedOfferContract } from './store/issued-offers.ts';
import { journalContract } from './store/journal.ts';
import { keysOfAnyCallerContract } from './store/keys-of-any-caller.ts';
import { madeContract } from './store/made.ts';
import { makerContract } from './store/makers.ts';
import { nameContract, nameRecord } from './store/names.ts';
import { observationContract } from './store/observations.ts';
import { outboxContract } from './store/outbox.ts';
import { pairingContract } from './store/pairings.ts';
import { refundContract } from './store/refunds.ts';
import { searchContract } from './store/search.ts';
import { spendContract } from './store/spends.ts';
import { unansweredContract } from './store/unanswered.ts';
import { watchContract } from './store/watches.ts';
import { webhookEndpointContract } from './store/webhook-endpoints.ts';

/** An empty store, opened for one test. */
export interface OpenedStore {
  readonly store: Store;
  /** Opens once more what is kept after {@link store} was closed; null where nothing is kept. */
  readonly reopen: (() => Promise<Store>) | null;
  /** Makes every Idempotency-Key of the owner one of any caller; absent where only the store itself can write. */
  readonly forgetCallers?: () => Promise<void>;
  /** Writes another text in the place of a spend's payment; absent where only the store itself can write. */
  readonly damageSpend?: (index: string, text: string) => Promise<void>;
}

/**
 * What every store must do (src/store/ports.ts), whatever it is made of. A store that is slow to open has a `runsShare`
 * of less than 1, and `emptied` returns one that was open before and has no row any more: its identity and the time of
 * its newest update go on from before.
 */
export function storeContract(
  name: string,
  open: () => Promise<OpenedStore>,
  { runsShare = 1, emptied = open }: { runsShare?: number; emptied?: typeof open } = {},
): void {
  describe(`the store ${name}`, () => {
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    const opens = (from: typeof open) => async () => {
      const { store } = await from();
      opened.push(store);
      return store;
    };
    const openStore = opens(emptied);
    const openNew = opens(open);
    cacheContract(openStore);
    searchContract(openStore, runsShare);
    madeContract(openStore, runsShare);
    observationContract(openStore);
    journalContract(openStore);
    spendContract(openStore);
    refundContract(openStore);
    damagedSpendContract(emptied);
    attemptContract(openNew);
    givingWayContract(openStore);
    unansweredContract(openNew);
    watchContract(openStore);
    issuedOfferContract(openStore);
    webhookEndpointContract(openStore);
    makerContract(openStore);
    nameContract(openStore);
    clientContract(openStore);
    outboxContract(openStore);
    idempotencyContract(openStore);
    keysOfAnyCallerContract(emptied);
    budgetContract(openStore, runsShare);
    connectorStateContract(openStore);
    pairingContract(openStore);
    identityContract(openNew);
    durabilityContract(open);
  });
}

/** What every store must still know that keeps anything beyond its closing. */
function durabilityContract(open: () => Promise<OpenedStore>): void {
  test('everything written is there when it is opened again, where anything is kept', async () => {
    const { store, reopen } = await open();
    await store.cache.apply(WALLET, [samplePayment(1)], updatedIndexOf(samplePayment(1)));
    await store.clients.change(WALLET, () => ({ records: [clientRecord()], budgets: [] }));
    await store.spends.begin(WALLET, newSpend(samplePayment(1)), fits);
    await store.spends.begin(WALLET, newSpend(samplePayment(2)), fits);
    await observe(store, [sampleDone(2)], { journaled: true, cursor: 'c1' });
    await store.idempotency.begin({ walletId: WALLET, caller: 'owner', key: 'k' }, 'a', 1);
    await store.connectorState.put(WALLET, 'lnd', 'a', 1);
    await store.names.claim(WALLET, 'satoshi', () => nameRecord());
    await store.webhookEndpoints.add(endpointRecord(), 1);
    const { id, secret } = store.identity;
    const { count } = await store.identity.advance();
    await store.close();
    if (reopen === null) return;
    const again = await reopen();
    expect(again.identity).toMatchObject({ id, secret });
    expect(await countOf(again)).toBe(count);
    expect(await again.cache.cursor(WALLET)).toBe(updatedIndexOf(samplePayment(1)));
    expect(await again.clients.list(WALLET)).toEqual([clientRecord()]);
    expect(await again.spends.unfinished(WALLET)).toMatchObject([{ payment: samplePayment(1) }]);
    expect(await again.journal.open(WALLET)).toEqual([samplePayment(1)]);
    expect(await again.observations.cursor(WALLET)).toBe('c1');
    expect(await again.watches.wallets()).toEqual([WALLET]);
    expect(await claimConfigured(again, { ...leaseFrom(10_000, 1000), limit: 5 })).toHaveLength(1);
    expect(
      await again.idempotency.begin({ walletId: WALLET, caller: 'owner', key: 'k' }, 'a', 1),
    ).toMatchObject({ state: 'running' });
    expect(await again.connectorState.get(WALLET, 'lnd', 'a')).toBe(1);
    expect(await again.names.find('satoshi')).toEqual(nameRecord());
    expect(await again.webhookEndpoints.list(WALLET)).toEqual([endpointRecord()]);
    await again.close();
  });
}
