import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Budget } from '../../src/model/budget.ts';
import type { ClientRecord } from '../../src/model/client.ts';
import { PERMISSIONS, type Permission, type Scope } from '../../src/model/permissions.ts';
import type { ClientUpdate } from '../../src/wallet/client-family.ts';
import { permissionsOf, spends } from '../../src/wallet/client-policy.ts';
import {
  clientInfo,
  createClient,
  listClients,
  type NewClient,
  revokeClient,
  updateClient,
} from '../../src/wallet/clients.ts';
import { keyedNames, randomNames } from '../../src/wallet/effect-names.ts';
import type { Session } from '../../src/wallet/session.ts';
import type { Wallets } from '../../src/wallet/wallets.ts';
import { WALLET } from '../support/store-steps.ts';
import { until } from '../support/until.ts';
import { unreachable } from './fake-node.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

let world: WalletWorld;
let wallets: Wallets;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ wallets, owner } = await world.start());
});
afterEach(() => world.close());

const BUDGET: Budget = { amountMsat: 5000n, period: 'total', maxPaymentMsat: null };
const request = (scopes: readonly Scope[], change: Partial<NewClient> = {}): NewClient => ({
  scopes,
  permissions: [],
  expiresAtMs: null,
  label: null,
  budget: null,
  ...change,
});

/** A client that the session `by` creates, and a session of that client. */
async function make(scopes: readonly Scope[], change: Partial<NewClient> = {}, by = owner) {
  const { client, credentials } = await createClient(by, request(scopes, change), randomNames);
  return { pk: client.clientPk, credentials, session: await wallets.open(credentials) };
}
async function record(pk: string): Promise<ClientRecord> {
  const found = await world.store.clients.find(pk);
  if (!found) throw new Error(`no client ${pk}`);
  return found;
}
const stored = async (pk: string) => permissionsOf(await record(pk));
const live = ({ session }: { readonly session: Session }) => {
  const client = session.client();
  return client && permissionsOf(client);
};
const budgetOf = async (pk: string) => (await world.store.budgets.get(WALLET, pk, 1)).budget;
const grant = (...scopes: Scope[]) => ({ grant: { scopes, permissions: [] } });
const permissions = (...scopes: Scope[]) => permissionsOf({ scopes, permissions: [] });
const forbidden = { kind: 'forbidden' };

/** Runs `look` each time that the node is asked for a token. Returns a function that tells how often that was. */
function whenIssuing(look: () => Promise<void>): () => number {
  let looked = 0;
  world.fake.issue = async () => {
    looked++;
    await look();
  };
  return () => looked;
}

