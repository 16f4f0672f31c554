import { describe, expect, test } from 'bun:test';
import { revokeClient, updateClient } from '../../src/wallet/clients/clients.ts';
import { randomNames } from '../../src/wallet/session/effect-names.ts';
import { rejection } from '../support/rejection.ts';
import { BUDGET, clientWorld, grant, live, permissions } from './client-world.ts';
import { unreachable } from './fake-node.ts';

const clients = clientWorld();
const { make, record, stored, budgetOf } = clients;

/** Runs `look` each time that the node is asked for a token. Returns a function that tells how often that was. */
function whenIssuing(look: () => Promise<void>): () => number {
  let looked = 0;
  clients.world.fake.issue = async () => {
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
    const info = await updateClient(clients.owner, client.pk, grant('receive', 'send'));
    expect(looked()).toBe(1);
    expect(info.effective_permissions).toEqual(permissions('receive', 'send'));
    expect(await stored(client.pk)).toEqual(permissions('receive', 'send'));
    expect(live(client)).toEqual(permissions('receive', 'send'));
  });

  test('an earlier expiry holds at once, a later one when all is done', async () => {
    const client = await make(['receive'], { expiresAtMs: 2_000_000 });
    const expiry = async () => (await record(client.pk)).expiresAtMs;
    let looked = whenIssuing(async () => expect(await expiry()).toBe(2_000_000));
    await updateClient(clients.owner, client.pk, { expiresAtMs: 3_000_000 });
    expect([looked(), await expiry()]).toEqual([1, 3_000_000]);
    looked = whenIssuing(async () => expect(await expiry()).toBe(1_500_000));
    await updateClient(clients.owner, client.pk, { expiresAtMs: 1_500_000 });
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
    await updateClient(clients.owner, client.pk, { ...grant('receive', 'send'), budget: BUDGET });
    expect(looked()).toBe(1);
  });

  test('a budget is lifted only when the new grant is in force', async () => {
    const client = await make(['receive', 'send'], { budget: BUDGET });
    const looked = whenIssuing(async () => {
      expect(await budgetOf(client.pk)).toEqual(BUDGET);
      expect((await record(client.pk)).budgetState).toBe('set');
      expect(client.session.hasBudget()).toBe(true);
    });
    await updateClient(clients.owner, client.pk, { ...grant('send'), budget: null });
    expect(looked()).toBe(1);
    expect(await budgetOf(client.pk)).toBeNull();
    expect((await record(client.pk)).budgetState).toBe('lifted');
    expect(client.session.hasBudget()).toBe(false);
  });

  test('lifting a budget that never was leaves the client as one that never had any', async () => {
    const client = await make(['send']);
    await updateClient(clients.owner, client.pk, { budget: null });
    expect((await record(client.pk)).budgetState).toBe('none');
  });

  test('a node that fails leaves the narrower grant, and the budget where it was', async () => {
    const client = await make(['receive', 'send'], { budget: BUDGET });
    clients.world.fake.issue = () => Promise.reject(unreachable());
    const change = { ...grant('send', 'read_info'), budget: null };
    expect(await rejection(updateClient(clients.owner, client.pk, change))).toMatchObject({
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
    clients.world.fake.issue = () => Promise.reject(unreachable());
    expect(await rejection(updateClient(clients.owner, client.pk, grant('receive')))).toMatchObject(
      {
        kind: 'unreachable',
      },
    );
    clients.world.fake.issue = async () => undefined;
    // The client can go on meanwhile, because the sidecar itself checks the narrower grant.
    await revokeClient(clients.owner, (await make(['receive'])).pk, randomNames);
    expect((await record(client.pk)).token).toEqual(wide);
    expect([...clients.world.fake.living]).toEqual([wide?.id ?? '']);
    await updateClient(clients.owner, client.pk, grant('receive'));
    const { token, endedTokenIds } = await record(client.pk);
    expect(clients.world.fake.issued.at(-1)).toMatchObject({
      id: token?.id,
      permissions: permissions('receive'),
    });
    expect([...clients.world.fake.living]).toEqual([token?.id ?? '']);
    expect(endedTokenIds).toEqual([]);
  });

  test('the old token ends at the node once the new one is stored, or when the node is there again', async () => {
    const client = await make(['receive', 'send']);
    const [old] = clients.world.fake.living;
    clients.world.fake.revoke = () => Promise.reject(unreachable());
    await updateClient(clients.owner, client.pk, grant('receive'));
    expect((await record(client.pk)).endedTokenIds).toEqual([old ?? '']);
    clients.world.fake.revoke = async () => undefined;
    await make(['receive']);
    await updateClient(clients.owner, client.pk, grant('read_info'));
    expect((await record(client.pk)).endedTokenIds).toEqual([]);
    expect(clients.world.fake.living.has(old ?? '')).toBe(false);
  });

  test('a label alone asks nothing of the node', async () => {
    const client = await make(['receive']);
    const issued = clients.world.fake.issued.length;
    await updateClient(clients.owner, client.pk, { label: 'till' });
    expect([(await record(client.pk)).label, clients.world.fake.issued.length]).toEqual([
      'till',
      issued,
    ]);
  });

  test('the token holds the permissions and the expiry of the grant, and nothing else', async () => {
    await make(['receive'], { permissions: ['node_info'], expiresAtMs: 2_000_000 });
    expect(clients.world.fake.issued).toMatchObject([
      { permissions: ['node_info', ...permissions('receive')], expiresAtMs: 2_000_000 },
    ]);
  });
});
