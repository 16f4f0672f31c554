import { describe, expect, test } from 'bun:test';
import { PERMISSIONS, type Permission } from '../../src/model/clients/permissions.ts';
import type { ClientUpdate } from '../../src/wallet/clients/client-family.ts';
import { spends } from '../../src/wallet/clients/client-policy.ts';
import {
  clientInfo,
  listClients,
  revokeClient,
  updateClient,
} from '../../src/wallet/clients/clients.ts';
import { randomNames } from '../../src/wallet/session/effect-names.ts';
import type { Session } from '../../src/wallet/session/session.ts';
import { rejection } from '../support/rejection.ts';
import { WALLET } from '../support/store-steps.ts';
import { until } from '../support/until.ts';
import { BUDGET, clientWorld, grant, live, permissions } from './client-world.ts';
import { unreachable } from './fake-node.ts';

const clients = clientWorld();
const { make, record, stored } = clients;
const forbidden = { kind: 'forbidden' };

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
    clients.world.fake.issue = async () => {
      looked++;
      expect(await stored(grandchild.pk)).toEqual(permissions('receive'));
      expect(live(grandchild)).toEqual(permissions('receive'));
      expect(live(child)).toEqual(permissions('receive', 'manage_clients'));
    };
    await updateClient(clients.owner, parent.pk, grant('receive', 'manage_clients'));
    expect(looked).toBe(3);
    expect(clients.world.fake.living.size).toBe(3);
  });

  test('end no later than their ancestor', async () => {
    const { parent, grandchild } = await family();
    await updateClient(clients.owner, parent.pk, { expiresAtMs: 1_500_000 });
    expect((await record(grandchild.pk)).expiresAtMs).toBe(1_500_000);
  });

  test('that are left with nothing are revoked', async () => {
    const { parent, grandchild } = await family();
    await updateClient(clients.owner, parent.pk, grant('manage_clients'));
    expect((await record(grandchild.pk)).revokedAtMs).not.toBeNull();
    expect(grandchild.session.ended.aborted).toBe(true);
  });

  test('lose what spends when their ancestor gets a budget', async () => {
    const { parent, child, grandchild } = await family();
    await updateClient(clients.owner, parent.pk, { budget: BUDGET });
    expect(await stored(parent.pk)).toEqual(permissions('receive', 'send', 'manage_clients'));
    for (const { pk } of [child, grandchild]) {
      expect((await stored(pk)).filter(spends)).toEqual([]);
      expect(await stored(pk)).toContain('create_invoice');
    }
  });

  test('are not widened with their ancestor', async () => {
    const { parent, grandchild } = await family();
    await updateClient(clients.owner, parent.pk, grant('full'));
    expect(await stored(grandchild.pk)).toEqual(permissions('receive', 'send'));
  });

  test('are revoked with their ancestor, and their sessions end', async () => {
    const { parent, child, grandchild } = await family();
    const other = await make(['receive']);
    await revokeClient(clients.owner, parent.pk, randomNames);
    for (const { pk, session, credentials } of [parent, child, grandchild]) {
      expect((await record(pk)).revokedAtMs).not.toBeNull();
      expect(session.ended.aborted).toBe(true);
      expect(await rejection(clients.wallets.open(credentials))).toMatchObject({
        kind: 'unauthenticated',
      });
    }
    expect(other.session.ended.aborted).toBe(false);
    expect(Object.keys(await listClients(clients.owner))).toEqual([other.pk]);
    expect(clients.world.fake.living.size).toBe(1);
  });
});

