import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import type { NodeCredentials } from '../../../src/model/credentials.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { mintMacaroon } from '../../../src/nodes/lnd/words/macaroon.ts';
import type { NodeConnector } from '../../../src/nodes/node.ts';
import { memoryState } from '../../support/memory-state.ts';
import { rejection } from '../../support/rejection.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import { until } from '../../support/until.ts';
import { infoOf, nodeKey, refusal, type ScriptedLnd, scriptedLnd } from './scripted-lnd.ts';

const macaroonOf = (fill: number) =>
  mintMacaroon(
    new Uint8Array(32).fill(fill),
    new Uint8Array(16),
    new Map([
      ['info', ['read']],
      ['offchain', ['read']],
    ]),
  );
const CLIENT = { id: '5', token: 'c11e47' };
const node = nodeKey(1);
const stranger = nodeKey(2);
/** A place where nothing listens. */
const GONE = { url: 'https://127.0.0.1:1', cert: '' };
const there = scriptedLnd();
afterAll(() => there.stop());

const entryAt = (
  { url, cert }: Pick<ScriptedLnd, 'url' | 'cert'>,
  change: Partial<NodeCredentials> = {},
): NodeCredentials => ({
  kind: 'lnd',
  url,
  cert: cert || there.cert,
  nodePk: node.pk,
  network: 'regtest',
  token: macaroonOf(1),
  ...change,
});

/** What the file says now; null while it cannot be read. */
let file: NodeCredentials | null;
let connector: NodeConnector;
let given: NodeCredentials;
const tokens = () => new Set(there.requests.flatMap(({ macaroon }) => macaroon ?? []));

async function open(entry: NodeCredentials) {
  given = entry;
  file = entry;
  connector = openLnd(
    remoteOptions([entry], { state, reread: { entry: () => file, root: () => null } }),
  );
  const owner = await connector.connectConfigured(entry);
  const client = await connector.connectClient(owner.userPk, () => CLIENT);
  return { owner: owner.node, client: client.node };
}
let state = memoryState();
beforeEach(() => {
  state = memoryState();
  there.reset();
  there.on('GET /v1/getinfo', infoOf(node.pk));
  there.on('GET /v1/channels', { channels: [] });
  there.on('GET /v1/channels/pending', { pending_open_channels: [] });
  there.on('POST /v1/signmessage', ({ body }) => Response.json(node.signMessage(body.msg)));
});
const list = (wallet: { channels?: { listChannels(): Promise<unknown> } }) =>
  wallet.channels?.listChannels();

describe('when the place of a node does not answer any more', () => {
  test('its file is read again, and owner and clients go on at the place that it names now', async () => {
    const { owner, client } = await open(entryAt(GONE));
    file = entryAt(there);
    expect(await rejection(list(owner))).toMatchObject({ kind: 'unreachable' });
    expect(await list(owner)).toEqual([]);
    expect(await list(client)).toEqual([]);
    expect(tokens()).toEqual(new Set([given.token, CLIENT.token]));
    expect(connector.problems()).toEqual([]);
  });

  test('a client gets nothing at the new place before the node there has signed a challenge', async () => {
    const before = await open(entryAt(there));
    await list(before.owner);
    const { client } = await open(entryAt(GONE));
    expect(await rejection(list(client))).toMatchObject({ kind: 'unreachable' });
    there.reset();
    there.on('GET /v1/getinfo', infoOf(node.pk));
    there.on('GET /v1/channels', { channels: [] });
    there.on('GET /v1/channels/pending', { pending_open_channels: [] });
    there.on('POST /v1/signmessage', ({ body }) => Response.json(stranger.signMessage(body.msg)));
    // Another URL than the one where the wallet was last reached.
    file = entryAt({ url: there.url.replace('127.0.0.1', 'localhost'), cert: there.cert });
    expect(await rejection(list(client))).toMatchObject({ kind: 'unreachable' });
    expect(await rejection(list(client))).toMatchObject({ kind: 'refused' });
    expect(tokens().has(CLIENT.token)).toBe(false);
    expect(connector.problems().join()).toContain('did not sign');
  });

  test('a file for another node, or one that cannot be read, changes nothing', async () => {
    const { owner } = await open(entryAt(GONE));
    for (const now of [null, entryAt(there, { nodePk: stranger.pk })]) {
      file = now;
      for (let call = 0; call < 2; call++) {
        expect(await rejection(list(owner))).toMatchObject({ kind: 'unreachable' });
      }
    }
    expect(there.requests).toEqual([]);
  });
});

test('a macaroon that is not accepted any more is read again', async () => {
  const { owner } = await open(entryAt(there));
  const fresh = macaroonOf(2);
  there.on('GET /v1/', ({ macaroon }) =>
    macaroon === fresh
      ? Response.json({ ...infoOf(node.pk), channels: [], pending_open_channels: [] })
      : refusal(500, 2, 'verification failed: signature mismatch after caveat verification'),
  );
  file = entryAt(there, { token: fresh });
  expect(await rejection(list(owner))).toMatchObject({ kind: 'unauthenticated' });
  await until(async () => (await list(owner)?.catch(() => null)) !== null, 'the new one is used');
  expect(tokens()).toContain(fresh);
});

test('a macaroon that is ended while the sidecar runs is told in health, and the one that the file names now is used', async () => {
  const { owner, client } = await open(entryAt(there));
  expect(await list(owner)).toEqual([]);
  const ended = given.token;
  const fresh = macaroonOf(2);
  let accepted: string | null = null;
  there.on('GET /v1/', ({ macaroon }) =>
    macaroon === accepted || macaroon === CLIENT.token
      ? Response.json({ ...infoOf(node.pk), channels: [], pending_open_channels: [] })
      : refusal(500, 2, 'verification failed: signature mismatch after caveat verification'),
  );
  expect(await rejection(list(owner))).toMatchObject({ kind: 'unauthenticated' });
  expect(connector.problems().join()).toContain('does not accept the configured macaroon');
  // The operator takes it back.
  accepted = ended;
  expect(await list(owner)).toEqual([]);
  expect(connector.problems()).toEqual([]);
  accepted = fresh;
  file = entryAt(there, { token: fresh });
  expect(await rejection(list(owner))).toMatchObject({ kind: 'unauthenticated' });
  expect(await list(owner)).toEqual([]);
  expect(await list(client)).toEqual([]);
  expect(connector.problems()).toEqual([]);
  expect(tokens()).toContain(fresh);
});

test("a client's macaroon that is not accepted says nothing of the place", async () => {
  const { owner, client } = await open(entryAt(there));
  expect(await list(owner)).toEqual([]);
  there.on('GET /v1/', ({ macaroon }) =>
    macaroon === CLIENT.token
      ? refusal(500, 2, 'verification failed: signature mismatch after caveat verification')
      : Response.json({ ...infoOf(node.pk), channels: [], pending_open_channels: [] }),
  );
  expect(await rejection(list(client))).toMatchObject({ kind: 'unauthenticated' });
  expect(connector.problems()).toEqual([]);
  expect(await list(owner)).toEqual([]);
});
