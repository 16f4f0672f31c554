import { afterEach, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeBolt11 } from '../../../../src/codecs/bolt11/index.ts';
import { PERMISSIONS, type Permission } from '../../../../src/model/clients/permissions.ts';
import { paymentId, paymentIndex } from '../../../../src/model/payment-index.ts';
import type { ClientToken, NodeTokens } from '../../../../src/nodes/node.ts';
import { removeFolder, temporaryFolder } from '../../../support/folder.ts';
import { rejection } from '../../../support/rejection.ts';
import { openTrialSandbox } from '../../../support/trial-sandbox.ts';
import { updatesOptions } from '../../../support/updates-options.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const ENDED = { kind: 'unauthenticated' };
const lacks = (permission: Permission) => ({ kind: 'forbidden', data: { permission } });

async function walletWorld(path = ':memory:') {
  const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs };
  const sandbox = openTrialSandbox(path, clock);
  cleanups.push(() => sandbox.connector.close());
  const { rootSeed, userPk } = await sandbox.controls.createWallet();
  const { node } = await sandbox.connector.connectRoot(Buffer.from(rootSeed, 'hex'));
  const tokens = node.tokens as NodeTokens;
  const issue = async (permissions: readonly Permission[], expiresAtMs: number | null = null) => {
    const id = tokens.newId();
    return { id, token: await tokens.issue({ id, permissions, expiresAtMs }) };
  };
  const connect = async (token: ClientToken | (() => ClientToken), wallet = userPk) =>
    (
      await sandbox.connector.connectClient(
        wallet,
        typeof token === 'function' ? token : () => token,
      )
    ).node;
  return { clock, sandbox, rootSeed, userPk, node, tokens, issue, connect };
}

