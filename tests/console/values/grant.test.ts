import { describe, expect, test } from 'bun:test';
import { SCOPES as GRANTED } from '../../../src/client/generated/permissions.ts';
import {
  type ClientInfo,
  fromMsat,
  type Permission,
  type Scope,
} from '../../../src/client/index.ts';
import {
  canSpend,
  type Granter,
  grantableScopes,
  reaches,
  SCOPES,
} from '../../../src/console/values/grant.ts';
import {
  effectivePermissions,
  PERMISSIONS,
  SCOPE_NAMES,
  SCOPES as SERVERS,
} from '../../../src/model/clients/permissions.ts';
import { spends } from '../../../src/wallet/clients/client-policy.ts';
import { someBudget, someClient } from './some-client.ts';

const OWNER: Granter = {
  client_pk: null,
  effective_permissions: PERMISSIONS,
  expires_at: null,
  budget: null,
  approve_above: null,
  own: false,
};
const granter = (scopes: readonly Scope[], more: Partial<ClientInfo> = {}): Granter => ({
  ...someClient({ client_pk: 'aa'.repeat(32) }),
  effective_permissions: effectivePermissions(scopes, []),
  ...more,
});

describe('the table of scopes (docs/decisions.md 59)', () => {
  test('is the one of the server', () => {
    expect(SCOPES.toSorted()).toEqual(SCOPE_NAMES.toSorted());
    for (const scope of SCOPES) {
      expect([scope, [...GRANTED[scope]].toSorted()]).toEqual([
        scope,
        [...SERVERS[scope]].toSorted(),
      ]);
    }
  });

  test('knows what can cost money', () => {
    expect(PERMISSIONS.filter((one) => canSpend([], [one]))).toEqual(PERMISSIONS.filter(spends));
    expect(SCOPES.filter((one) => canSpend([one], []))).toEqual([
      'send',
      'manage_channels',
      'full',
    ]);
  });
});

describe('what somebody can give (docs/decisions.md 61 and 68)', () => {
  test('is everything for the owner', () => expect(grantableScopes(OWNER)).toEqual(SCOPES));

  test('is no more than their own', () => {
    expect(grantableScopes(granter(['read_info', 'send', 'manage_clients']))).toEqual([
      'read_info',
      'send',
      'manage_clients',
    ]);
    const part = { ...OWNER, effective_permissions: ['create_invoice'] as Permission[] };
    expect(grantableScopes(part)).toEqual([]);
  });

  test('is nothing that spends for somebody with a budget', () => {
    expect(grantableScopes(granter(['full'], { budget: someBudget() }))).toEqual(
      SCOPES.filter((one) => !canSpend([one], [])),
    );
  });
});

describe('whom somebody may change and revoke (docs/decisions.md 63)', () => {
  const target = (scopes: readonly Scope[], more: Partial<ClientInfo> = {}) =>
    someClient({ scopes, effective_permissions: effectivePermissions(scopes, []), ...more });

  test('is everybody for the owner', () => expect(reaches(OWNER, target(['full']))).toBe(true));

  test('is nobody who may do more or lives longer', () => {
    expect(reaches(granter(['receive', 'manage_clients']), target(['receive']))).toBe(true);
    expect(reaches(granter(['receive', 'manage_clients']), target(['send']))).toBe(false);
    const mortal = granter(['full'], { expires_at: 1000 });
    expect(reaches(mortal, target(['receive']))).toBe(false);
    expect(reaches(mortal, target(['receive'], { expires_at: 1001 }))).toBe(false);
    expect(reaches(mortal, target(['receive'], { expires_at: 1000 }))).toBe(true);
  });

  test('is nobody who pays more alone (docs/decisions.md 187)', () => {
    const till = granter(['full'], { own: true });
    expect(reaches(till, target(['receive']))).toBe(false);
    const asking = granter(['full'], { approve_above: fromMsat(500_000n) });
    const above = (msat: bigint) => target(['send'], { approve_above: fromMsat(msat) });
    expect(reaches(asking, target(['send']))).toBe(false);
    expect(reaches(asking, above(500_001n))).toBe(false);
    expect(reaches(asking, above(500_000n))).toBe(true);
  });

  test('is, for somebody with a budget, nobody else who spends', () => {
    const bounded = granter(['full'], { budget: someBudget() });
    expect(reaches(bounded, target(['receive']))).toBe(true);
    expect(reaches(bounded, target(['send']))).toBe(false);
    expect(reaches(bounded, target(['send'], { client_pk: bounded.client_pk }))).toBe(true);
  });
});