describe('an update is narrowed first and widened last', () => {
  test('while the node makes the new token, store and sessions hold what both grants allow', async () => {
    const client = await make(['receive', 'read_info']);
    const looked = whenIssuing(async () => {
      expect(await stored(client.pk)).toEqual(permissions('receive'));
      expect(live(client)).toEqual(permissions('receive'));
    });
    const info = await updateClient(owner, client.pk, grant('receive', 'send'));
    expect(looked()).toBe(1);
    expect(info.effective_permissions).toEqual(permissions('receive', 'send'));
    expect(await stored(client.pk)).toEqual(permissions('receive', 'send'));
    expect(live(client)).toEqual(permissions('receive', 'send'));
  });

  test('an earlier expiry holds at once, a later one when all is done', async () => {
    const client = await make(['receive'], { expiresAtMs: 2_000_000 });
    const expiry = async () => (await record(client.pk)).expiresAtMs;
    let looked = whenIssuing(async () => expect(await expiry()).toBe(2_000_000));
    await updateClient(owner, client.pk, { expiresAtMs: 3_000_000 });
    expect([looked(), await expiry()]).toEqual([1, 3_000_000]);
    looked = whenIssuing(async () => expect(await expiry()).toBe(1_500_000));
    await updateClient(owner, client.pk, { expiresAtMs: 1_500_000 });
    expect(looked()).toBe(1);
  });

  test('a budget is set before anything is widened', async () => {
    const client = await make(['receive']);
    const looked = whenIssuing(async () => {
      expect(await budgetOf(client.pk)).toEqual(BUDGET);
      expect((await record(client.pk)).budgetState).toBe('set');
      expect(client.session.hasBudget()).toBe(true);
      expect(await stored(client.pk)).toEqual(permissions('receive'));
    });
    await updateClient(owner, client.pk, { ...grant('receive', 'send'), budget: BUDGET });
    expect(looked()).toBe(1);
  });

  test('a budget is lifted only when the new grant is in force', async () => {
    const client = await make(['receive', 'send'], { budget: BUDGET });
    const looked = whenIssuing(async () => {
      expect(await budgetOf(client.pk)).toEqual(BUDGET);
      expect((await record(client.pk)).budgetState).toBe('set');
      expect(client.session.hasBudget()).toBe(true);
    });
    await updateClient(owner, client.pk, { ...grant('send'), budget: null });
    expect(looked()).toBe(1);
    expect(await budgetOf(client.pk)).toBeNull();
    expect((await record(client.pk)).budgetState).toBe('lifted');
    expect(client.session.hasBudget()).toBe(false);
  });

  test('lifting a budget that never was leaves the client as one that never had any', async () => {
    const client = await make(['send']);
    await updateClient(owner, client.pk, { budget: null });
    expect((await record(client.pk)).budgetState).toBe('none');
  });

  test('a node that fails leaves the narrower grant, and the budget where it was', async () => {
    const client = await make(['receive', 'send'], { budget: BUDGET });
    world.fake.issue = () => Promise.reject(unreachable());
    const change = { ...grant('send', 'read_info'), budget: null };
    await expect(updateClient(owner, client.pk, change)).rejects.toMatchObject({
      kind: 'unreachable',
    });
    expect([await stored(client.pk), live(client)]).toEqual([
      permissions('send'),
      permissions('send'),
    ]);
    expect(await budgetOf(client.pk)).toEqual(BUDGET);
    expect((await record(client.pk)).budgetState).toBe('set');
    expect(client.session.hasBudget()).toBe(true);
  });

  test('a repeat after the node failed makes the token that the narrower grant still lacks', async () => {
    const client = await make(['receive', 'send']);
    const wide = (await record(client.pk)).token;
    world.fake.issue = () => Promise.reject(unreachable());
    await expect(updateClient(owner, client.pk, grant('receive'))).rejects.toMatchObject({
      kind: 'unreachable',
    });
    world.fake.issue = async () => undefined;
    // The client can go on meanwhile, because the sidecar itself checks the narrower grant.
    await revokeClient(owner, (await make(['receive'])).pk, randomNames);
    expect((await record(client.pk)).token).toEqual(wide);
    expect([...world.fake.living]).toEqual([wide?.id ?? '']);
    await updateClient(owner, client.pk, grant('receive'));
    const { token, endedTokenIds } = await record(client.pk);
    expect(world.fake.issued.at(-1)).toMatchObject({
      id: token?.id,
      permissions: permissions('receive'),
    });
    expect([...world.fake.living]).toEqual([token?.id ?? '']);
    expect(endedTokenIds).toEqual([]);
  });

  test('the old token ends at the node once the new one is stored, or when the node is there again', async () => {
    const client = await make(['receive', 'send']);
    const [old] = world.fake.living;
    world.fake.revoke = () => Promise.reject(unreachable());
    await updateClient(owner, client.pk, grant('receive'));
    expect((await record(client.pk)).endedTokenIds).toEqual([old ?? '']);
    world.fake.revoke = async () => undefined;
    await make(['receive']);
    await updateClient(owner, client.pk, grant('read_info'));
    expect((await record(client.pk)).endedTokenIds).toEqual([]);
    expect(world.fake.living.has(old ?? '')).toBe(false);
  });

  test('a label alone asks nothing of the node', async () => {
    const client = await make(['receive']);
    const issued = world.fake.issued.length;
    await updateClient(owner, client.pk, { label: 'till' });
    expect([(await record(client.pk)).label, world.fake.issued.length]).toEqual(['till', issued]);
  });

  test('the token holds the permissions and the expiry of the grant, and nothing else', async () => {
    await make(['receive'], { permissions: ['node_info'], expiresAtMs: 2_000_000 });
    expect(world.fake.issued).toMatchObject([
      { permissions: ['node_info', ...permissions('receive')], expiresAtMs: 2_000_000 },
    ]);
  });
});

