import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeCredentials } from '../../src/model/credentials.ts';
import type { FaultProxy } from '../hostile/fault-proxy.ts';
import { runBinary } from '../support/binary.ts';
import { throwing } from '../support/rejection.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type ClnNetwork, type ClnNode, LndRestError, type Network } from './harness/index.ts';
import { behindFaultProxy, clnNode, describeKinds } from './kinds.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { openConnector } from './node-world.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** What the node itself answers to a call with a token. */
type Direct = Readonly<Record<string, unknown>>;
/** A call of the node, as its kind writes it, and its body. */
type Call = readonly [call: string, body?: object];

/** A kind's tokens: the calls by which they are seen, and what the node itself says to them. */
interface TokenWords {
  /** Paths of the calls that make an invoice, pay one, list the channels, and make a token. */
  readonly paths: Readonly<Record<'invoice' | 'pay' | 'channels' | 'makeToken', string>>;
  /** What every token may do, and what one for invoices may. */
  readonly info: Call;
  readonly allowed: readonly Call[];
  /** What one for invoices may not do, nor one that sends. */
  readonly refused: readonly Call[];
  readonly makeInvoice: Call;
  readonly makeToken: Call;
  direct(token: string, call: Call): Promise<Direct>;
  readonly answers: Direct;
  readonly notPermitted: Direct;
  readonly ended: Direct;
  readonly expired: Direct;
  /** The tokens, or their keys, that are good at the node. */
  tokens(): Promise<readonly unknown[]>;
  /** Ends such a token at the node, without the sidecar. */
  end(token: string): Promise<void>;
  /** A token, made at the node itself, for node_info and invoices. */
  forInvoices(): Promise<string | Uint8Array>;
}

const CREATE_INVOICE = '/v2/node/create_invoice';