describe('a token', () => {
  test('allows what it was issued for and nothing else, and the refusal names the permission', async () => {
    const { issue, connect, userPk } = await walletWorld();
    const node = await connect(await issue(['node_info']));
    expect((await node.info()).userPk).toBe(userPk);
    expect(await rejection(node.channels?.listChannels())).toMatchObject(lacks('list_channels'));
    expect(await rejection(node.onchain?.nextUnusedAddress('segwit'))).toMatchObject(
      lacks('get_next_unused_address'),
    );
    expect(
      await rejection(node.tokens?.issue({ id: 'a', permissions: [], expiresAtMs: null })),
    ).toMatchObject(lacks('create_client'));
  });

  test('that lacks a permission to send makes the report refused, so nothing was sent', async () => {
    const { issue, connect, sandbox } = await walletWorld();
    const node = await connect(await issue(['node_info']));
    const { invoice, paymentHash } = await sandbox.controls.createInvoice({
      amountMsat: 1000n,
      description: null,
      expirationSecs: 600,
      behavior: 'settle',
    });
    const index = paymentIndex(1, paymentId('ln', paymentHash));
    const report = await node.payInvoice({
      index,
      createdAtMs: 1,
      amountMsat: 1000n,
      maxFeeMsat: 10_000n,
      invoice: decodeBolt11(invoice),
      personalNote: null,
      externalId: null,
      message: null,
    });
    expect(report).toMatchObject({ state: 'refused', error: lacks('pay_invoice') });
    expect(await node.payment(index)).toBeNull();
  });

  test('is refused when its text, its id or the wallet is not the one it was issued for', async () => {
    const { issue, connect, sandbox } = await walletWorld();
    const token = await issue(PERMISSIONS);
    const other = await sandbox.controls.createWallet();
    const wrong: [ClientToken, string?][] = [
      [{ ...token, token: randomBytes(32).toString('hex') }],
      [{ ...token, id: randomBytes(16).toString('hex') }],
      [token, other.userPk],
    ];
    for (const [bad, wallet] of wrong) {
      expect(await rejection(connect(bad, wallet))).toMatchObject(ENDED);
    }
  });

  test('ends for open handles and feeds at the answer of its revocation, and is never good again', async () => {
    const { issue, connect, tokens, sandbox, userPk } = await walletWorld();
    const token = await issue(PERMISSIONS);
    const node = await connect(token);
    const feed = node.updates(updatesOptions())[Symbol.asyncIterator]();
    await feed.next();
    await tokens.revoke(token.id);
    expect(await rejection(node.info())).toMatchObject(ENDED);
    const next = feed.next();
    await sandbox.controls.fund(userPk, { amountMsat: 1000n, rail: 'lightning' });
    expect(await rejection(next)).toMatchObject(ENDED);
    expect(await rejection(connect(token))).toMatchObject(ENDED);
    expect(
      await rejection(tokens.issue({ ...token, permissions: [], expiresAtMs: null })),
    ).toMatchObject({
      kind: 'refused',
    });
    await tokens.revoke(token.id);
    await tokens.revoke('unknown');
  });

  test("ends at its expiry by the sandbox's clock", async () => {
    const { issue, connect, clock, tokens } = await walletWorld();
    const token = await issue(PERMISSIONS, clock.nowMs + 1000);
    const node = await connect(token);
    clock.nowMs += 999;
    await node.info();
    expect(await tokens.list()).toEqual([token.id]);
    clock.nowMs += 1;
    expect(await rejection(node.info())).toMatchObject(ENDED);
    expect(await tokens.list()).toEqual([]);
  });

  test('issued again under its id takes the place of the first, for open handles too', async () => {
    const { issue, connect, tokens } = await walletWorld();
    const first = await issue(['node_info']);
    let current = first;
    const node = await connect(() => current);
    const text = await tokens.issue({
      id: first.id,
      permissions: ['list_channels'],
      expiresAtMs: null,
    });
    expect(await rejection(node.info())).toMatchObject(ENDED);
    current = { id: first.id, token: text };
    expect(await rejection(node.info())).toMatchObject(lacks('node_info'));
    expect(await node.channels?.listChannels()).toHaveLength(1);
    expect(await tokens.list()).toEqual([first.id]);
  });

  test('hands on no more than it allows itself', async () => {
    const { issue, connect } = await walletWorld();
    const node = await connect(await issue(['create_client', 'node_info']));
    const order = { id: 'b', expiresAtMs: null };
    expect(
      await rejection(node.tokens?.issue({ ...order, permissions: ['node_info', 'pay_invoice'] })),
    ).toMatchObject(lacks('pay_invoice'));
    expect(await node.tokens?.issue({ ...order, permissions: ['node_info'] })).toBeString();
  });

  test('of another wallet can be neither replaced nor revoked nor listed', async () => {
    const { issue, connect, sandbox } = await walletWorld();
    const token = await issue(['node_info']);
    const other = await sandbox.controls.createWallet();
    const { node } = await sandbox.connector.connectRoot(Buffer.from(other.rootSeed, 'hex'));
    await node.tokens?.revoke(token.id);
    expect(
      await rejection(node.tokens?.issue({ id: token.id, permissions: [], expiresAtMs: null })),
    ).toMatchObject({ kind: 'refused' });
    expect(await node.tokens?.list()).toEqual([]);
    await (await connect(token)).info();
  });

  test('outlives a restart, its revocation does too, and the file holds no text of it', async () => {
    const folder = temporaryFolder('tokens');
    cleanups.push(() => removeFolder(folder));
    const path = join(folder, 'world.sqlite');
    const { issue, tokens, sandbox, userPk, clock } = await walletWorld(path);
    const [good, revoked] = [await issue(['node_info']), await issue(['node_info'])];
    await tokens.revoke(revoked.id);
    await sandbox.connector.close();
    const again = openTrialSandbox(path, clock);
    cleanups.push(() => again.connector.close());
    const { node } = await again.connector.connectClient(userPk, () => good);
    await node.info();
    expect(await rejection(again.connector.connectClient(userPk, () => revoked))).toMatchObject(
      ENDED,
    );
    const bytes = await readFile(path);
    expect(bytes.includes(good.token)).toBe(false);
    expect(bytes.includes(Buffer.from(good.token, 'hex'))).toBe(false);
  });
});

test('a sandbox has no configured entries', async () => {
  const { sandbox } = await walletWorld();
  const entry = {
    kind: 'lnd',
    url: '',
    cert: null,
    nodePk: null,
    network: null,
    token: '',
  } as const;
  expect(await rejection(sandbox.connector.connectConfigured(entry))).toMatchObject({
    kind: 'refused',
  });
  expect(sandbox.connector.problems()).toEqual([]);
});

test('a new wallet comes with its seed and keys and no credentials', async () => {
  const { sandbox } = await walletWorld();
  expect(Object.keys(await sandbox.controls.createWallet()).toSorted()).toEqual([
    'nodePk',
    'rootSeed',
    'userPk',
  ]);
});