describe('a client', () => {
  const update = (by: Session, pk: string, change: ClientUpdate) => updateClient(by, pk, change);

  for (const budgetState of ['has', 'had'] as const) {
    test(`that ${budgetState} a budget grants nothing that spends and decides about no budget`, async () => {
      const holder = await make(['full'], { budget: BUDGET });
      if (budgetState === 'had') await update(clients.owner, holder.pk, { budget: null });
      const { session } = holder;
      for (const permission of PERMISSIONS.filter(spends)) {
        const made = make([], { permissions: [permission as Permission] }, session);
        expect(await rejection(made)).toMatchObject(forbidden);
      }
      const child = await make(['receive'], {}, session);
      expect(await rejection(make(['receive'], { budget: BUDGET }, session))).toMatchObject(
        forbidden,
      );
      for (const budget of [BUDGET, null]) {
        expect(await rejection(update(session, child.pk, { budget }))).toMatchObject(forbidden);
        expect(await rejection(update(session, holder.pk, { budget }))).toMatchObject(forbidden);
      }
      expect(await rejection(update(session, child.pk, grant('send')))).toMatchObject(forbidden);
    });
  }

  test('touches no stronger one, nor grants it away or outlives itself', async () => {
    const holder = await make(['receive', 'manage_clients'], { expiresAtMs: 2_000_000 });
    const stronger = await make(['receive', 'send']);
    const longer = await make(['receive']);
    for (const { pk } of [stronger, longer]) {
      expect(await rejection(update(holder.session, pk, { label: 'x' }))).toMatchObject(forbidden);
      expect(await rejection(revokeClient(holder.session, pk, randomNames))).toMatchObject(
        forbidden,
      );
      expect((await record(pk)).revokedAtMs).toBeNull();
    }
    const wider = update(holder.session, holder.pk, grant('full'));
    expect(await rejection(wider)).toMatchObject(forbidden);
    const forEver = update(holder.session, holder.pk, { expiresAtMs: null });
    expect(await rejection(forEver)).toMatchObject(forbidden);
    const weaker = await make(['receive'], { expiresAtMs: 1_900_000 });
    await revokeClient(holder.session, weaker.pk, randomNames);
    expect(weaker.session.ended.aborted).toBe(true);
  });

  test('with a budget neither narrows nor revokes one that spends without', async () => {
    const holder = await make(['full'], { budget: BUDGET });
    const free = await make(['send']);
    expect(await rejection(update(holder.session, free.pk, grant('receive')))).toMatchObject(
      forbidden,
    );
    expect(await rejection(revokeClient(holder.session, free.pk, randomNames))).toMatchObject(
      forbidden,
    );
  });

  test('hears of its change and of its end at once, in every session', async () => {
    const client = await make(['receive', 'send']);
    let heard = 0;
    client.session.onGrantChange(() => heard++);
    const slow = Promise.withResolvers<void>();
    clients.world.fake.issue = () => slow.promise;
    const updating = updateClient(clients.owner, client.pk, grant('receive'));
    await until(() => heard > 0, 'the change was heard of');
    expect(live(client)).toEqual(permissions('receive'));
    slow.resolve();
    await updating;
    const before = heard;
    await revokeClient(clients.owner, client.pk, randomNames);
    expect(heard).toBeGreaterThan(before);
    expect(client.session.ended.reason).toMatchObject({ kind: 'unauthenticated' });
  });

  test('is revoked though the node is out of reach, and its token is ended later', async () => {
    const client = await make(['receive']);
    const other = await make(['receive']);
    const { token } = await record(client.pk);
    clients.world.fake.revoke = () => Promise.reject(unreachable());
    await revokeClient(clients.owner, client.pk, randomNames);
    expect(client.session.ended.aborted).toBe(true);
    expect(await rejection(clients.wallets.open(client.credentials))).toMatchObject({
      kind: 'unauthenticated',
    });
    expect(await record(client.pk)).toMatchObject({ token: null, endedTokenIds: [token?.id] });
    clients.world.fake.revoke = async () => undefined;
    await revokeClient(clients.owner, other.pk, randomNames);
    expect((await record(client.pk)).endedTokenIds).toEqual([]);
    expect(clients.world.fake.living.size).toBe(0);
  });

  test('whose token fails is not made', async () => {
    clients.world.fake.issue = () => Promise.reject(unreachable());
    expect(await rejection(make(['send']))).toMatchObject({ kind: 'unreachable' });
    expect(await clients.world.store.clients.list(WALLET)).toEqual([]);
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
