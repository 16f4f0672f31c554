import { expect, test } from 'bun:test';
import { listClients } from '../../src/wallet/clients/clients.ts';
import { rejection } from '../support/rejection.ts';
import { until } from '../support/until.ts';
import { clientWorld } from './client-world.ts';

const world = clientWorld();

test('a client whose token was ended at the node is gone everywhere, with its descendants', async () => {
  const parent = await world.make(['receive', 'manage_clients']);
  const parentEnded = world.world.tokenEnded;
  const child = await world.make(['receive'], {}, parent.session);
  const other = await world.make(['receive']);
  const { token } = await world.record(parent.pk);
  parentEnded('another id');
  expect(Object.keys(await listClients(world.owner))).toContain(parent.pk);
  parentEnded(token?.id ?? '');
  await until(() => parent.session.ended.aborted, 'its sessions have ended');
  expect(Object.keys(await listClients(world.owner))).toEqual([other.pk]);
  expect(child.session.ended.aborted).toBe(true);
  expect(other.session.ended.aborted).toBe(false);
  for (const { credentials } of [parent, child]) {
    expect(await rejection(world.wallets.open(credentials))).toMatchObject({
      kind: 'unauthenticated',
    });
  }
});
