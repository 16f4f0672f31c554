import { type Budget, type ClientInfo, fromMsat } from '../../../src/client/index.ts';

/** A client for tests, as the API shows it. */
export function someClient(more: Partial<ClientInfo> = {}): ClientInfo {
  return {
    client_pk: 'bb'.repeat(32),
    created_at: 1_764_000_000_000,
    expires_at: null,
    label: 'Till',
    scopes: ['receive'],
    permissions: [],
    effective_permissions: [],
    budget: null,
    approve_above: null,
    origins: null,
    own: false,
    ...more,
  };
}

/** A budget of 5,000 sats a day for tests, as the API shows it. */
export function someBudget(more: Partial<Budget> = {}): Budget {
  return {
    amount: fromMsat(5_000_000n),
    period: 'day',
    max_payment: null,
    spent: fromMsat(0n),
    resets_at: 1_764_028_800_000,
    ...more,
  };
}
