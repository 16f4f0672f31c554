import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeCredentials } from '../../src/model/credentials.ts';
import type { FaultProxy } from '../hostile/fault-proxy.ts';
import { runBinary } from '../support/binary.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { behindFaultProxy, entryOf, openConnector } from './cln-node-world.ts';
import { clnOutsider } from './cln-outsider.ts';
import { connectCln } from './connect.ts';
import { describeClnNetwork } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** What an expired or ended rune, and one that lacks a right, are told. */
const BLACKLISTED = { status: 401, code: 1503 };
const NOT_PERMITTED = { status: 401, code: 1502 };

describeClnNetwork('client credentials on Core Lightning', (network) => {
  let proxy: FaultProxy;
  let sidecar: NodeSidecar;
  beforeAll(async () => {
    const placed = await behindFaultProxy(network().alice);
    proxy = placed.proxy;
    sidecar = await startNodeSidecar(['--client-credentials', placed.credentials]);
  });
  afterAll(async () => {
    await sidecar?.close();
    await proxy?.stop();
  });

  /** The rune of the last request for the method. */
  const runeOf = (method: string): string =>
    proxy.seen.findLast(({ path }) => path === `/v1/${method}`)?.token ?? '';
  /** Calls the node itself with a rune. */
  async function direct(rune: string, method: string, params: object = {}) {
    const { url, certPath } = network().alice;
    const response = await fetch(`${url}/v1/${method}`, {
      method: 'POST',
      headers: { rune, 'content-type': 'application/json' },
      body: JSON.stringify(params),
      tls: { ca: await Bun.file(certPath).text() },
    });
    const body = (await response.json()) as { code?: number };
    return { status: response.status, code: body.code ?? 0 };
  }
  const runes = async () =>
    (await network().alice.rpc<{ runes: { blacklisted?: boolean }[] }>('showrunes')).runes.filter(
      (one) => !one.blacklisted,
    );
  const createRune = async (restrictions: readonly (readonly string[])[]) =>
    (await network().alice.rpc<{ rune: string }>('createrune', { restrictions })).rune;
  const fileOf = async (rune: string) => {
    const path = join(sidecar.dataDir, `rune-${crypto.randomUUID()}`);
    await writeFile(path, rune, { mode: 0o600 });
    return path;
  };
  const connect = async (runePath: string, ...further: string[]) => {
    const { url, certPath } = network().alice;
    return runBinary([
      ...['connect', 'cln', '--url', url, '--cert-path', certPath, '--rune-path', runePath],
      ...further,
    ]);
  };
  const create = (scopes: readonly string[], terms: object = {}) =>
    sidecar.post('/v2/node/create_client', { scopes, ...terms });

  test('connect says which node it found and what the rune allows, and prints credentials', async () => {
    const { alice } = network();
    const { stdout, stderr, exitCode } = await connect(alice.runePath);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`Core Lightning ${alice.version} on regtest, node ${alice.pubkey}`);
    expect(stderr).toContain('pay_onchain');
    expect(stderr).toContain('they hold the rune');
    expect(stderr).not.toContain(alice.rune);
    expect(stdout.trim()).toMatch(/^[\w-]+$/);
    const json = JSON.parse((await connect(alice.runePath, '--json')).stdout);
    expect(json).toMatchObject({ node_pk: alice.pubkey, network: 'regtest' });
  });

  test('connect takes what lightning-cli prints', async () => {
    const printed = await network().alice.rpc<{ rune: string }>('createrune');
    const path = await fileOf(JSON.stringify(printed, null, 3));
    expect((await connect(path)).exitCode).toBe(0);
  });

  test('connect refuses what is no rune, and a rune of another node', async () => {
    const none = await connect(await fileOf('not a rune'));
    expect(none.exitCode).not.toBe(0);
    expect(none.stderr).toContain('holds no rune of Core Lightning');
    const foreign = await connect(network().bob.runePath);
    expect(foreign.exitCode).not.toBe(0);
    expect(foreign.stderr).toContain('does not accept this rune');
    expect(foreign.stdout).toBe('');
  });

  test('a restricted rune is good for what it allows and nothing more', async () => {
    const methods = ['getinfo', 'listfunds', 'listpeerchannels', 'listinvoices', 'invoice', 'wait'];
    const rune = await createRune([methods.map((method) => `method=${method}`)]);
    const path = await fileOf(rune);
    const { stderr } = await connect(path);
    expect(stderr).toContain('create_invoice');
    expect(stderr).not.toContain('pay_invoice');
    const other = await startNodeSidecar([
      '--client-credentials',
      await connectCln(network().alice, path),
    ]);
    try {
      const info = await other.get('/v2/node/client_info');
      expect(info.effective_permissions).toContain('create_invoice');
      expect(info.effective_permissions).not.toContain('pay_invoice');
      await other.post('/v2/node/create_invoice', { amount: '3' });
      const { invoice } = await clnOutsider(network().bob).invoice({ amount_msat: 1000 });
      expectError(
        await other.call('POST', '/v2/node/pay_invoice', { body: { invoice } }),
        'forbidden',
      );
      expectError(
        await other.call('POST', '/v2/node/create_client', { body: { scopes: ['receive'] } }),
        'forbidden',
      );
    } finally {
      await other.close();
    }
  });

  test('a rune with a rate stays good when calls come too soon', async () => {
    const path = await fileOf(await createRune([['rate=4']]));
    // The first call of the minute may already be spent by the time that connect asks.
    const credentials = await connectCln(network().alice, path);
    const other = await startNodeSidecar(['--client-credentials', credentials]);
    try {
      const answers = [];
      for (let call = 0; call < 8; call++) {
        answers.push(await other.call('POST', '/v2/node/create_invoice', { body: {} }));
      }
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused.length).toBeGreaterThan(0);
      for (const answer of refused) {
        expect(answer.status).not.toBe(401);
        expect(answer.body.code).not.toBe(104);
      }
      expect((await other.get('/v2/health')).status).not.toMatch(/does not accept/);
      const info = await other.get('/v2/node/client_info');
      expect(info.effective_permissions).toContain('create_invoice');
    } finally {
      await other.close();
    }
  });

  test('what an application holds names no place and holds no rune', async () => {
    const { client_credentials } = await create(['receive']);
    const text = Buffer.from(client_credentials, 'base64url').toString();
    expect(decodeCredentials(client_credentials)?.node).toBeNull();
    expect(Object.keys(JSON.parse(text)).toSorted()).toEqual(['client', 'secret', 'v']);
    await sidecar.post('/v2/node/create_invoice', { amount: '7' }, client_credentials);
    expect(text).not.toContain(runeOf('invoice'));
  });

  test("a client's requests carry a rune by which the node itself refuses everything else", async () => {
    const { client_credentials: credentials } = await create(['receive']);
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '7' }, credentials);
    expect(await clnOutsider(network().bob).pays(made.invoice)).toBe(true);
    const rune = runeOf('invoice');
    expect(rune).not.toBe(network().alice.rune);
    expect(await direct(rune, 'getinfo')).toMatchObject({ status: 201 });
    const refused = [
      ...['listfunds', 'listinvoices', 'listsendpays', 'xpay', 'txprepare', 'withdraw'],
      ...['createrune', 'showrunes', 'blacklistrune', 'signmessage', 'stop', 'sendpsbt'],
    ];
    for (const method of refused) {
      expect({ method, ...(await direct(rune, method)) }).toEqual({ method, ...NOT_PERMITTED });
    }
  });

  test('a client that sends uses its own rune for that and for nothing besides', async () => {
    const { client_credentials: credentials } = await create(['send']);
    const { invoice } = await clnOutsider(network().bob).invoice({ amount_msat: 12_000 });
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice }, credentials);
    expect(paid.status).toBe('completed');
    const rune = runeOf('xpay');
    expect(rune).not.toBe(network().alice.rune);
    const paths = proxy.seen.filter(({ token }) => token === rune).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set(['/v1/xpay']));
    expect(await direct(rune, 'listfunds')).toEqual(NOT_PERMITTED);
  });

  test('every client has a rune of its own, and a revoked one is refused by the node at once', async () => {
    const before = (await runes()).length;
    const first = await create(['read_info']);
    const second = await create(['read_info']);
    expect((await runes()).length).toBe(before + 2);
    await sidecar.get('/v2/node/list_channels', {}, first.client_credentials);
    const rune = runeOf('listpeerchannels');
    expect(await direct(rune, 'getinfo')).toMatchObject({ status: 201 });
    await sidecar.post('/v2/node/revoke_client', { client_pk: first.client_pk });
    expect(await direct(rune, 'getinfo')).toEqual(BLACKLISTED);
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials: first.client_credentials }),
      'unauthenticated',
    );
    expect((await runes()).length).toBe(before + 1);
    await sidecar.get('/v2/node/node_info', {}, second.client_credentials);
  });

  test('a rune blacklisted at the node ends the credentials here too', async () => {
    const { client_credentials: credentials, client_pk } = await create(['read_info']);
    await sidecar.get('/v2/node/list_channels', {}, credentials);
    const bytes = Buffer.from(runeOf('listpeerchannels'), 'base64url');
    const id = Number(/^=(\d+)/.exec(bytes.subarray(32).toString())?.[1]);
    await network().alice.rpc('blacklistrune', { start: id, end: id });
    expectError(
      await sidecar.call('GET', '/v2/node/list_channels', { credentials }),
      'unauthenticated',
    );
    expect((await sidecar.get('/v2/health')).status).toBe('ok');
    await until(async () => {
      const { clients } = await sidecar.get('/v2/node/list_clients');
      return !(client_pk in clients);
    }, 'the client is gone');
    // What the node need not be asked for is gone too.
    expectError(
      await sidecar.call('GET', '/v2/node/client_info', { credentials }),
      'unauthenticated',
    );
  });

  test('a changed grant holds at once with the same credentials, and the old rune is dead', async () => {
    const { client_credentials: credentials, client_pk } = await create(['receive']);
    await sidecar.post('/v2/node/create_invoice', { amount: '7' }, credentials);
    const rune = runeOf('invoice');
    await sidecar.put('/v2/node/update_client', { client_pk, scopes: ['read_info'] });
    await sidecar.get('/v2/node/list_channels', {}, credentials);
    expectError(
      await sidecar.call('POST', '/v2/node/create_invoice', { body: {}, credentials }),
      'forbidden',
    );
    expect(await direct(rune, 'invoice')).toEqual(BLACKLISTED);
    expect(await direct(runeOf('listpeerchannels'), 'invoice')).toEqual(NOT_PERMITTED);
  });

  test('an expired client is refused by the node itself', async () => {
    const expiresAtMs = Date.now() + 4000;
    const made = await create(['read_info'], { expires_at: expiresAtMs });
    const credentials: string = made.client_credentials;
    await sidecar.get('/v2/node/list_channels', {}, credentials);
    const rune = runeOf('listpeerchannels');
    await until(() => Date.now() > expiresAtMs);
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials }),
      'unauthenticated',
    );
    expect(await direct(rune, 'getinfo')).toEqual(NOT_PERMITTED);
  });

  test("a client's rune is refused as configuration", async () => {
    const entry = await entryOf(network().alice);
    const { tokens } = (await openConnector(network(), [entry]).connectConfigured(entry)).node;
    const id = tokens?.newId() ?? '';
    const terms = { id, permissions: ['create_invoice'] as const, expiresAtMs: null };
    const ofClient = { ...entry, token: (await tokens?.issue(terms)) ?? '' };
    const connector = openConnector(network(), [ofClient]);
    const used = connector.connectConfigured(ofClient).then(({ node }) => node.info());
    await expect(used).rejects.toThrow();
    expect(connector.problems().join()).toContain('was made by this sidecar for a client');
    await tokens?.revoke(id);
  });

  test('clients survive a restart of the sidecar and of lightningd', async () => {
    const { client_credentials: credentials } = await create(['receive', 'read_info']);
    await sidecar.get('/v2/node/node_info', {}, credentials);
    for (const end of [network().alice.stop, network().alice.kill]) {
      await end();
      const away = await sidecar.call('GET', '/v2/node/node_info', { credentials });
      expect(away.body.code).toBe(3);
      await network().alice.start();
      await network().channelUsable();
      await sidecar.get('/v2/node/node_info', {}, credentials);
      await sidecar.post('/v2/node/create_invoice', { amount: '2' }, credentials);
    }
    expect(await sidecar.stop()).toBe(0);
    await sidecar.start();
    await sidecar.get('/v2/node/node_info', {}, credentials);
  });

  test('a budget binds on Core Lightning as on the sandbox', async () => {
    const { client_credentials: credentials } = await create(['send'], {
      budget: { amount: '100', period: 'total' },
    });
    const pay = async (sats: number) => {
      const { invoice } = await clnOutsider(network().bob).invoice({ amount_msat: sats * 1000 });
      const body = { invoice, max_fee: '1' };
      return sidecar.call('POST', '/v2/node/pay_invoice', { body, credentials });
    };
    expect((await pay(60)).body).toMatchObject({ status: 'completed' });
    expectError(await pay(60), 'overBudget');
    expect((await pay(30)).body).toMatchObject({ status: 'completed' });
  });
});