describeKinds(
  'client credentials',
  (network, { title, of }) => {
    let proxy: FaultProxy;
    let sidecar: NodeSidecar;
    let own: string;
    beforeAll(async () => {
      const { alice } = network();
      const placed = await behindFaultProxy(alice);
      proxy = placed.proxy;
      own = (await alice.entry()).token;
      sidecar = await startNodeSidecar(['--client-credentials', placed.credentials]);
    });
    afterAll(async () => {
      await sidecar?.close();
      await proxy?.stop();
    });

    const words = () => of({ lnd: macaroonWords, cln: runeWords });
    /** The token of the last such request. */
    const tokenOf = (call: keyof TokenWords['paths']): string =>
      proxy.seen.findLast(({ path }) => path === words().paths[call])?.token ?? '';
    const create = (scopes: readonly string[], terms: object = {}) =>
      sidecar.post('/v2/node/create_client', { scopes, ...terms });
    const fileOf = async (token: string | Uint8Array) => {
      const path = join(sidecar.dataDir, `token-${crypto.randomUUID()}`);
      await writeFile(path, token, { mode: 0o600 });
      return path;
    };
    /** Runs with another sidecar, on these credentials of the node. */
    async function onOther(credentials: string, run: (other: NodeSidecar) => Promise<void>) {
      const other = await startNodeSidecar(['--client-credentials', credentials]);
      try {
        await run(other);
      } finally {
        await other.close();
      }
    }
    const unauthenticated = async (credentials: string, path = '/v2/node/node_info') =>
      expectError(await sidecar.call('GET', path, { credentials }), 'unauthenticated');

    test('what an application holds names no place and holds no token', async () => {
      const { client_credentials } = await create(['receive']);
      const text = Buffer.from(client_credentials, 'base64url').toString();
      expect(decodeCredentials(client_credentials)?.node).toBeNull();
      expect(text).not.toContain('https');
      expect(Object.keys(JSON.parse(text)).toSorted()).toEqual(['client', 'secret', 'v']);
      await sidecar.post(CREATE_INVOICE, { amount: '7' }, client_credentials);
      expect(tokenOf('invoice')).not.toBe('');
      expect(text).not.toContain(tokenOf('invoice'));
    });

    test("a client's requests carry a token by which the node itself refuses everything else", async () => {
      const { direct, allowed, answers, refused, notPermitted } = words();
      const { client_credentials: credentials } = await create(['receive']);
      const made = await sidecar.post(CREATE_INVOICE, { amount: '7' }, credentials);
      expect(await network().bob.pays(made.invoice)).toBe(true);
      expectError(
        await sidecar.call('GET', '/v2/node/node_info', { credentials }),
        'forbidden',
        /node_info/,
      );
      const token = tokenOf('invoice');
      expect(token).not.toBe(own);
      for (const call of allowed) expect(await direct(token, call)).toMatchObject(answers);
      for (const call of refused) {
        expect({ call, ...(await direct(token, call)) }).toEqual({ call, ...notPermitted });
      }
    });

    test('a client that sends uses its own token for that and for nothing besides', async () => {
      const { client_credentials: credentials } = await create(['send']);
      const { invoice } = await network().bob.invoice({ amountMsat: 12_000 });
      const paid = await sidecar.post('/v2/node/pay_invoice', { invoice }, credentials);
      expect(paid.status).toBe('completed');
      const token = tokenOf('pay');
      expect(token).not.toBe(own);
      const paths = proxy.seen.filter((one) => one.token === token).map(({ path }) => path);
      expect(new Set(paths)).toEqual(new Set([words().paths.pay]));
      const [balance = ['']] = words().refused;
      expect(await words().direct(token, balance)).toEqual(words().notPermitted);
    });

    test('every client has a token of its own, and a revoked one is refused by the node at once', async () => {
      const { tokens, direct, info, answers, ended } = words();
      const before = (await tokens()).length;
      const first = await create(['read_info'], { label: 'one' });
      const second = await create(['read_info'], { label: 'two' });
      expect(await tokens()).toHaveLength(before + 2);
      const { clients } = await sidecar.get('/v2/node/list_clients');
      expect(clients[first.client_pk]).toMatchObject({ label: 'one', scopes: ['read_info'] });
      await sidecar.get('/v2/node/list_channels', {}, first.client_credentials);
      const token = tokenOf('channels');
      expect(await direct(token, info)).toMatchObject(answers);
      await sidecar.post('/v2/node/revoke_client', { client_pk: first.client_pk });
      expect(await direct(token, info)).toEqual(ended);
      await unauthenticated(first.client_credentials);
      expect(await tokens()).toHaveLength(before + 1);
      await sidecar.get('/v2/node/node_info', {}, second.client_credentials);
      const left = await sidecar.get('/v2/node/list_clients');
      expect(left.clients).not.toHaveProperty(first.client_pk);
    });

    test('a token ended at the node ends the credentials here too', async () => {
      const { client_credentials: credentials, client_pk } = await create(['read_info']);
      await sidecar.get('/v2/node/node_info', {}, credentials);
      await sidecar.get('/v2/node/list_channels', {}, credentials);
      await words().end(tokenOf('channels'));
      await unauthenticated(credentials, '/v2/node/list_channels');
      expect((await sidecar.get('/v2/health')).status).toBe('ok');
      await until(async () => {
        const { clients } = await sidecar.get('/v2/node/list_clients');
        return !(client_pk in clients);
      }, 'the client is gone');
      // What the node need not be asked for is gone too.
      await unauthenticated(credentials, '/v2/node/client_info');
    });

    test('a changed grant holds at once with the same credentials, and the old token is dead', async () => {
      const { direct, makeInvoice, ended, notPermitted } = words();
      const { client_credentials: credentials, client_pk } = await create(['receive']);
      await sidecar.post(CREATE_INVOICE, { amount: '7' }, credentials);
      const token = tokenOf('invoice');
      const change = { client_pk, scopes: ['read_info'] };
      const updated = await sidecar.put('/v2/node/update_client', change);
      expect(updated.client.scopes).toEqual(['read_info']);
      await sidecar.get('/v2/node/list_channels', {}, credentials);
      await sidecar.get('/v2/node/node_info', {}, credentials);
      expectError(
        await sidecar.call('POST', CREATE_INVOICE, { body: {}, credentials }),
        'forbidden',
      );
      expect(await direct(token, makeInvoice)).toEqual(ended);
      expect(await direct(tokenOf('channels'), makeInvoice)).toEqual(notPermitted);
    });

    test('an expired client is refused by the node itself', async () => {
      const expiresAtMs = Date.now() + 4000;
      const { client_credentials } = await create(['read_info'], { expires_at: expiresAtMs });
      await sidecar.get('/v2/node/list_channels', {}, client_credentials);
      const token = tokenOf('channels');
      await until(() => Date.now() > expiresAtMs);
      await unauthenticated(client_credentials);
      expect(await words().direct(token, words().info)).toEqual(words().expired);
    });

    test('a client that manages clients makes weaker ones, and holds no token that can', async () => {
      const { client_credentials: manager } = await create(['manage_clients', 'read_info']);
      const scopes = ['read_info'];
      const nested = await sidecar.post('/v2/node/create_client', { scopes }, manager);
      expect(tokenOf('makeToken')).toBe(own);
      await sidecar.get('/v2/node/node_info', {}, nested.client_credentials);
      await sidecar.get('/v2/node/list_channels', {}, manager);
      const token = tokenOf('channels');
      expect(token).not.toBe(own);
      expect(await words().direct(token, words().makeToken)).toEqual(words().notPermitted);
    });

    test('a token made by the node itself, configured, is good for what it allows and nothing more', async () => {
      const path = await fileOf(await words().forInvoices());
      const credentials = await network().alice.connect(path);
      await unauthenticated(credentials, '/v2/node/client_info');
      await onOther(credentials, async (other) => {
        const info = await other.get('/v2/node/client_info');
        expect(info.effective_permissions).toContain('create_invoice');
        expect(info.effective_permissions).not.toContain('pay_invoice');
        await other.post(CREATE_INVOICE, { amount: '3' });
        const { invoice } = await network().bob.invoice({ amountMsat: 1000 });
        const address = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
        for (const [order, body] of [
          ['pay_invoice', { invoice }],
          ['pay_onchain', { address, amount: '1000' }],
          ['create_client', { scopes: ['receive'] }],
        ] as const) {
          expectError(await other.call('POST', `/v2/node/${order}`, { body }), 'forbidden');
        }
      });
    });

    test("clients survive restarts of sidecar and node, and another store's clients are unknown here", async () => {
      const { alice, channelUsable } = network();
      const made = await create(['receive', 'read_info']);
      const credentials: string = made.client_credentials;
      await sidecar.get('/v2/node/node_info', {}, credentials);
      for (const end of [alice.stop, alice.kill]) {
        await end();
        const away = await sidecar.call('GET', '/v2/node/node_info', { credentials });
        expect(away.body.code).toBe(3);
        await alice.start();
        await channelUsable();
        await sidecar.get('/v2/node/node_info', {}, credentials);
        await sidecar.post(CREATE_INVOICE, { amount: '2' }, credentials);
      }
      expect(await sidecar.stop()).toBe(0);
      await sidecar.start();
      expect(await sidecar.get('/v2/node/client_info', {}, credentials)).toMatchObject({
        client_pk: made.client_pk,
        scopes: ['receive', 'read_info'],
      });
      await sidecar.get('/v2/node/node_info', {}, credentials);
      await onOther(await alice.connect(), async (other) => {
        const answer = await other.call('GET', '/v2/node/node_info', { credentials });
        expectError(answer, 'unauthenticated');
      });
    });

    test(`a budget binds on ${title} as on the sandbox`, async () => {
      const terms = { budget: { amount: '100', period: 'total' } };
      const { client_credentials: credentials } = await create(['send'], terms);
      const pay = async (sats: number) => {
        const { invoice } = await network().bob.invoice({ amountMsat: sats * 1000 });
        const body = { invoice, max_fee: '1' };
        return sidecar.call('POST', '/v2/node/pay_invoice', { body, credentials });
      };
      expect((await pay(60)).body).toMatchObject({ status: 'completed' });
      expectError(await pay(60), 'overBudget');
      expect((await pay(30)).body).toMatchObject({ status: 'completed' });
    });

    return { fileOf, onOther };
  },
  { cln: runeTests },
);

