import { describe, expect, test } from 'bun:test';
import { fromMsat } from '../../../src/client/index.ts';
import {
  type ClientForm,
  createRequest,
  EMPTY_FORM,
  formOf,
  updateRequest,
  wrongIn,
} from '../../../src/console/values/client-form.ts';
import { endOfDayMs, lastDay, renewedMs } from '../../../src/console/values/expiry.ts';
import { percentOf } from '../../../src/console/values/sats.ts';
import { someBudget, someClient } from './some-client.ts';

const sats = (count: bigint) => fromMsat(count * 1000n);
const form = (more: Partial<ClientForm>): ClientForm => ({ ...EMPTY_FORM, ...more });
const NOTHING_WRONG = {
  grant: false,
  amount: false,
  maxPayment: false,
  approveAbove: false,
  lastDay: false,
};
/** Noon of 2027-01-31 on this machine, by somebody whose own payments do not wait. */
const LIMITS = { nowMs: new Date(2027, 0, 31, 12).getTime(), approveAbove: null };

describe('a new client', () => {
  test('is what the form says', () => {
    const spender = form({
      label: ' Shop ',
      scopes: ['send'],
      amount: '5,000',
      period: 'week',
      maxPayment: '0.5',
    });
    expect(wrongIn(spender, LIMITS)).toEqual(NOTHING_WRONG);
    expect(createRequest(spender, null)).toEqual({
      label: 'Shop',
      scopes: ['send'],
      budget: { amount: sats(5000n), period: 'week', max_payment: '0.5' as never },
    });
  });

  test('is paired with an app over the typed relay, or without one over those of the sidecar', () => {
    const reader = form({ scopes: ['read_info'], relay: ' wss://relay.example ' });
    expect(createRequest(reader, null).nwc).toBeUndefined();
    const paired = { ...reader, isPaired: true };
    expect(createRequest(paired, null).nwc).toEqual({ relays: ['wss://relay.example'] });
    expect(createRequest({ ...paired, relay: '' }, null).nwc).toEqual({});
  });

  test('that spends nothing has no budget, and needs none', () => {
    const reader = form({ scopes: ['read_info'] });
    expect(wrongIn(reader, LIMITS)).toEqual(NOTHING_WRONG);
    expect(createRequest(reader, null)).toEqual({ scopes: ['read_info'] });
  });

  test('that spends needs an amount, unless the limit is taken away', () => {
    expect(wrongIn(form({ scopes: ['full'] }), LIMITS).amount).toBe(true);
    expect(wrongIn(form({ scopes: ['full'], amount: '0' }), LIMITS).amount).toBe(true);
    expect(
      wrongIn(form({ scopes: ['full'], amount: '1', maxPayment: 'x' }), LIMITS).maxPayment,
    ).toBe(true);
    const free = form({ scopes: ['full'], hasBudget: false });
    expect(wrongIn(free, LIMITS)).toEqual(NOTHING_WRONG);
    expect(createRequest(free, null)).toEqual({ scopes: ['full'] });
  });

  test('has its payments wait above the cost of the form, also every payment (docs/decisions.md 187)', () => {
    const asks = form({ scopes: ['send'], hasBudget: false, approveAbove: '1,500' });
    expect(wrongIn(asks, LIMITS)).toEqual(NOTHING_WRONG);
    expect(createRequest(asks, null)).toEqual({ scopes: ['send'], approve_above: sats(1500n) });
    expect(createRequest({ ...asks, approveAbove: '0' }, null).approve_above).toBe(sats(0n));
    expect(wrongIn({ ...asks, approveAbove: 'x' }, LIMITS).approveAbove).toBe(true);
    const reader = form({ scopes: ['read_info'], approveAbove: 'x' });
    expect(wrongIn(reader, LIMITS)).toEqual(NOTHING_WRONG);
    expect(createRequest(reader, null)).toEqual({ scopes: ['read_info'] });
  });

  test('waits above no higher cost than the one who makes it', () => {
    const bound = { ...LIMITS, approveAbove: sats(500n) };
    const isWrong = (approveAbove: string) =>
      wrongIn(form({ scopes: ['send'], hasBudget: false, approveAbove }), bound).approveAbove;
    expect(['500', '0', '500.001', ''].map(isWrong)).toEqual([false, false, true, true]);
  });

  test('whose last day is over is wrong, and today is not', () => {
    const isWrong = (lastDay: string) => wrongIn(form({ lastDay }), LIMITS).lastDay;
    expect(['2027-01-30', '2027-01-31', ''].map(isWrong)).toEqual([true, false, false]);
    const midnight = { ...LIMITS, nowMs: new Date(2027, 1, 1).getTime() };
    expect(wrongIn(form({ lastDay: '2027-01-31' }), midnight).lastDay).toBe(true);
  });

  test('that may do nothing is wrong', () => {
    expect(wrongIn(form({ scopes: [] }), LIMITS).grant).toBe(true);
    expect(wrongIn(form({ scopes: [], permissions: ['create_invoice'] }), LIMITS).grant).toBe(
      false,
    );
  });

  test('does not outlive the one who makes it (docs/decisions.md 61)', () => {
    expect(createRequest(form({ scopes: ['receive'] }), 5000).expires_at).toBe(5000);
    expect(createRequest(form({ lastDay: '2100-01-01' }), 5000).expires_at).toBe(5000);
  });
});

