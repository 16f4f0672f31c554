import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Scope } from '../../src/model/permissions.ts';
import { createClient, revokeClient, updateClient } from '../../src/wallet/clients.ts';
import { randomNames } from '../../src/wallet/effect-names.ts';
import { allows, type Session } from '../../src/wallet/session.ts';
import type { Wallets } from '../../src/wallet/wallets.ts';
import { type WalletWorld, walletWorld } from './wallet-world.ts';

let world: WalletWorld;
let wallets: Wallets;
let owner: Session;
beforeEach(async () => {
  world = await walletWorld();
  ({ wallets, owner } = await world.start());
});
afterEach(() => world.close());

async function make(scopes: readonly Scope[]) {
  const grant = { scopes, permissions: [], expiresAtMs: null, label: null, budget: null };
  const { client, credentials } = await createClient(owner, grant, randomNames);
  return { pk: client.clientPk, credentials };
}

describe('a change of a client holds although it is made while the client connects to its node', () => {
  test('a revoked client is not let in', async () => {
    const { pk, credentials } = await make(['receive']);
    world.onConnect = async () => void (await revokeClient(owner, pk, randomNames));
    await expect(wallets.open(credentials)).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('a narrowed client gets the narrower grant', async () => {
    const { pk, credentials } = await make(['receive', 'send']);
    const narrow = { grant: { scopes: ['receive'] as const, permissions: [] } };
    world.onConnect = async () => void (await updateClient(owner, pk, narrow));
    const session = await wallets.open(credentials);
    expect([allows(session, 'create_invoice'), allows(session, 'pay_invoice')]).toEqual([
      true,
      false,
    ]);
  });
});
