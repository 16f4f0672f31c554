import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { takeOverSandboxClients, takeOverSandboxNames } from '../../../../src/app/take-over.ts';
import { PERMISSIONS } from '../../../../src/model/clients/permissions.ts';
import { idOfIndex, type PaymentIndex } from '../../../../src/model/payment-index.ts';
import type { Sandbox } from '../../../../src/nodes/sandbox/index.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/index.ts';
import { removeFolder, temporaryFolder } from '../../../support/folder.ts';
import { rejection } from '../../../support/rejection.ts';
import { openTrialSandbox } from '../../../support/trial-sandbox.ts';

/** What version 0.1 handed out for the world of version-1.sql, whose root seed is 32 bytes of 07. */
const FIRST = {
  rootSeed: new Uint8Array(32).fill(7),
  userPk: '35c9e6e4663937e7440f3154d67a7727e7d7b4aecffa342ba8dd709a17b4efb7',
  shop: {
    clientPk: '49b0ab3bd09dedc27d2fe528dc7210f880fc73367083876bf40b7234a0ba9bde',
    secret: '011bed972cc15b8412fc9983451e3ac3384093b785fd79eaeee89dff3e03f7f0',
  },
  anHour: '6a55c1197dc100e270188d48e4debad694fd7104018da1e6782b6da15883cb33',
  /**
   * Its index under the present prefix: the SHA-256 of `waived fee` and the funding outpoint, computed by Python's
   * hashlib.
   */
  waivedFee:
    '0000001800000000007-or_3f7a801b8b16f5f20f9b483418e663c69108a86c02104ee80af6e7c9dab6cad2' as PaymentIndex,
  revoked: 'b7c47afff73f326a35fa432265fbea3eca9adccb286687c7e1e3f2d19f658441',
};
const NOW_MS = 1_800_000_001_000;

const folder = temporaryFolder('world');
afterAll(() => removeFolder(folder));

let count = 0;
async function firstWorld(): Promise<string> {
  const path = join(folder, `${count++}.sqlite`);
  const db = new Database(path, { create: true });
  db.run(await Bun.file(join(import.meta.dir, 'version-1.sql')).text());
  db.close();
  return path;
}

const open = (path: string, nowMs = NOW_MS) => openTrialSandbox(path, { now: () => nowMs });

async function connect(sandbox: Sandbox, clientPk: string) {
  const legacy = sandbox.legacyClients().find((client) => client.clientPk === clientPk);
  if (legacy === undefined) throw new Error('the client is gone');
  return (await sandbox.connector.connectClient(legacy.walletId, () => legacy.token)).node;
}

