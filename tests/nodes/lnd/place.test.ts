import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import type { NodeCredentials } from '../../../src/model/credentials.ts';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { RootKeyIds } from '../../../src/nodes/lnd/set-up/tokens.ts';
import { mintMacaroon } from '../../../src/nodes/lnd/words/macaroon.ts';
import { fingerprintOf } from '../../../src/nodes/remote/calls/location.ts';
import { memoryState } from '../../support/memory-state.ts';
import { rejection, throwing } from '../../support/rejection.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import { infoOf, nodeKey, refusal, type ScriptedLnd, scriptedLnd } from './scripted-lnd.ts';

const MARK = 'ab'.repeat(16);
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
const macaroonOf = (fill: number) =>
  mintMacaroon(
    new Uint8Array(32).fill(fill),
    new Uint8Array(16),
    new Map([
      ['info', ['read']],
      ['offchain', ['read']],
    ]),
  );
const OWN = macaroonOf(1);
const CLIENT = { id: '5', token: 'c11e47' };
const node = nodeKey(1);
const stranger = nodeKey(2);
const here = scriptedLnd();
const there = scriptedLnd();
afterAll(() => {
  here.stop();
  there.stop();
});
let state = memoryState();
beforeEach(() => {
  state = memoryState();
  for (const place of [here, there]) {
    place.reset();
    place.on('GET /v1/getinfo', infoOf(node.pk));
    place.on('GET /v1/channels', { channels: [] });
    place.on('GET /v1/channels/pending', { pending_open_channels: [] });
    place.on('POST /v1/signmessage', ({ body }) => Response.json(node.signMessage(body.msg)));
  }
});

const entryAt = (
  { url, cert }: ScriptedLnd,
  change: Partial<NodeCredentials> = {},
): NodeCredentials => ({
  kind: 'lnd',
  url,
  cert,
  nodePk: node.pk,
  network: 'regtest',
  token: OWN,
  ...change,
});
const open = (...entries: NodeCredentials[]) =>
  openLnd(remoteOptions(entries, { state, mark: MARK }));
/** The tokens that a place received. Health asks for LND's state without one. */
const tokensAt = (place: ScriptedLnd) =>
  new Set(place.requests.flatMap(({ macaroon }) => macaroon ?? []));
async function use(...entries: NodeCredentials[]): Promise<{ userPk: string }> {
  const connector = open(...entries);
  const [first] = entries;
  if (first === undefined) throw new Error('no entry');
  const { userPk, node: wallet } = await connector.connectConfigured(first);
  await wallet.channels?.listChannels();
  return { userPk };
}
async function callAsClient(userPk: string, ...entries: NodeCredentials[]): Promise<void> {
  const connector = open(...entries);
  const client = await connector.connectClient(userPk, () => CLIENT);
  await client.node.channels?.listChannels();
}

describe('a configured place', () => {
  test('is asked for nothing before it is needed', async () => {
    const connector = open(entryAt(here));
    const { userPk, node: wallet } = await connector.connectConfigured(entryAt(here));
    await connector.connectClient(userPk, () => CLIENT);
    expect(wallet.descriptor).toEqual({
      kind: 'lnd',
      network: 'regtest',
      nodePk: entryAt(here).nodePk ?? '',
    });
    expect(here.requests).toEqual([]);
  });

  test('that is not in the configuration is not gone to', async () => {
    const connector = open(entryAt(here));
    expect(await rejection(connector.connectConfigured(entryAt(there)))).toMatchObject({
      kind: 'unauthenticated',
    });
    expect(there.requests).toEqual([]);
  });

  test('twice for one node is a problem where the first contact tells', async () => {
    const unnamed = entryAt(there, { nodePk: null, network: null });
    const connector = open(entryAt(here), unnamed);
    expect(await rejection(connector.connectConfigured(unnamed))).toMatchObject({
      kind: 'refused',
    });
    expect(connector.problems().join()).toContain('remove one');
  });

  test('whose node has another key is not used, and gets no token of a client', async () => {
    here.on('GET /v1/getinfo', infoOf(stranger.pk));
    const connector = open(entryAt(here));
    const { userPk, node: wallet } = await connector.connectConfigured(entryAt(here));
    expect(await rejection(wallet.channels?.listChannels())).toMatchObject({ kind: 'refused' });
    expect(await rejection(callAsClient(userPk, entryAt(here)))).toMatchObject({ kind: 'refused' });
    expect(tokensAt(here)).toEqual(new Set([OWN]));
    expect(connector.problems().join()).toContain('node key');
  });

  test('with a macaroon that was made here for a client is refused, with what to do', async () => {
    const id = new RootKeyIds(MARK).draw(random(4));
    const marked = OWN.replace(
      Buffer.from([0x12, 1, 0x30]).toString('hex'),
      Buffer.from([0x12, id.length, ...Buffer.from(id)]).toString('hex'),
    );
    const length = Number.parseInt(OWN.slice(14, 16), 16) + id.length - 1;
    const token = marked.slice(0, 14) + length.toString(16).padStart(2, '0') + marked.slice(16);
    const entry = entryAt(here, { token });
    const connector = open(entry);
    expect(await throwing(connector.connectConfigured(entry))).toThrow(/made by this sidecar/);
    expect(connector.problems()).toHaveLength(1);
    expect(here.requests).toEqual([]);
  });

  test('goes on with what an earlier release stored of it', async () => {
    const entry = entryAt(here, { nodePk: null, network: null });
    const fingerprint = fingerprintOf(entry);
    const found = { nodePk: node.pk, network: 'regtest' };
    await state.put('lnd', 'lnd-location', fingerprint, found);
    const seed = sha256(new TextEncoder().encode(`wallet-sidecar/lnd-user/${node.pk}`));
    const userPk = Buffer.from(ed25519.getPublicKey(seed)).toString('hex');
    await state.put(userPk, 'lnd-place', 'last', { fingerprint: 'of another place' });
    const connector = open(entry);
    const wallet = await connector.connectConfigured(entry);
    expect([wallet.userPk, here.requests]).toEqual([userPk, []]);
    await wallet.node.channels?.listChannels();
    expect(here.requests.map(({ path }) => path)).toContain('/v1/signmessage');
    expect(await state.get(userPk, 'lnd-place', 'last')).toEqual({ fingerprint });
  });

  test('of the first version learns its key at first contact and keeps it', async () => {
    const entry = entryAt(here, { nodePk: null, network: null });
    const { userPk } = await use(entry);
    here.reset();
    const connector = open(entry);
    expect((await connector.connectConfigured(entry)).userPk).toBe(userPk);
    expect(here.requests).toEqual([]);
    here.on('GET /v1/getinfo', infoOf(stranger.pk));
    const { node: wallet } = await connector.connectConfigured(entry);
    expect(await throwing(wallet.channels?.listChannels())).toThrow(/node key/);
  });

  test('is the only one that gets the tokens of its wallet', async () => {
    there.on('GET /v1/getinfo', infoOf(stranger.pk));
    const entries = [entryAt(here), entryAt(there, { nodePk: stranger.pk, token: macaroonOf(2) })];
    const { userPk } = await use(...entries);
    await callAsClient(userPk, ...entries);
    expect(tokensAt(here)).toEqual(new Set([OWN, CLIENT.token]));
    expect(there.requests).toEqual([]);
  });

  test('a wallet that no place speaks for is out of reach', async () => {
    expect(await rejection(callAsClient('ee'.repeat(32), entryAt(here)))).toMatchObject({
      kind: 'unreachable',
    });
  });
});

