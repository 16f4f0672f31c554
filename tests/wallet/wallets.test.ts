import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { createClient, revokeClient, updateClient } from '../../src/wallet/clients/clients.ts';
import { randomNames } from '../../src/wallet/session/effect-names.ts';
import { allows } from '../../src/wallet/session/session.ts';
import { rejection } from '../support/rejection.ts';
import { clientRequest, clientWorld, grant } from './client-world.ts';

const clients = clientWorld();

describe('a change of a client holds although it is made while the client connects to its node', () => {
  test('a revoked client is not let in', async () => {
    const { world, wallets, owner } = clients;
    const { client, credentials } = await createClient(
      owner,
      clientRequest(['receive']),
      randomNames,
    );
    world.onConnect = async () => void (await revokeClient(owner, client.clientPk, randomNames));
    expect(await rejection(wallets.open(credentials))).toMatchObject({ kind: 'unauthenticated' });
  });

  test('a narrowed client gets the narrower grant', async () => {
    const { world, wallets, owner } = clients;
    const { client, credentials } = await createClient(
      owner,
      clientRequest(['receive', 'send']),
      randomNames,
    );
    world.onConnect = async () =>
      void (await updateClient(owner, client.clientPk, grant('receive')));
    const session = await wallets.open(credentials);
    expect([allows(session, 'create_invoice'), allows(session, 'pay_invoice')]).toEqual([
      true,
      false,
    ]);
  });
});

test('wallets that were opened by their seed for one use are closed beyond 256', async () => {
  const { wallets } = clients;
  for (let i = 0; i < 300; i++) {
    await wallets.openSeed(createHash('sha256').update(`seed ${i}`).digest());
  }
  expect(wallets.figures().wallets).toBeLessThanOrEqual(257);
});