describe('a file of the first version', () => {
  test('hands its clients over with everything but their secrets, the same at every start', async () => {
    const path = await firstWorld();
    const sandbox = open(path);
    const clients = sandbox.legacyClients();
    expect(clients.map(({ clientPk }) => clientPk)).toEqual([
      FIRST.shop.clientPk,
      FIRST.anHour,
      FIRST.revoked,
    ]);
    expect(clients[0]).toEqual({
      walletId: FIRST.userPk,
      clientPk: FIRST.shop.clientPk,
      secretHash: createHash('sha256').update(Buffer.from(FIRST.shop.secret, 'hex')).digest('hex'),
      scopes: ['receive'],
      permissions: ['node_info'],
      label: 'shop',
      createdAtMs: 1_800_000_000_011,
      expiresAtMs: null,
      revokedAtMs: null,
      token: { id: FIRST.shop.clientPk, token: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(clients[1]?.expiresAtMs).toBe(1_800_003_600_000);
    expect(clients[2]?.revokedAtMs).toBeGreaterThan(1_800_000_000_000);
    await sandbox.connector.close();
    const again = open(path);
    expect(again.legacyClients()).toEqual(clients);
    await again.connector.close();
  });

  test('gives each client a token that allows what its grant did and ends when it did', async () => {
    const path = await firstWorld();
    const sandbox = open(path);
    const shop = await connect(sandbox, FIRST.shop.clientPk);
    expect((await shop.info()).userPk).toBe(FIRST.userPk);
    expect(await rejection(shop.channels?.listChannels())).toMatchObject({
      kind: 'forbidden',
      data: { permission: 'list_channels' },
    });
    expect(await rejection(connect(sandbox, FIRST.revoked))).toMatchObject({
      kind: 'unauthenticated',
    });
    const anHour = await connect(sandbox, FIRST.anHour);
    expect(
      await anHour.tokens?.issue({ id: 'aa', permissions: PERMISSIONS, expiresAtMs: null }),
    ).toMatch(/./);
    await sandbox.connector.close();
    const later = open(path, NOW_MS + 3_600_000);
    expect(await rejection(connect(later, FIRST.anHour))).toMatchObject({
      kind: 'unauthenticated',
    });
    await later.connector.close();
  });

  test('shows a client as revoked once its token was, and no longer one whose token was replaced', async () => {
    const sandbox = open(await firstWorld());
    const { node } = await sandbox.connector.connectRoot(FIRST.rootSeed);
    await node.tokens?.revoke(FIRST.shop.clientPk);
    await node.tokens?.issue({ id: FIRST.anHour, permissions: ['node_info'], expiresAtMs: null });
    const [shop, ...others] = sandbox.legacyClients();
    expect(shop).toMatchObject({ clientPk: FIRST.shop.clientPk, revokedAtMs: NOW_MS });
    expect(others.map(({ clientPk }) => clientPk)).toEqual([FIRST.revoked]);
    await sandbox.connector.close();
  });

  test('has its waived fee under the present id, created and updated when it was', async () => {
    const sandbox = open(await firstWorld());
    const { node } = await sandbox.connector.connectRoot(FIRST.rootSeed);
    const payments = (await node.history?.updatedAfter(null, 100)) ?? [];
    const waived = payments.find(({ direction }) => direction === 'info');
    expect(waived).toMatchObject({
      index: FIRST.waivedFee,
      createdAtMs: 1_800_000_000_007,
      updatedAtMs: 1_800_000_000_008,
    });
    expect(await node.latestPayment(idOfIndex(FIRST.waivedFee))).toMatchObject({ payment: waived });
    await sandbox.connector.close();
  });

  test('hands its names over to the store once, with their offers and frozen for as long', async () => {
    const path = await firstWorld();
    const db = new Database(path);
    db.query('INSERT INTO names VALUES (?, ?, ?, ?)').run(FIRST.userPk, 'satoshi', 'lno1', NOW_MS);
    db.close();
    const store = openSqliteStore(':memory:');
    const record = {
      walletId: FIRST.userPk,
      nodeKind: 'sandbox',
      username: 'satoshi',
      offer: 'lno1',
      windowAtMs: NOW_MS,
    };
    // A process that was killed before it forgot the names finds them in the store already.
    const changed = { ...record, username: 'nakamoto' };
    for (const before of [null, changed]) {
      if (before) await store.names.claim(FIRST.userPk, before.username, () => before);
      const sandbox = open(path);
      expect(sandbox.legacyNames()).toHaveLength(1);
      const keptBack = { ...sandbox, forgetLegacyNames: () => undefined };
      await takeOverSandboxNames(store, before ? sandbox : keptBack);
      expect(await store.names.ofWallet(FIRST.userPk)).toEqual(before ?? record);
      await sandbox.connector.close();
    }
    const again = open(path);
    expect(again.legacyNames()).toEqual([]);
    await again.connector.close();
    await store.close();
  });

  test('keeps its money, and its held payment runs out 98 blocks after the first start', async () => {
    const sandbox = open(await firstWorld());
    const { node } = await sandbox.connector.connectRoot(FIRST.rootSeed);
    const held = async () =>
      (await node.history?.updatedAfter(null, 100))?.find(
        ({ direction }) => direction === 'outbound',
      );
    expect((await node.info()).lightningBalanceMsat).toBe(994_994_000n);
    await sandbox.controls.mine(97);
    expect(await held()).toMatchObject({ status: 'pending' });
    await sandbox.controls.mine(1);
    expect(await held()).toMatchObject({ status: 'failed', statusMsg: 'timed out' });
    expect((await node.info()).lightningBalanceMsat).toBe(1_000_000_000n);
    await sandbox.connector.close();
  });
});

test('where nothing is taken over, a start leaves the file as it is', async () => {
  const path = join(folder, 'present.sqlite');
  const sandbox = open(path);
  await sandbox.controls.createWallet();
  const store = openSqliteStore(':memory:');
  const other = new Database(path);
  // Changes with every commit of another connection.
  const version = () => other.query('PRAGMA data_version').get();
  const before = version();
  await takeOverSandboxClients(store, sandbox);
  await takeOverSandboxNames(store, sandbox);
  expect(version()).toEqual(before);
  other.close();
  await sandbox.connector.close();
  await store.close();
});

test('a file of a later version is left alone, and the error says what to do', async () => {
  const path = await firstWorld();
  const db = new Database(path);
  db.run('PRAGMA user_version = 99');
  db.close();
  expect(() => open(path)).toThrow(/later version: use that version, or move the file away/);
});

test('a new world has no clients to hand over', async () => {
  const sandbox = open(':memory:');
  await sandbox.controls.createWallet();
  expect(sandbox.legacyClients()).toEqual([]);
  await sandbox.connector.close();
});