describe('a new place of a wallet', () => {
  test("gets the clients' tokens once the node there has signed a challenge", async () => {
    const { userPk } = await use(entryAt(here));
    await callAsClient(userPk, entryAt(there));
    const paths = there.requests.map(({ path, macaroon }) => [path, macaroon]);
    expect(paths.slice(0, 2)).toEqual([
      ['/v1/getinfo', OWN],
      ['/v1/signmessage', OWN],
    ]);
    expect(tokensAt(there)).toEqual(new Set([OWN, CLIENT.token]));
    there.requests.length = 0;
    await callAsClient(userPk, entryAt(there));
    expect(there.requests.map(({ path }) => path)).not.toContain('/v1/signmessage');
  });

  test('asks for a signature also when only the certificate is new', async () => {
    const { userPk } = await use(entryAt(here, { cert: `${here.cert}\n# another\n` }));
    await callAsClient(userPk, entryAt(here));
    expect(here.requests.map(({ path }) => path)).toContain('/v1/signmessage');
  });

  const forgeries: [string, (msg: unknown) => Response][] = [
    ['another key', (msg) => Response.json(stranger.signMessage(msg))],
    ['the key, for another challenge', () => Response.json(node.signMessage('AAAA'))],
    ['nothing that can be read', () => Response.json({ signature: 'y0y0' })],
  ];
  for (const [name, answer] of forgeries) {
    test(`gets none when it signs with ${name}`, async () => {
      const { userPk } = await use(entryAt(here));
      there.on('POST /v1/signmessage', ({ body }) => answer(body.msg));
      expect(await rejection(callAsClient(userPk, entryAt(there)))).toMatchObject({
        kind: 'refused',
      });
      expect(tokensAt(there)).toEqual(new Set([OWN]));
    });
  }

  test('whose macaroon may not sign is a problem that says what to do', async () => {
    await use(entryAt(here));
    there.on('POST /v1/signmessage', () => refusal(500, 2, 'permission denied'));
    const connector = open(entryAt(there));
    const { node: wallet } = await connector.connectConfigured(entryAt(there));
    expect(await rejection(wallet.channels?.listChannels())).toMatchObject({ kind: 'refused' });
    expect(connector.problems().join()).toContain('message:write');
    there.on('POST /v1/signmessage', ({ body }) => Response.json(node.signMessage(body.msg)));
    await wallet.channels?.listChannels();
    expect(connector.problems()).toEqual([]);
  });
});

describe('the place of a root seed', () => {
  const [SEED, OTHER_SEED] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(8)];
  const connector = () =>
    openLnd(remoteOptions([], { state, root: { url: here.url, cert: here.cert }, mark: MARK }));

  test('opens the wallet that it had before without asking LND', async () => {
    const first = await connector().connectRoot(SEED);
    here.reset();
    const { userPk } = await connector().connectRoot(SEED);
    expect(userPk).toBe(first.userPk);
    expect(here.requests).toEqual([]);
  });

  test('asks LND for the wallet of another seed, and gives out nothing of the first', async () => {
    const first = await connector().connectRoot(SEED);
    here.on('GET /v1/getinfo', infoOf(stranger.pk));
    const other = await connector().connectRoot(OTHER_SEED);
    expect(other.userPk).not.toBe(first.userPk);
    here.on('GET /v1/getinfo', () => refusal(500, 2, 'wallet locked, unlock it'));
    expect(await rejection(connector().connectRoot(SEED))).toMatchObject({ kind: 'unreachable' });
  });

  test('is not used for the wallet of the seed when its node has another key', async () => {
    await connector().connectRoot(SEED);
    here.on('GET /v1/getinfo', infoOf(stranger.pk));
    const { node: wallet } = await connector().connectRoot(SEED);
    expect(await rejection(wallet.channels?.listChannels())).toMatchObject({ kind: 'refused' });
  });
});