describe('descendants', () => {
  async function family() {
    const parent = await make(['receive', 'send', 'manage_clients']);
    const child = await make(['receive', 'send', 'manage_clients'], {}, parent.session);
    const grandchild = await make(['receive', 'send'], {}, child.session);
    return { parent, child, grandchild };
  }

  test('are narrowed with their ancestor, at once, at the node too', async () => {
    const { parent, child, grandchild } = await family();
    let looked = 0;
    world.fake.issue = async () => {
      looked++;
      expect(await stored(grandchild.pk)).toEqual(permissions('receive'));
      expect(live(grandchild)).toEqual(permissions('receive'));
      expect(live(child)).toEqual(permissions('receive', 'manage_clients'));
    };
    await updateClient(owner, parent.pk, grant('receive', 'manage_clients'));
    expect(looked).toBe(3);
    expect(world.fake.living.size).toBe(3);
  });

  test('end no later than their ancestor', async () => {
    const { parent, grandchild } = await family();
    await updateClient(owner, parent.pk, { expiresAtMs: 1_500_000 });
    expect((await record(grandchild.pk)).expiresAtMs).toBe(1_500_000);
  });

  test('that are left with nothing are revoked', async () => {
    const { parent, grandchild } = await family();
    await updateClient(owner, parent.pk, grant('manage_clients'));
    expect((await record(grandchild.pk)).revokedAtMs).not.toBeNull();
    expect(grandchild.session.ended.aborted).toBe(true);
  });

  test('lose what spends when their ancestor gets a budget', async () => {
    const { parent, child, grandchild } = await family();
    await updateClient(owner, parent.pk, { budget: BUDGET });
    expect(await stored(parent.pk)).toEqual(permissions('receive', 'send', 'manage_clients'));
    for (const { pk } of [child, grandchild]) {
      expect((await stored(pk)).filter(spends)).toEqual([]);
      expect(await stored(pk)).toContain('create_invoice');
    }
  });

  test('are not widened with their ancestor', async () => {
    const { parent, grandchild } = await family();
    await updateClient(owner, parent.pk, grant('full'));
    expect(await stored(grandchild.pk)).toEqual(permissions('receive', 'send'));
  });

  test('are revoked with their ancestor, and their sessions end', async () => {
    const { parent, child, grandchild } = await family();
    const other = await make(['receive']);
    await revokeClient(owner, parent.pk, randomNames);
    for (const { pk, session, credentials } of [parent, child, grandchild]) {
      expect((await record(pk)).revokedAtMs).not.toBeNull();
      expect(session.ended.aborted).toBe(true);
      await expect(wallets.open(credentials)).rejects.toMatchObject({ kind: 'unauthenticated' });
    }
    expect(other.session.ended.aborted).toBe(false);
    expect(Object.keys(await listClients(owner))).toEqual([other.pk]);
    expect(world.fake.living.size).toBe(1);
  });
});

describe('a client', () => {
  const update = (by: Session, pk: string, change: ClientUpdate) => updateClient(by, pk, change);

  for (const budgetState of ['has', 'had'] as const) {
    test(`that ${budgetState} a budget grants nothing that spends and decides about no budget`, async () => {
      const holder = await make(['full'], { budget: BUDGET });
      if (budgetState === 'had') await update(owner, holder.pk, { budget: null });
      const { session } = holder;
      for (const permission of PERMISSIONS.filter(spends)) {
        const made = make([], { permissions: [permission as Permission] }, session);
        await expect(made).rejects.toMatchObject(forbidden);
      }
      const child = await make(['receive'], {}, session);
      await expect(make(['receive'], { budget: BUDGET }, session)).rejects.toMatchObject(forbidden);
      for (const budget of [BUDGET, null]) {
        await expect(update(session, child.pk, { budget })).rejects.toMatchObject(forbidden);
        await expect(update(session, holder.pk, { budget })).rejects.toMatchObject(forbidden);
      }
      await expect(update(session, child.pk, grant('send'))).rejects.toMatchObject(forbidden);
    });
  }

  test('touches no stronger one, nor grants it away or outlives itself', async () => {
    const holder = await make(['receive', 'manage_clients'], { expiresAtMs: 2_000_000 });
    const stronger = await make(['receive', 'send']);
    const longer = await make(['receive']);
    for (const { pk } of [stronger, longer]) {
      await expect(update(holder.session, pk, { label: 'x' })).rejects.toMatchObject(forbidden);
      await expect(revokeClient(holder.session, pk, randomNames)).rejects.toMatchObject(forbidden);
      expect((await record(pk)).revokedAtMs).toBeNull();
    }
    const wider = update(holder.session, holder.pk, grant('full'));
    await expect(wider).rejects.toMatchObject(forbidden);
    const forEver = update(holder.session, holder.pk, { expiresAtMs: null });
    await expect(forEver).rejects.toMatchObject(forbidden);
    const weaker = await make(['receive'], { expiresAtMs: 1_900_000 });
    await revokeClient(holder.session, weaker.pk, randomNames);
    expect(weaker.session.ended.aborted).toBe(true);
  });

  test('with a budget neither narrows nor revokes one that spends without', async () => {
    const holder = await make(['full'], { budget: BUDGET });
    const free = await make(['send']);
    await expect(update(holder.session, free.pk, grant('receive'))).rejects.toMatchObject(
      forbidden,
    );
    await expect(revokeClient(holder.session, free.pk, randomNames)).rejects.toMatchObject(
      forbidden,
    );
  });

  test('hears of its change and of its end at once, in every session', async () => {
    const client = await make(['receive', 'send']);
    let heard = 0;
    client.session.onGrantChange(() => heard++);
    const slow = Promise.withResolvers<void>();
    world.fake.issue = () => slow.promise;
    const updating = updateClient(owner, client.pk, grant('receive'));
    await until(() => heard > 0, 'the change was heard of');
    expect(live(client)).toEqual(permissions('receive'));
    slow.resolve();
    await updating;
    const before = heard;
    await revokeClient(owner, client.pk, randomNames);
    expect(heard).toBeGreaterThan(before);
    expect(client.session.ended.reason).toMatchObject({ kind: 'unauthenticated' });
  });

  test('is revoked though the node is out of reach, and its token is ended later', async () => {
    const client = await make(['receive']);
    const other = await make(['receive']);
    const { token } = await record(client.pk);
    world.fake.revoke = () => Promise.reject(unreachable());
    await revokeClient(owner, client.pk, randomNames);
    expect(client.session.ended.aborted).toBe(true);
    await expect(wallets.open(client.credentials)).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
    expect(await record(client.pk)).toMatchObject({ token: null, endedTokenIds: [token?.id] });
    world.fake.revoke = async () => undefined;
    await revokeClient(owner, other.pk, randomNames);
    expect((await record(client.pk)).endedTokenIds).toEqual([]);
    expect(world.fake.living.size).toBe(0);
  });

  test('that cannot be bounded by the node, or whose token fails, is not made', async () => {
    world.fake.obstacle = 'This node cannot bound that: choose fewer permissions.';
    await expect(make(['send'])).rejects.toMatchObject({ kind: 'refused' });
    world.fake.obstacle = null;
    world.fake.issue = () => Promise.reject(unreachable());
    await expect(make(['send'])).rejects.toMatchObject({ kind: 'unreachable' });
    expect(await world.store.clients.list(WALLET)).toEqual([]);
  });

  test('sees itself as it is, its budget included', async () => {
    const { pk, session } = await make(['send'], { budget: BUDGET });
    expect(await clientInfo(session)).toMatchObject({
      kind: 'client_credentials',
      client_pk: pk,
      budget: { amount: '5', spent: '0', period: 'total' },
    });
  });
});

