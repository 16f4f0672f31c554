import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ClientRecord, Grant } from '../../src/model/clients/client.ts';
import {
  PERMISSIONS,
  type Permission,
  SCOPE_NAMES,
  SCOPES,
  type Scope,
} from '../../src/model/clients/permissions.ts';
import { ApiError } from '../../src/model/errors.ts';
import {
  boundsOf,
  descendantsOf,
  type Granter,
  narrowed,
  permissionsOf,
  requireBudgetAuthority,
  requireGrantable,
  requireReach,
  sameReach,
  spends,
} from '../../src/wallet/clients/client-policy.ts';
import { clientRecord } from '../support/store-steps.ts';

const grant = (scopes: readonly Scope[], permissions: readonly Permission[] = []): Grant => ({
  scopes,
  permissions,
});
const owner: Granter = {
  clientPk: null,
  permissions: PERMISSIONS,
  expiresAtMs: null,
  budgetState: 'none',
  approveAboveMsat: null,
  origins: null,
  own: false,
};
const client = (scopes: readonly Scope[], change: Partial<Granter> = {}): Granter => ({
  clientPk: '01',
  permissions: permissionsOf(grant(scopes)),
  expiresAtMs: null,
  budgetState: 'none',
  approveAboveMsat: null,
  origins: null,
  own: false,
  ...change,
});
const target = (change: Partial<ClientRecord>) => clientRecord({ scopes: [], ...change });
const forbidden = (data: object) => expect.objectContaining({ kind: 'forbidden', data });

/** The error that `work` throws, or null. */
function thrown(work: () => void): unknown {
  try {
    work();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    return error;
  }
}
type Limits = Pick<ClientRecord, 'approveAboveMsat' | 'origins' | 'own'>;
const granted = (
  granter: Granter,
  wanted: Grant,
  expiresAtMs: number | null = null,
  limits: Partial<Limits> = {},
) => {
  const none = { approveAboveMsat: null, origins: null, own: false };
  return thrown(() => requireGrantable(granter, { ...wanted, ...none, expiresAtMs, ...limits }));
};

describe('what can be granted', () => {
  test('the owner grants everything, for ever', () => {
    expect(granted(owner, grant(['full']))).toBeNull();
  });

  test('a client grants what it holds, and no permission beyond, by scope or by name', () => {
    const granter = client(['receive', 'manage_clients']);
    expect(granted(granter, grant(['receive']))).toBeNull();
    expect(granted(granter, grant([], ['create_invoice']))).toBeNull();
    expect(granted(granter, grant(['receive', 'read_info']))).toEqual(
      forbidden({ permission: 'node_info' }),
    );
    expect(granted(granter, grant([], ['pay_invoice']))).toEqual(
      forbidden({ permission: 'pay_invoice' }),
    );
    expect(granted(granter, grant(['full']))).toEqual(forbidden({ permission: 'node_info' }));
  });

  test('a client that expires grants until then, not longer, and not for ever', () => {
    const granter = client(['full'], { expiresAtMs: 50 });
    expect(granted(granter, grant(['receive']), 50)).toBeNull();
    expect(granted(granter, grant(['receive']), 51)).toEqual(forbidden({ expires_at: 50 }));
    expect(granted(granter, grant(['receive']), null)).toEqual(forbidden({ expires_at: 50 }));
    expect(granted(client(['full']), grant(['receive']), 51)).toBeNull();
  });

  test('a client that may fetch from some origins grants these or fewer, and not all', () => {
    const granter = client(['full'], { origins: ['https://a.example', 'https://b.example'] });
    const refused = forbidden({ origins: granter.origins });
    const wants = (origins: Limits['origins'], by = granter) =>
      granted(by, grant(['send']), null, { origins });
    expect(wants(['https://b.example'])).toBeNull();
    expect(wants(granter.origins)).toBeNull();
    expect(wants([])).toBeNull();
    expect(wants(['https://b.example', 'https://c.example'])).toEqual(refused);
    expect(wants(null)).toEqual(refused);
    expect(wants(['https://c.example'], owner)).toBeNull();
  });

  for (const budgetState of ['set', 'lifted'] as const) {
    test(`a client whose budget is ${budgetState} grants nothing that spends, channels included`, () => {
      const granter = client(['full'], { budgetState });
      for (const permission of PERMISSIONS) {
        expect(granted(granter, grant([], [permission]))).toEqual(
          spends(permission) ? forbidden({ permission }) : null,
        );
      }
    });

    test(`a client whose budget is ${budgetState} decides about no budget`, () => {
      expect(thrown(() => requireBudgetAuthority(client(['full'], { budgetState })))).toEqual(
        forbidden({ permission: 'update_client' }),
      );
    });
  }

  test('what spends is what pays, and what opens and closes channels for a fee', () => {
    expect(PERMISSIONS.filter(spends)).toEqual([
      'pay_invoice',
      'pay_offer',
      'pay_onchain',
      'open_channel',
      'close_channel',
    ]);
  });

  test('the owner and a client that never had a budget decide about budgets', () => {
    expect(thrown(() => requireBudgetAuthority(owner))).toBeNull();
    expect(thrown(() => requireBudgetAuthority(client(['full'])))).toBeNull();
  });
});

