import { describe, expect, test } from 'bun:test';
import type { Budget } from '../../src/model/clients/budget.ts';
import { budgetOf, columnsOfBudget } from '../../src/store/columns/budget.ts';
import { clientOf, columnsOfClient } from '../../src/store/columns/client.ts';
import {
  boundTo,
  finished,
  gone,
  isFree,
  type KeyRow,
  named,
  newKeyRow,
  stateOf,
  unboundFrom,
  unnamed,
} from '../../src/store/columns/idempotency.ts';
import { columnsOfJournal, journalRowOf } from '../../src/store/columns/journal.ts';
import { asked, columnsOfSpend, known, spendOf } from '../../src/store/columns/spend.ts';
import { withoutCopies } from '../../src/store/columns/spending.ts';
import {
  columnsOfEndpoint,
  endpointOf,
  renewed,
} from '../../src/store/columns/webhook-endpoint.ts';
import type { Spend } from '../../src/store/ports.ts';
import { SIGNED } from '../../src/store/signed-tables.ts';
import { endpointRecord } from '../support/delivery-steps.ts';
import { samplePayment } from '../support/sample-payment.ts';
import { clientRecord, newSpend, WALLET } from '../support/store-steps.ts';

const payment = samplePayment(1);
const { index } = payment;

describe('what is written to the columns of a row is read from them', () => {
  test('of a budget, with and without a most of one payment', () => {
    for (const maxPaymentMsat of [null, 0n, 5n]) {
      const budget: Budget = { amountMsat: 2n ** 70n, period: 'week', maxPaymentMsat };
      const row = { budget, sums: new Map([[10, 3n]]) };
      const columns = columnsOfBudget(WALLET, 'pk', row);
      expect(columns.max_payment_msat).toBe(maxPaymentMsat === null ? null : `${maxPaymentMsat}`);
      expect(budgetOf(columns)).toEqual(row);
    }
  });

  test('of a client, with and without a token', () => {
    for (const token of [null, { id: '1', token: 'aa', exposed: true }]) {
      const record = clientRecord({ token, endedTokenIds: ['4'], permissions: ['create_offer'] });
      const columns = columnsOfClient(record);
      expect(columns.token === null).toBe(token === null);
      expect(clientOf(columns)).toEqual(record);
    }
  });

  test('of a payment of the journal, whose updated_at is -1 while readers are not shown it', () => {
    for (const isHidden of [false, true]) {
      const row = { payment, attempt: 3, afterAttempt: 2, isHidden };
      const columns = columnsOfJournal(WALLET, row);
      expect(columns.updated_at).toBe(isHidden ? -1 : payment.updatedAtMs);
      expect(journalRowOf(columns)).toEqual(row);
    }
    const { isHidden, ...shown } = { payment, attempt: null, afterAttempt: null, isHidden: false };
    expect(journalRowOf(columnsOfJournal(WALLET, shown))).toEqual({ ...shown, isHidden });
    const first = { ...columnsOfJournal(WALLET, shown), updated_at: 0 };
    expect(journalRowOf(first).isHidden).toBe(false);
  });

  test('of a spend', () => {
    const { journaled, reservation, previous, ...begun } = newSpend(payment, { plan: 'p' });
    const spend = { ...begun, walletId: WALLET, attempt: 4, afterAttempt: 3 };
    expect(spendOf(columnsOfSpend(spend), 'lni1')).toEqual({ ...spend, fetchedInvoice: 'lni1' });
  });

  test('of an endpoint', () => {
    const endpoint = endpointRecord();
    expect(endpointOf(columnsOfEndpoint(endpoint))).toEqual(endpoint);
  });

  test('of a key, in the order of its columns', () => {
    const row = newKeyRow({ walletId: WALLET, caller: 'c', key: 'k' }, 'f', 7);
    const { key, columns } = SIGNED.idempotency;
    expect(Object.keys(row)).toEqual([...key, ...columns]);
  });
});

describe('a spend', () => {
  const given = { ...newSpend(payment, { state: 'begun' }), walletId: WALLET, attempt: null };
  const begun = spendOf(columnsOfSpend(given), null) as Spend;

  test('that is begun is asked with what is sent, and what was asked stays known', () => {
    expect(asked(begun, 'p')).toEqual({ ...begun, state: 'asked', plan: 'p' });
    expect(asked({ ...begun, plan: 'q' }, null).plan).toBe('q');
    expect(asked({ ...begun, state: 'known' }, 'p').state).toBe('known');
    expect(asked({ ...begun, state: 'asked' }, 'p').state).toBe('asked');
  });

  test('that the node shows is known by its first attempt, and changes no more', () => {
    expect(known(begun, 5)).toEqual({ ...begun, state: 'known', attempt: 5 });
    expect(known({ ...begun, state: 'known' }, 5)?.attempt).toBe(5);
    expect(known({ ...begun, attempt: 4 }, 5)).toEqual({ ...begun, state: 'known', attempt: 4 });
    expect(known({ ...begun, state: 'known', attempt: 4 }, 5)).toBeNull();
    expect(known(begun, null)).toEqual({ ...begun, state: 'known', attempt: null });
  });
});