describe('a repeat with the same names', () => {
  const scope = { walletId: WALLET, caller: 'owner', key: 'k' };
  const names = async () => {
    const state = await world.store.idempotency.begin(scope, 'print', 1);
    const effect = state.state === 'running' ? state.effect : null;
    const { identity, idempotency: keys } = world.store;
    const { sealKey } = owner.caller;
    return keyedNames(scope, effect, { identity, sealKey, keys });
  };

  test('returns the same credentials and makes one client', async () => {
    const first = await createClient(owner, request(['receive']), await names());
    const second = await createClient(owner, request(['receive']), await names());
    expect(second).toEqual(first);
    expect(await world.store.clients.list(WALLET)).toHaveLength(1);
    expect(world.fake.issued).toHaveLength(1);
    expect((await wallets.open(first.credentials)).client()?.clientPk).toBe(first.client.clientPk);
  });

  test('finds the client that it has revoked, while another request finds none', async () => {
    const { pk } = await make(['receive']);
    const first = await revokeClient(owner, pk, await names());
    expect(await revokeClient(owner, pk, await names())).toEqual(first);
    await expect(revokeClient(owner, pk, randomNames)).rejects.toMatchObject({ kind: 'notFound' });
  });

  test('after a kill between the token and the record makes the token under the same identity', async () => {
    const { change } = world.store.clients;
    Object.assign(world.store.clients, { change: () => Promise.reject(new Error('killed')) });
    const killed = createClient(owner, request(['receive']), await names());
    await expect(killed).rejects.toThrow('killed');
    Object.assign(world.store.clients, { change });
    const { client } = await createClient(owner, request(['receive']), await names());
    expect(world.fake.issued.map(({ id }) => id)).toEqual(['t1', 't1']);
    expect((await record(client.clientPk)).token?.id).toBe('t1');
  });

  test('for a client that was revoked meanwhile finds none, and makes no other', async () => {
    const { client } = await createClient(owner, request(['receive']), await names());
    await revokeClient(owner, client.clientPk, randomNames);
    const again = createClient(owner, request(['receive']), await names());
    await expect(again).rejects.toMatchObject({ kind: 'notFound' });
    expect(await world.store.clients.list(WALLET)).toHaveLength(1);
  });

  test('other names make other clients', async () => {
    const one = await createClient(owner, request(['receive']), await names());
    const other = await createClient(owner, request(['receive']), randomNames);
    expect(other.client.clientPk).not.toBe(one.client.clientPk);
  });
});