describe('reach', () => {
  const reach = (granter: Granter, change: Partial<ClientRecord>) =>
    thrown(() => requireReach(granter, target(change)));

  test('the owner reaches every client', () => {
    expect(reach(owner, { scopes: ['full'] })).toBeNull();
  });

  test('a client reaches those that hold no more than it, its like included', () => {
    const granter = client(['receive', 'manage_clients'], { expiresAtMs: 50 });
    expect(reach(granter, { scopes: ['receive'], expiresAtMs: 50 })).toBeNull();
    expect(reach(granter, { scopes: ['receive', 'manage_clients'], expiresAtMs: 50 })).toBeNull();
  });

  test('a client does not reach one with a permission more', () => {
    const granter = client(['receive', 'manage_clients']);
    expect(reach(granter, { scopes: ['receive'], permissions: ['node_info'] })).toEqual(
      forbidden({ permission: 'node_info' }),
    );
  });

  test('a client does not reach one that lives longer', () => {
    const granter = client(['full'], { expiresAtMs: 50 });
    expect(reach(granter, { scopes: ['receive'], expiresAtMs: 51 })).toEqual(
      forbidden({ expires_at: 50 }),
    );
    expect(reach(granter, { scopes: ['receive'] })).toEqual(forbidden({ expires_at: 50 }));
  });
});

test('a client with a budget reaches no other client that spends, whatever the size of its budget', () => {
  const granter = client(['full'], { budgetState: 'set' });
  const reach = (change: Partial<ClientRecord>) =>
    thrown(() => requireReach(granter, target(change)));
  for (const budgetState of ['none', 'set', 'lifted'] as const) {
    expect(reach({ scopes: ['send'], budgetState })).toEqual(
      forbidden({ permission: 'pay_invoice' }),
    );
  }
  expect(reach({ scopes: ['receive'] })).toBeNull();
  expect(
    reach({ scopes: ['send'], budgetState: 'set', clientPk: granter.clientPk ?? '' }),
  ).toBeNull();
});

test('a client does not reach one that may fetch from other origins', () => {
  const granter = client(['full'], { origins: ['a', 'b'] });
  const reach = (origins: Limits['origins']) =>
    thrown(() => requireReach(granter, target({ scopes: ['receive'], origins })));
  expect(reach(['b'])).toBeNull();
  for (const other of [['b', 'c'], null]) {
    expect(reach(other)).toEqual(expect.objectContaining({ kind: 'forbidden' }));
  }
});

describe('descendants', () => {
  const family = (...pairs: readonly (readonly [string, string | null])[]) =>
    pairs.map(([clientPk, parentPk]) => target({ clientPk, parentPk }));
  const names = (records: readonly ClientRecord[], of: string) =>
    descendantsOf(records, of).map(({ clientPk }) => clientPk);

  test('are the children, their children and so on, parents before children', () => {
    const all = family(['d', 'c'], ['c', 'b'], ['b', 'a'], ['e', 'a'], ['a', null], ['x', null]);
    expect(names(all, 'a')).toEqual(['b', 'e', 'c', 'd']);
    expect(names(all, 'c')).toEqual(['d']);
    expect(names(all, 'd')).toEqual([]);
    expect(names(all, 'x')).toEqual([]);
  });

  test('are found once each and end, whatever the rows say', () => {
    const node = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const anyFamily = fc.uniqueArray(fc.tuple(node, fc.option(node)), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(anyFamily, (pairs) => {
        const found = names(family(...pairs), 'a');
        expect(new Set(found).size).toBe(found.length);
        const below = (name: string, seen: readonly string[] = []): boolean => {
          const parent = pairs.find(([own]) => own === name)?.[1] ?? null;
          return (
            parent === 'a' ||
            (parent !== null && !seen.includes(parent) && below(parent, [...seen, parent]))
          );
        };
        expect(found.toSorted()).toEqual(
          pairs
            .map(([name]) => name)
            .filter((name) => below(name))
            .toSorted(),
        );
      }),
    );
  });
});