describe('a changed client', () => {
  const client = someClient({
    scopes: ['send'],
    permissions: ['create_invoice'],
    budget: someBudget({ max_payment: sats(1500n) }),
    expires_at: new Date(2100, 0, 1, 15, 30).getTime(),
  });
  const start = formOf(client);

  test('keeps what was left as it is', () => {
    expect(updateRequest(client, start, null)).toEqual({ client_pk: client.client_pk ?? '' });
  });

  test('keeps its single permissions where its scopes change, since both are replaced together', () => {
    expect(updateRequest(client, { ...start, scopes: ['send', 'receive'] }, null)).toEqual({
      client_pk: client.client_pk ?? '',
      scopes: ['send', 'receive'],
      permissions: ['create_invoice'],
    });
  });

  test('loses what was taken away', () => {
    const bare = { ...start, label: '', lastDay: '', hasBudget: false, permissions: [] };
    expect(updateRequest(client, bare, null)).toEqual({
      client_pk: client.client_pk ?? '',
      clear_label: true,
      clear_expiration: true,
      clear_budget: true,
      scopes: ['send'],
      permissions: [],
    });
  });

  test('gets a whole new budget', () => {
    const change = { ...start, maxPayment: '' };
    expect(updateRequest(client, change, null).budget).toEqual({
      amount: sats(5000n),
      period: 'day',
    });
  });

  test('waits above another cost, or pays alone again', () => {
    const asking = someClient({ scopes: ['send'], approve_above: sats(1500n) });
    const before = formOf(asking);
    const client_pk = asking.client_pk ?? '';
    expect(before.approveAbove).toBe('1,500');
    expect(updateRequest(asking, before, null)).toEqual({ client_pk });
    const change = (approveAbove: string) =>
      updateRequest(asking, { ...before, approveAbove }, null);
    expect(change('0')).toEqual({ client_pk, approve_above: sats(0n) });
    expect(change('')).toEqual({ client_pk, clear_approve_above: true });
    // Where the client spends nothing the field is hidden, so it changes nothing.
    const reader = { ...before, approveAbove: '', scopes: ['receive' as const] };
    expect(Object.keys(updateRequest(asking, reader, null))).toEqual([
      'client_pk',
      'scopes',
      'permissions',
    ]);
  });

  test('keeps a budget that is hidden because it spends nothing any more', () => {
    const change = { ...start, scopes: ['receive' as const], permissions: [] };
    const request = updateRequest(client, change, null);
    expect([request.budget, request.clear_budget]).toEqual([undefined, undefined]);
  });
});

describe('the last day of a client', () => {
  test('ends with that day, in the time of this machine', () => {
    expect(endOfDayMs('2027-01-31', null)).toBe(new Date(2027, 1, 1).getTime());
    expect(endOfDayMs('', null)).toBeNull();
  });

  test('is read back as it was given', () => {
    for (const day of ['2027-01-31', '2028-02-29', '2027-12-31', '2027-03-28', '2027-10-31']) {
      expect(lastDay(endOfDayMs(day, null))).toBe(day);
    }
    expect(lastDay(null)).toBe('');
  });
});

test('a share is exact to a tenth of a percent, and never beside the bar', () => {
  expect(percentOf(1n, 3n)).toBe(33.3);
  expect(percentOf(2_100_000_000_000_000_000n, 2_100_000_000_000_000_000n)).toBe(100);
  expect(percentOf(5n, 4n)).toBe(100);
  expect(percentOf(0n, 0n)).toBe(0);
});

describe('a client that is renewed', () => {
  const DAYS_30_MS = 30 * 86_400_000;

  test('expires 30 days later, and never after the client that renews it', () => {
    expect(renewedMs(1000, null)).toBe(1000 + DAYS_30_MS);
    expect(renewedMs(1000, 5000)).toBe(5000);
  });

  test('cannot be renewed where that changes nothing', () => {
    expect(renewedMs(null, null)).toBeNull();
    expect(renewedMs(5000, 5000)).toBeNull();
  });
});

test('a new client may learn that its invoice is paid', () => {
  expect(EMPTY_FORM.scopes).toEqual(['read_info', 'read_payments', 'receive']);
});

test('a client that sees only its own stays one unless the form is changed', () => {
  const { client_pk } = someClient();
  expect(createRequest({ ...EMPTY_FORM, own: true }, null).own).toBe(true);
  expect(createRequest(EMPTY_FORM, null).own).toBeUndefined();
  for (const own of [true, false]) {
    const client = someClient({ own });
    const change = (to: boolean) => updateRequest(client, { ...formOf(client), own: to }, null);
    expect(change(own)).toEqual({ client_pk: client_pk ?? '' });
    expect(change(!own)).toEqual({ client_pk: client_pk ?? '', own: !own });
  }
});