test('copies of a row count once, and rows without a MAC all', () => {
  const row = (mac: string | null, at: number) => ({ mac, at });
  const rows = [row('a', 1), row('b', 2), row('a', 3), row(null, 4), row(null, 5), row('b', 6)];
  expect(withoutCopies(rows).map(({ at }) => at)).toEqual([1, 2, 4, 5]);
});

describe('an endpoint is renewed', () => {
  const at = { nowMs: 10, expiresAtMs: 99 };
  const endpoint = { ...endpointRecord(), walletId: WALLET, expiresAtMs: 11 };

  test('while it is not over, and only by its own wallet', () => {
    expect(renewed(endpoint, WALLET, at)).toEqual({ ...endpoint, expiresAtMs: 99 });
    expect(renewed({ ...endpoint, expiresAtMs: 10 }, WALLET, at)).toBeNull();
    expect(renewed(endpoint, 'another', at)).toBeNull();
    expect(renewed(null, WALLET, at)).toBeNull();
  });

  test('to no end where it has none', () => {
    const lasting = { ...endpoint, expiresAtMs: null };
    expect(renewed(lasting, WALLET, at)).toEqual(lasting);
  });
});

describe('an Idempotency-Key', () => {
  const other = samplePayment(2).index;
  const fresh = newKeyRow({ walletId: WALLET, caller: 'owner', key: 'k' }, 'f', 1);
  const outcome = { httpStatus: 200, body: '{}', subject: 'pk' };
  const done = finished({ ...fresh, gone: 1 }, outcome, false);

  test('is free until its request has made, named or answered something', () => {
    expect(isFree(fresh)).toBe(true);
    for (const used of [{ idx: index }, { effect: 'e' }, { body: '{}' }, { gone: 1 }]) {
      expect(isFree({ ...fresh, ...used })).toBe(false);
    }
  });

  test('is unbound from its own payment alone, and is then no other caller’s', () => {
    const bound: KeyRow = { ...boundTo(fresh, index), any_caller: 1 };
    expect(bound.idx).toBe(index);
    expect(unboundFrom(bound, other)).toBe(bound);
    expect(unboundFrom(bound, index)).toEqual(fresh);
  });

  test('is bound to the payment that its effect is about, and otherwise stays bound', () => {
    expect(named(fresh, 'e', index)).toEqual({ ...fresh, effect: 'e', idx: index });
    expect(named(boundTo(fresh, index), 'e', null).idx).toBe(index);
    expect(named(boundTo(fresh, index), 'e', other).idx).toBe(other);
  });

  test('loses the name of its effect, and its payment unless the spend is open', () => {
    const used = named(fresh, 'e', index);
    expect(unnamed(used, false)).toEqual(fresh);
    expect(unnamed(used, true)).toEqual({ ...fresh, idx: index });
    for (const over of [
      { ...used, body: '{}' },
      { ...used, gone: 1 },
    ]) {
      expect(unnamed(over, false)).toBe(over);
    }
  });

  test('keeps its outcome, and only that it had one where the client of it was revoked', () => {
    expect(done).toEqual({ ...fresh, subject: 'pk', http_status: 200, body: '{}' });
    expect(finished(fresh, outcome, true)).toEqual({ ...fresh, subject: 'pk', gone: 1 });
    expect(gone(done)).toEqual({ ...fresh, subject: 'pk', gone: 1 });
  });

  test('answers a request of one of its fingerprints alone', () => {
    expect(stateOf(done, ['g', undefined])).toEqual({ state: 'conflict' });
    expect(stateOf(gone(done), ['g'])).toEqual({ state: 'conflict' });
    expect(stateOf(done, ['g', 'f'])).toEqual({ state: 'done', httpStatus: 200, body: '{}' });
    expect(stateOf(gone(done), ['f'])).toEqual({ state: 'gone' });
  });

  test('is running until it has both parts of an outcome, and says where it is any caller’s', () => {
    const running = { state: 'running', index: null, effect: null } as const;
    expect(stateOf(fresh, ['f'])).toEqual(running);
    expect(stateOf({ ...fresh, http_status: 200 }, ['f'])).toEqual(running);
    expect(stateOf({ ...fresh, body: '{}' }, ['f'])).toEqual(running);
    expect(stateOf({ ...fresh, any_caller: 1 }, ['f'])).toEqual({ ...running, ofAnyCaller: true });
    expect(stateOf({ ...done, any_caller: 1 }, ['f'])).toMatchObject({ ofAnyCaller: true });
  });
});