describe('narrowing', () => {
  const bounds = (permissions: readonly Permission[], expiresAtMs: number | null = null) => ({
    permissions: new Set(permissions),
    expiresAtMs,
    approveAboveMsat: null,
    origins: null,
    own: false,
  });

  test('what is within the bounds stays as it was granted', () => {
    const before = target({ scopes: ['receive'], permissions: ['node_info'], expiresAtMs: 5 });
    expect(narrowed(before, bounds([...SCOPES.receive, 'node_info'], 5))).toEqual(before);
  });

  test('a scope that is not wholly within the bounds becomes the single permissions that are', () => {
    const before = target({ scopes: ['receive', 'read_info'] });
    const after = narrowed(before, bounds([...SCOPES.read_info, 'create_invoice', 'resync']));
    expect(after.scopes).toEqual(['read_info']);
    expect(after.permissions).toEqual(['create_invoice', 'resync']);
  });

  test('full becomes single permissions, so that it cannot grow with a later version', () => {
    const after = narrowed(target({ scopes: ['full'] }), bounds(['pay_invoice']));
    expect([after.scopes, after.permissions]).toEqual([[], ['pay_invoice']]);
  });

  test('a client ends no later than its bounds, and sooner where it already did', () => {
    const end = (own: number | null, bound: number | null) =>
      narrowed(target({ expiresAtMs: own }), bounds([], bound)).expiresAtMs;
    expect([end(null, 5), end(9, 5), end(3, 5), end(9, null), end(null, null)]).toEqual([
      5,
      5,
      3,
      9,
      null,
    ]);
  });

  test('a client may fetch only from what both list, which may be nothing', () => {
    const kept = (own: Limits['origins'], origins: Limits['origins']) =>
      narrowed(target({ origins: own }), { ...bounds([]), origins }).origins;
    expect(kept(null, ['a', 'b'])).toEqual(['a', 'b']);
    expect(kept(['b', 'c'], ['a', 'b'])).toEqual(['b']);
    expect(kept(['c'], ['a', 'b'])).toEqual([]);
    expect(kept(['b'], null)).toEqual(['b']);
    expect(kept(null, null)).toBeNull();
    const parent = { ...target({ origins: ['a'] }), budgetState: 'none' as const };
    expect(boundsOf(parent).origins).toEqual(['a']);
  });

  test('who sees only its own has none who sees more, and keeps it when its bounds go', () => {
    const own = (one: boolean, bound: boolean) =>
      narrowed(target({ own: one }), { ...bounds([]), own: bound }).own;
    expect([own(false, true), own(true, false), own(false, false)]).toEqual([true, true, false]);
    expect(boundsOf({ ...target({ own: true }), budgetState: 'none' }).own).toBe(true);
    const till = client(['receive'], { own: true });
    expect(granted(till, grant(['receive']))).toEqual(forbidden({ own: true }));
    expect(granted(till, grant(['receive']), null, { own: true })).toBeNull();
    expect(thrown(() => requireReach(till, target({ scopes: ['receive'] })))).not.toBeNull();
    expect(thrown(() => requireReach(till, target({ scopes: ['receive'], own: true })))).toBeNull();
  });

  test('the narrowed grant is exactly what both hold', () => {
    const somePermissions = fc.subarray([...PERMISSIONS]);
    fc.assert(
      fc.property(
        fc.subarray([...SCOPE_NAMES]),
        somePermissions,
        somePermissions,
        (scopes, permissions, allowed) => {
          const before = target({ scopes, permissions, label: 'kept' });
          const after = narrowed(before, bounds(allowed));
          expect(permissionsOf(after)).toEqual(
            permissionsOf(before).filter((permission) => allowed.includes(permission)),
          );
          expect(before).toEqual({ ...after, scopes, permissions });
          expect(narrowed(after, bounds(allowed))).toEqual(after);
        },
      ),
    );
  });
});

describe('bounds that a client sets for its descendants', () => {
  test('are what it holds, until it ends', () => {
    const { permissions, expiresAtMs } = boundsOf(
      target({ scopes: ['send'], permissions: ['open_channel'], expiresAtMs: 7 }),
    );
    expect([...permissions]).toEqual([...SCOPES.send, 'open_channel']);
    expect(expiresAtMs).toBe(7);
  });

  for (const budgetState of ['set', 'lifted'] as const) {
    test(`hold nothing that spends when its budget is ${budgetState}`, () => {
      const { permissions } = boundsOf(target({ scopes: ['full'], budgetState }));
      expect([...permissions]).toEqual(PERMISSIONS.filter((permission) => !spends(permission)));
    });
  }
});

test('two grants have the same reach when they allow the same until the same time, however written', () => {
  const receive = target({ scopes: ['receive'] });
  const byName = target({ permissions: [...SCOPES.receive].reverse() });
  expect(sameReach(receive, byName)).toBe(true);
  expect(sameReach(receive, target({ scopes: ['receive'], permissions: ['resync'] }))).toBe(true);
  expect(sameReach(receive, target({ scopes: ['receive'], expiresAtMs: 5 }))).toBe(false);
  expect(sameReach(receive, target({ scopes: ['receive', 'send'] }))).toBe(false);
});