function macaroonWords({ alice }: Network): TokenWords {
  const keys = async () =>
    (await alice.rest<{ root_key_ids: string[] }>('GET', '/v1/macaroon/ids')).root_key_ids;
  const info = { entity: 'info', action: 'read' };
  return {
    paths: {
      invoice: '/v1/invoices',
      pay: '/v2/router/send',
      channels: '/v1/channels',
      makeToken: '/v1/macaroon',
    },
    info: ['GET /v1/getinfo'],
    allowed: [['POST /v1/invoices', { value: '5' }]],
    refused: [
      ['GET /v1/channels'],
      ['GET /v1/balance/channels'],
      ['GET /v1/payments'],
      ['GET /v1/invoices'],
      [`GET /v1/invoice/${'ab'.repeat(32)}`],
      ['POST /v1/transactions', { addr: 'x' }],
      ['POST /v2/wallet/psbt/fund', {}],
      ['POST /v1/signmessage', { msg: 'AAAA' }],
      ['POST /v1/macaroon', {}],
      ['GET /v1/macaroon/ids'],
    ],
    makeInvoice: ['POST /v1/invoices', { value: '5' }],
    makeToken: ['POST /v1/macaroon', { permissions: [info] }],
    async direct(macaroonHex, [call, body]) {
      const [method = '', path = ''] = call.split(' ');
      try {
        await alice.rest(method, path, body, { macaroonHex });
        return { status: 200 };
      } catch (error) {
        if (error instanceof LndRestError) return error.body as Direct;
        throw error;
      }
    },
    answers: { status: 200 },
    notPermitted: { code: 2, message: 'permission denied', details: [] },
    ended: expect.objectContaining({ message: expect.stringContaining('cannot get macaroon') }),
    expired: expect.objectContaining({ message: expect.stringContaining('caveat') }),
    tokens: keys,
    async end() {
      for (const id of await keys()) {
        // The root key of the administrator's macaroon has id 0. It cannot be deleted, and it bakes the other macaroons.
        if (id !== '0') await alice.rest('DELETE', `/v1/macaroon/${id}`);
      }
    },
    async forInvoices() {
      const invoices = ['read', 'write'].map((action) => ({ entity: 'invoices', action }));
      const request = { permissions: [info, ...invoices], root_key_id: '77' };
      const made = await alice.rest<{ macaroon: string }>('POST', '/v1/macaroon', request);
      return Buffer.from(made.macaroon, 'hex');
    },
  };
}

