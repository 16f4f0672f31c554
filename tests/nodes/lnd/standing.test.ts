import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openLnd } from '../../../src/nodes/lnd/index.ts';
import { mintMacaroon } from '../../../src/nodes/lnd/words/macaroon.ts';
import { rejection } from '../../support/rejection.ts';
import { remoteOptions } from '../../support/remote-options.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { infoOf, nodeKey, refusal, scriptedLnd } from './scripted-lnd.ts';

setDefaultTimeout(SLOW_TEST_MS);

describe('health says of an LND', () => {
  const lnd = scriptedLnd();
  afterAll(() => lnd.stop());
  beforeEach(() => lnd.reset());
  const node = nodeKey(1);
  const TOKEN = mintMacaroon(new Uint8Array(32), new Uint8Array(16), new Map([['info', ['read']]]));
  const place = { url: lnd.url, cert: lnd.cert };
  const entry = {
    ...place,
    kind: 'lnd' as const,
    nodePk: node.pk,
    network: 'regtest' as const,
    token: TOKEN,
  };
  const configured = () => openLnd(remoteOptions([entry]));
  const ofRootSeed = () => openLnd(remoteOptions([], { root: place }));
  const said = async (words: RegExp, connector: ReturnType<typeof openLnd>) => {
    expect(connector.problems().join()).toMatch(/has not been asked yet/);
    await until(() => words.test(connector.problems().join()), String(words));
    await connector.close();
  };

  for (const [state, words] of [
    ['LOCKED', /is locked: unlock it with `lncli unlock`\./],
    ['NON_EXISTING', /has no wallet yet: create one with `lncli create`\./],
    ['UNLOCKED', /is starting or stopping: try again/],
    ['RPC_ACTIVE', /is starting or stopping: try again/],
  ] as const) {
    test(`in the state ${state} what its operator can do`, async () => {
      lnd.on('GET /v1/state', { state });
      await said(words, configured());
    });
  }

  for (const [state, words] of [
    ['LOCKED', /is locked: PUT \/v2\/node\/provision unlocks it\./],
    ['NON_EXISTING', /has no wallet yet: PUT \/v2\/node\/signup creates it\./],
  ] as const) {
    test(`of the root seed in the state ${state} what the sidecar can do`, async () => {
      lnd.on('GET /v1/state', { state });
      await said(words, ofRootSeed());
    });
  }

  test('that answers with another page than LND’s that it does not answer', async () => {
    lnd.on('GET /v1/state', () => new Response('<h1>Bad gateway</h1>', { status: 502 }));
    await said(/did not answer when it was last asked: check that it runs\./, configured());
  });

  test('that is reached through a proxy that both may be away', async () => {
    const proxy = { host: '127.0.0.1', port: 1 };
    const proxied = openLnd(remoteOptions([entry], { proxy }));
    await said(
      /did not answer through the SOCKS5 proxy of --node-proxy when it was last asked: check that both run\./,
      proxied,
    );
  });

  test('that tells its state, but answers no call, that it does not answer', async () => {
    lnd.on('GET /v1/state', { state: 'SERVER_ACTIVE' });
    lnd.on('GET /v1/getinfo', () => new Response('', { status: 502 }));
    await said(/did not answer/, configured());
  });

  test('nothing, once it serves; and its state is asked for without the macaroon', async () => {
    lnd.on('GET /v1/state', { state: 'SERVER_ACTIVE' });
    lnd.on('GET /v1/getinfo', infoOf(node.pk));
    await said(/^$/, configured());
    await until(() => lnd.requests.length === 2);
    expect(lnd.requests.map(({ path, macaroon }) => [path, macaroon])).toEqual([
      ['/v1/state', null],
      ['/v1/getinfo', TOKEN],
    ]);
  });

  test('that refuses a call because it is locked the same, without being asked', async () => {
    lnd.on('GET /v1/getinfo', () =>
      refusal(500, 2, 'wallet locked, unlock it to enable full RPC access'),
    );
    lnd.on('GET /v1/state', () => new Promise<Response>(() => undefined));
    const connector = configured();
    const { node: wallet } = await connector.connectConfigured(entry);
    expect(await rejection(wallet.info())).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('`lncli unlock`'),
    });
    expect(connector.problems().join()).toContain('is locked: unlock it with `lncli unlock`.');
  });
});
