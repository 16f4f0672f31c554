import { describe, expect, test } from 'bun:test';
import type { ClientRecord } from '../../src/model/clients/client.ts';
import {
  endedAtNode,
  merged,
  narrowedFamily,
  revoked,
  withToken,
} from '../../src/wallet/clients/client-family.ts';
import { permissionsOf, spends } from '../../src/wallet/clients/client-policy.ts';
import { CLIENT, clientRecord } from '../support/store-steps.ts';

const parent = clientRecord({ scopes: ['receive', 'send', 'manage_clients'] });
const child = clientRecord({
  clientPk: '01',
  parentPk: CLIENT,
  scopes: ['receive', 'send'],
  token: { id: '8', token: 'bb', exposed: false },
});
const grandchild = clientRecord({
  clientPk: '02',
  parentPk: '01',
  scopes: ['send'],
  token: { id: '9', token: 'cc', exposed: false },
});
const stranger = clientRecord({ clientPk: '03', scopes: ['send'] });
const all = [parent, child, grandchild, stranger];
const family = (next: Partial<ClientRecord>, records = all) =>
  new Map(
    narrowedFamily(records, { ...parent, ...next }, parent, 50).map((one) => [one.clientPk, one]),
  );

describe('a client that is narrowed', () => {
  test('takes its descendants with it, and nobody else', () => {
    const changed = family({ scopes: ['receive', 'manage_clients'] });
    expect([...changed.keys()]).toEqual([CLIENT, '01', '02']);
    const receive = new Set(permissionsOf({ scopes: ['receive'], permissions: [] }));
    const left = changed.get('01') as ClientRecord;
    expect(permissionsOf(left).every((one) => receive.has(one))).toBe(true);
    expect(left.revokedAtMs).toBeNull();
  });

  test('ends descendants that are left with nothing', () => {
    const left = family({ scopes: ['receive', 'manage_clients'] }).get('02');
    expect(left).toMatchObject({ revokedAtMs: 50, token: null });
    expect(left?.endedTokenIds).toEqual(['9']);
  });

  test('has every token ended that reaches further, and keeps those that do not', () => {
    const changed = family({ scopes: ['receive', 'manage_clients'] });
    expect(changed.get(CLIENT)?.endedTokenIds).toEqual(['7']);
    expect(changed.get('01')?.endedTokenIds).toEqual(['8']);
    const same = family({ label: 'new' });
    expect([...same.values()].flatMap(({ endedTokenIds }) => endedTokenIds)).toEqual([]);
    expect(same.get(CLIENT)?.label).toBe('new');
  });

  test('does not outlive its new end, nor do its descendants', () => {
    const changed = family({ expiresAtMs: 100 });
    expect([...changed].map(([pk, { expiresAtMs }]) => [pk, expiresAtMs])).toEqual([
      [CLIENT, 100],
      ['01', 100],
      ['02', 100],
    ]);
  });

  test('is not widened yet: a wider grant is in force once its token is made', () => {
    const changed = family({ scopes: ['full'] });
    expect(permissionsOf(changed.get(CLIENT) as ClientRecord)).toEqual(permissionsOf(parent));
  });

  test('that is given a budget leaves its descendants nothing that spends', () => {
    const changed = family({ budgetState: 'set' });
    for (const pk of ['01', '02']) {
      expect(permissionsOf(changed.get(pk) as ClientRecord).filter(spends)).toEqual([]);
    }
    expect(changed.get(CLIENT)?.budgetState).toBe('set');
    expect(permissionsOf(changed.get(CLIENT) as ClientRecord)).toEqual(permissionsOf(parent));
  });

  test('keeps its budget until the new grant is in force', () => {
    const budgeted = { ...parent, budgetState: 'set' as const };
    const next = { ...budgeted, budgetState: 'lifted' as const };
    const [own] = narrowedFamily([budgeted], next, budgeted, 50);
    expect(own?.budgetState).toBe('set');
  });
});

describe('a client that is ended', () => {
  test('has no token, and its last one is to be ended at the node', () => {
    expect(revoked({ ...parent, endedTokenIds: ['5'] }, 50)).toMatchObject({
      revokedAtMs: 50,
      token: null,
      endedTokenIds: ['5', '7'],
    });
  });

  test('keeps the time of its first end', () => {
    expect(revoked(revoked(parent, 50), 60).revokedAtMs).toBe(50);
  });
});

describe('a client whose token was ended at the node', () => {
  const ended = (clientPk: string, tokenId: string, records = all) =>
    endedAtNode(records, { clientPk, tokenId }, 50).map((one) => one.clientPk);

  test('is revoked with its descendants, and nobody else', () => {
    expect(ended('01', '8')).toEqual(['01', '02']);
    expect(endedAtNode(all, { clientPk: '01', tokenId: '8' }, 50)).toMatchObject([
      { revokedAtMs: 50, token: null, endedTokenIds: ['8'] },
      { revokedAtMs: 50, token: null, endedTokenIds: ['9'] },
    ]);
  });

  test('stays where another token has replaced that one, or it is revoked or unknown', () => {
    expect(ended('01', '7')).toEqual([]);
    expect(ended('99', '8')).toEqual([]);
    expect(ended('01', '8', [{ ...child, revokedAtMs: 40 }])).toEqual([]);
  });
});

describe('a token that was made', () => {
  const made = { id: '10', token: 'dd', exposed: false };

  test('takes the place of the stored one, which is to be ended', () => {
    const record = withToken(parent, new Map([[CLIENT, made]]), all);
    expect(record).toMatchObject({ token: made, endedTokenIds: ['7'] });
  });

  test('changes no other client', () => {
    expect(withToken(child, new Map([[CLIENT, made]]), all)).toBe(child);
  });
});

describe('an update', () => {
  test('changes only what it gives, and the grant as a whole', () => {
    expect(merged(parent, {})).toEqual(parent);
    expect(merged(parent, { label: 'till', expiresAtMs: 9 })).toEqual({
      ...parent,
      label: 'till',
      expiresAtMs: 9,
    });
    const grant = { scopes: ['receive', 'receive'], permissions: ['node_info'] } as const;
    expect(merged(parent, { grant })).toMatchObject({
      scopes: ['receive'],
      permissions: ['node_info'],
    });
    expect(merged({ ...parent, label: 'x' }, { label: null }).label).toBeNull();
  });

  test('a budget that is taken away was there: what never had one has none still', () => {
    const budget = { amountMsat: 1n, period: 'day', maxPaymentMsat: null } as const;
    expect(merged(parent, { budget }).budgetState).toBe('set');
    expect(merged(parent, { budget: null }).budgetState).toBe('none');
    expect(merged({ ...parent, budgetState: 'set' }, { budget: null }).budgetState).toBe('lifted');
    expect(merged({ ...parent, budgetState: 'lifted' }, { budget: null }).budgetState).toBe(
      'lifted',
    );
  });
});
