import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeCredentials } from '../../src/model/credentials.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { connectLnd } from './connect.ts';
import { describeNetwork, LndRestError } from './harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from './node-sidecar.ts';
import { outsider } from './outsider.ts';
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts';

setDefaultTimeout(SLOW_TEST_MS);

describeNetwork('client credentials on LND', (network) => {
  let proxy: RecordingProxy;
  let sidecar: NodeSidecar;
  let own: string;
  beforeAll(async () => {
    const { alice } = network();
    proxy = await startRecordingProxy(alice);
    own = (await readFile(alice.macaroonPath)).toString('hex');
    sidecar = await startNodeSidecar(['--client-credentials', proxy.credentials]);
  });
  afterAll(async () => {
    await sidecar?.close();
    await proxy?.stop();
  });

  /** The macaroon of the last such request. */
  const macaroonOf = (method: string, path: string): string =>
    proxy.passed.findLast((one) => one.method === method && one.path === path)?.macaroonHex ?? '';
  /** Calls LND itself with a macaroon and returns the status. */
  const direct = async (macaroonHex: string, method: string, path: string, body?: unknown) => {
    try {
      await network().alice.rest(method, path, body, { macaroonHex });
      return 200;
    } catch (error) {
      if (error instanceof LndRestError) return error.body as { code: number; message: string };
      throw error;
    }
  };
  const ids = async () =>
    (await network().alice.rest<{ root_key_ids: string[] }>('GET', '/v1/macaroon/ids'))
      .root_key_ids;
  const ENDED = { message: expect.stringContaining('cannot get macaroon') };

  test('what an application holds names no place and holds no macaroon', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['receive'] });
    const text = Buffer.from(made.client_credentials, 'base64url').toString();
    expect(decodeCredentials(made.client_credentials)?.node).toBeNull();
    expect(text).not.toContain('https');
    expect(Object.keys(JSON.parse(text)).toSorted()).toEqual(['client', 'secret', 'v']);
    await sidecar.post('/v2/node/create_invoice', { amount: '7' }, made.client_credentials);
    expect(text).not.toContain(macaroonOf('POST', '/v1/invoices'));
  });

  test("a client's requests carry a macaroon by which LND itself refuses everything else", async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['receive'] });
    const credentials: string = made.client_credentials;
    const invoice = await sidecar.post('/v2/node/create_invoice', { amount: '7' }, credentials);
    expect(await outsider(network().bob).pays(invoice.invoice)).toBe('SUCCEEDED');
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials }),
      'forbidden',
      /node_info/,
    );
    const macaroon = macaroonOf('POST', '/v1/invoices');
    expect(macaroon).not.toBe(own);
    expect(await direct(macaroon, 'POST', '/v1/invoices', { value: '5' })).toBe(200);
    const refused: [string, string, object?][] = [
      ['GET', '/v1/balance/channels'],
      ['GET', '/v1/payments'],
      ['GET', '/v1/invoices'],
      ['GET', `/v1/invoice/${invoice.payment_hash}`],
      ['POST', '/v1/transactions', { addr: 'x' }],
      ['POST', '/v2/wallet/psbt/fund', {}],
      ['POST', '/v1/signmessage', { msg: 'AAAA' }],
      ['POST', '/v1/macaroon', {}],
      ['GET', '/v1/macaroon/ids'],
    ];
    for (const [method, path, body] of refused) {
      const answer = await direct(macaroon, method, path, body);
      expect({ path, answer }).toEqual({
        path,
        answer: { code: 2, message: 'permission denied', details: [] } as never,
      });
    }
  });

  test('a client that sends uses its own macaroon for that and for nothing besides', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['send'] });
    const { invoice } = await outsider(network().bob).invoice({ value: '12' });
    const paid = await sidecar.post('/v2/node/pay_invoice', { invoice }, made.client_credentials);
    expect(paid.status).toBe('completed');
    const macaroon = macaroonOf('POST', '/v2/router/send');
    expect(macaroon).not.toBe(own);
    const paths = proxy.passed.filter((one) => one.macaroonHex === macaroon);
    expect(new Set(paths.map(({ path }) => path))).toEqual(new Set(['/v2/router/send']));
    expect(await direct(macaroon, 'GET', '/v1/channels')).toMatchObject({
      message: 'permission denied',
    });
  });

  test('every client has a root key of its own, and a revoked one is refused by LND at once', async () => {
    const before = await ids();
    const [first, second] = [
      await sidecar.post('/v2/node/create_client', { scopes: ['read_info'], label: 'one' }),
      await sidecar.post('/v2/node/create_client', { scopes: ['read_info'], label: 'two' }),
    ];
    expect((await ids()).length).toBe(before.length + 2);
    const listed = await sidecar.get('/v2/node/list_clients');
    expect(listed.clients[first.client_pk]).toMatchObject({ label: 'one', scopes: ['read_info'] });
    await sidecar.get('/v2/node/list_channels', {}, first.client_credentials);
    const macaroon = macaroonOf('GET', '/v1/channels');
    expect(await direct(macaroon, 'GET', '/v1/getinfo')).toBe(200);
    await sidecar.post('/v2/node/revoke_client', { client_pk: first.client_pk });
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials: first.client_credentials }),
      'unauthenticated',
    );
    expect(await direct(macaroon, 'GET', '/v1/getinfo')).toMatchObject(ENDED);
    expect((await ids()).length).toBe(before.length + 1);
    await sidecar.get('/v2/node/node_info', {}, second.client_credentials);
    expect((await sidecar.get('/v2/node/list_clients')).clients).not.toHaveProperty(
      first.client_pk,
    );
  });

  test('a root key deleted at LND ends the credentials here too', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['read_info'] });
    const credentials: string = made.client_credentials;
    await sidecar.get('/v2/node/node_info', {}, credentials);
    for (const id of await ids()) {
      // The root key of the administrator's macaroon has id 0. It cannot be deleted, and it bakes the other macaroons.
      if (id !== '0') await network().alice.rest('DELETE', `/v1/macaroon/${id}`);
    }
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials }),
      'unauthenticated',
    );
  });

  test('a changed grant holds at once with the same credentials, and the old macaroon is dead', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['receive'] });
    const credentials: string = made.client_credentials;
    await sidecar.post('/v2/node/create_invoice', { amount: '7' }, credentials);
    const macaroon = macaroonOf('POST', '/v1/invoices');
    const updated = await sidecar.put('/v2/node/update_client', {
      client_pk: made.client_pk,
      scopes: ['read_info'],
    });
    expect(updated.client.scopes).toEqual(['read_info']);
    await sidecar.get('/v2/node/node_info', {}, credentials);
    expectError(
      await sidecar.call('POST', '/v2/node/create_invoice', { body: {}, credentials }),
      'forbidden',
    );
    expect(await direct(macaroon, 'POST', '/v1/invoices', { value: '5' })).toMatchObject(ENDED);
  });

  test('an expired client is refused by LND itself', async () => {
    const expiresAtMs = Date.now() + 3000;
    const made = await sidecar.post('/v2/node/create_client', {
      scopes: ['read_info'],
      expires_at: expiresAtMs,
    });
    const credentials: string = made.client_credentials;
    await sidecar.get('/v2/node/list_channels', {}, credentials);
    const macaroon = macaroonOf('GET', '/v1/channels');
    await until(() => Date.now() > expiresAtMs);
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials }),
      'unauthenticated',
    );
    expect(await direct(macaroon, 'GET', '/v1/getinfo')).toMatchObject({
      message: expect.stringContaining('caveat'),
    });
  });

  test('a client that manages clients makes weaker ones, and holds no macaroon that can', async () => {
    const manager = await sidecar.post('/v2/node/create_client', {
      scopes: ['manage_clients', 'read_info'],
    });
    const nested = await sidecar.post(
      '/v2/node/create_client',
      { scopes: ['read_info'] },
      manager.client_credentials,
    );
    expect(macaroonOf('POST', '/v1/macaroon')).toBe(own);
    await sidecar.get('/v2/node/node_info', {}, nested.client_credentials);
    await sidecar.get('/v2/node/list_channels', {}, manager.client_credentials);
    const macaroon = macaroonOf('GET', '/v1/channels');
    expect(macaroon).not.toBe(own);
    expect(
      await direct(macaroon, 'POST', '/v1/macaroon', {
        permissions: [{ entity: 'info', action: 'read' }],
      }),
    ).toMatchObject({ message: 'permission denied' });
  });

  test('a macaroon made by LND itself, configured, is good for what it allows and nothing more', async () => {
    const { macaroon } = await network().alice.rest<{ macaroon: string }>('POST', '/v1/macaroon', {
      permissions: [
        { entity: 'info', action: 'read' },
        { entity: 'invoices', action: 'read' },
        { entity: 'invoices', action: 'write' },
      ],
      root_key_id: '77',
    });
    const path = join(sidecar.dataDir, 'foreign.macaroon');
    writeFileSync(path, Buffer.from(macaroon, 'hex'), { mode: 0o600 });
    const credentials = await connectLnd(network().alice, path);
    expectError(
      await sidecar.call('GET', '/v2/node/client_info', { credentials }),
      'unauthenticated',
    );
    const other = await startNodeSidecar(['--client-credentials', credentials]);
    try {
      const info = await other.get('/v2/node/client_info');
      expect(info.effective_permissions).toContain('create_invoice');
      expect(info.effective_permissions).not.toContain('pay_invoice');
      await other.post('/v2/node/create_invoice', { amount: '3' });
      expectError(
        await other.call('POST', '/v2/node/pay_onchain', {
          body: { address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', amount: '1000' },
        }),
        'forbidden',
      );
    } finally {
      await other.close();
    }
  });

  test("clients survive a restart, and another store's clients are unknown here", async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['receive', 'read_info'] });
    const credentials: string = made.client_credentials;
    expect(await sidecar.stop()).toBe(0);
    await sidecar.start();
    const before = await sidecar.get('/v2/node/client_info', {}, credentials);
    expect(before).toMatchObject({ client_pk: made.client_pk, scopes: ['receive', 'read_info'] });
    await sidecar.get('/v2/node/node_info', {}, credentials);
    const other = await startNodeSidecar([
      '--client-credentials',
      await connectLnd(network().alice),
    ]);
    try {
      expectError(
        await other.call('GET', '/v2/node/node_info', { credentials }),
        'unauthenticated',
      );
    } finally {
      await other.close();
    }
  });

  test('a budget binds on LND as on the sandbox', async () => {
    const made = await sidecar.post('/v2/node/create_client', {
      scopes: ['send'],
      budget: { amount: '100', period: 'total' },
    });
    const credentials: string = made.client_credentials;
    const pay = async (sats: string) => {
      const { invoice } = await outsider(network().bob).invoice({ value: sats });
      return sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice, max_fee: '1' },
        credentials,
      });
    };
    expect((await pay('60')).body).toMatchObject({ status: 'completed' });
    expectError(await pay('60'), 'overBudget');
    expect((await pay('30')).body).toMatchObject({ status: 'completed' });
  });
});
