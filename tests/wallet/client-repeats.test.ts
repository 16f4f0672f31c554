import { describe, expect, test } from 'bun:test';
import { createClient, revokeClient } from '../../src/wallet/clients/clients.ts';
import { keyedNames, randomNames } from '../../src/wallet/session/effect-names.ts';
import { rejection, throwing } from '../support/rejection.ts';
import { WALLET } from '../support/store-steps.ts';
import { clientRequest, clientWorld } from './client-world.ts';

const clients = clientWorld();
const { make, record } = clients;

describe('a repeat with the same names', () => {
  const scope = { walletId: WALLET, caller: 'owner', key: 'k' };
  const names = async () => {
    const state = await clients.world.store.idempotency.begin(scope, 'print', 1);
    const effect = state.state === 'running' ? state.effect : null;
    const { identity, idempotency: keys } = clients.world.store;
    const { sealKey } = clients.owner.caller;
    return keyedNames(scope, effect, { identity, sealKey, keys });
  };

  test('returns the same credentials and makes one client', async () => {
    const first = await createClient(clients.owner, clientRequest(['receive']), await names());
    const second = await createClient(clients.owner, clientRequest(['receive']), await names());
    expect(second).toEqual(first);
    expect(await clients.world.store.clients.list(WALLET)).toHaveLength(1);
    expect(clients.world.fake.issued).toHaveLength(1);
    expect((await clients.wallets.open(first.credentials)).client()?.clientPk).toBe(
      first.client.clientPk,
    );
  });

  test('finds the client that it has revoked, while another request finds none', async () => {
    const { pk } = await make(['receive']);
    const first = await revokeClient(clients.owner, pk, await names());
    expect(await revokeClient(clients.owner, pk, await names())).toEqual(first);
    expect(await rejection(revokeClient(clients.owner, pk, randomNames))).toMatchObject({
      kind: 'notFound',
    });
  });

  test('after a kill between the token and the record makes the token under the same identity', async () => {
    const { change } = clients.world.store.clients;
    Object.assign(clients.world.store.clients, {
      change: () => Promise.reject(new Error('killed')),
    });
    const killed = createClient(clients.owner, clientRequest(['receive']), await names());
    expect(await throwing(killed)).toThrow('killed');
    Object.assign(clients.world.store.clients, { change });
    const { client } = await createClient(clients.owner, clientRequest(['receive']), await names());
    expect(clients.world.fake.issued.map(({ id }) => id)).toEqual(['t1', 't1']);
    expect((await record(client.clientPk)).token?.id).toBe('t1');
  });

  test('for a client that was revoked meanwhile finds none, and makes no other', async () => {
    const { client } = await createClient(clients.owner, clientRequest(['receive']), await names());
    await revokeClient(clients.owner, client.clientPk, randomNames);
    const again = createClient(clients.owner, clientRequest(['receive']), await names());
    expect(await rejection(again)).toMatchObject({ kind: 'notFound' });
    expect(await clients.world.store.clients.list(WALLET)).toHaveLength(1);
  });

  test('other names make other clients', async () => {
    const one = await createClient(clients.owner, clientRequest(['receive']), await names());
    const other = await createClient(clients.owner, clientRequest(['receive']), randomNames);
    expect(other.client.clientPk).not.toBe(one.client.clientPk);
  });
});