function runeWords({ alice }: ClnNetwork): TokenWords {
  return {
    paths: {
      invoice: '/v1/invoice',
      pay: '/v1/xpay',
      channels: '/v1/listpeerchannels',
      makeToken: '/v1/createrune',
    },
    info: ['getinfo'],
    allowed: [['getinfo']],
    refused: [
      ...['listfunds', 'listinvoices', 'listsendpays', 'xpay', 'txprepare', 'withdraw'],
      ...['createrune', 'showrunes', 'blacklistrune', 'signmessage', 'stop', 'sendpsbt'],
    ].map((method) => [method]),
    makeInvoice: ['invoice'],
    makeToken: ['createrune'],
    async direct(rune, [method, body = {}]) {
      const response = await fetch(`${alice.url}/v1/${method}`, {
        method: 'POST',
        headers: { rune, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        tls: { ca: await Bun.file(alice.certPath).text() },
      });
      const { code = 0 } = (await response.json()) as { code?: number };
      return { status: response.status, code };
    },
    answers: { status: 201 },
    notPermitted: { status: 401, code: 1502 },
    ended: { status: 401, code: 1503 },
    expired: { status: 401, code: 1502 },
    async tokens() {
      const { runes } = await alice.rpc<{ runes: { blacklisted?: boolean }[] }>('showrunes');
      return runes.filter((one) => !one.blacklisted);
    },
    async end(rune) {
      const bytes = Buffer.from(rune, 'base64url');
      const id = Number(/^=(\d+)/.exec(bytes.subarray(32).toString())?.[1]);
      await alice.rpc('blacklistrune', { start: id, end: id });
    },
    forInvoices: () => runeForInvoices(alice),
  };
}

function runeForInvoices(node: ClnNode): Promise<string> {
  const methods = ['getinfo', 'listfunds', 'listpeerchannels', 'listinvoices', 'invoice', 'wait'];
  return createRune(node, [methods.map((method) => `method=${method}`)]);
}

async function createRune(
  node: ClnNode,
  restrictions: readonly (readonly string[])[],
): Promise<string> {
  return (await node.rpc<{ rune: string }>('createrune', { restrictions })).rune;
}

/** What is told of runes alone. */
function runeTests(
  network: () => ClnNetwork,
  {
    fileOf,
    onOther,
  }: {
    fileOf(token: string): Promise<string>;
    onOther(credentials: string, run: (other: NodeSidecar) => Promise<void>): Promise<void>;
  },
): void {
  const connect = async (runePath: string, ...further: string[]) => {
    const { url, certPath } = network().alice;
    return runBinary([
      ...['connect', 'cln', '--url', url, '--cert-path', certPath, '--rune-path', runePath],
      ...further,
    ]);
  };

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
    const { stderr: restricted } = await connect(await fileOf(await runeForInvoices(alice)));
    expect(restricted).toContain('create_invoice');
    expect(restricted).not.toContain('pay_invoice');
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

  test('a rune with a rate stays good when calls come too soon', async () => {
    const path = await fileOf(await createRune(network().alice, [['rate=4']]));
    // The first call of the minute may already be spent by the time that connect asks.
    await onOther(await clnNode(network().alice).connect(path), async (other) => {
      const answers = [];
      for (let call = 0; call < 8; call++) {
        answers.push(await other.call('POST', CREATE_INVOICE, { body: {} }));
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
    });
  });

  test("a client's rune is refused as configuration", async () => {
    const entry = await clnNode(network().alice).entry();
    const { tokens } = (await openConnector(network(), [entry]).connectConfigured(entry)).node;
    const id = tokens?.newId() ?? '';
    const terms = { id, permissions: ['create_invoice'] as const, expiresAtMs: null };
    const ofClient = { ...entry, token: (await tokens?.issue(terms)) ?? '' };
    const connector = openConnector(network(), [ofClient]);
    const used = connector.connectConfigured(ofClient).then(({ node }) => node.info());
    expect(await throwing(used)).toThrow();
    expect(connector.problems().join()).toContain('was made by this sidecar for a client');
    await tokens?.revoke(id);
  });
}
