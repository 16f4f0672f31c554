import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeCredentials } from '../../src/model/credentials.ts';
import { expectError } from '../conformance/request.ts';
import { describeNetwork, LndRestError } from './harness/index.ts';
import { connectLnd, type LndSidecar, startLndSidecar } from './lnd-sidecar.ts';
import { outsider } from './outsider.ts';

describeNetwork('client credentials on LND', (network) => {
  let sidecar: LndSidecar;
  beforeAll(async () => {
    sidecar = await startLndSidecar(['--client-credentials', connectLnd(network().alice)]);
  });
  afterAll(() => sidecar?.close());

  const macaroonOf = (credentials: string): string => decodeCredentials(credentials)?.secret ?? '';
  /** Calls LND itself with the macaroon inside credentials; answers the status. */
  const direct = async (credentials: string, method: string, path: string, body?: unknown) => {
    try {
      await network().alice.rest(method, path, body, { macaroonHex: macaroonOf(credentials) });
      return 200;
    } catch (error) {
      if (error instanceof LndRestError) return error.body as { code: number; message: string };
      throw error;
    }
  };
  const DENIED = { code: 2, message: 'permission denied', details: [] };

  test('a client can do what it was granted, and LND itself refuses it everything else', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['receive'] });
    const credentials: string = made.client_credentials;
    const invoice = await sidecar.post('/v2/node/create_invoice', { amount: '7' }, credentials);
    expect(await outsider(network().bob).pays(invoice.invoice)).toBe('SUCCEEDED');
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials }),
      'forbidden',
      /node_info/,
    );
    expect(await direct(credentials, 'POST', '/v1/invoices', { value: '5' })).toBe(200);
    expect(await direct(credentials, 'GET', '/v1/balance/channels')).toEqual(DENIED);
    expect(await direct(credentials, 'GET', '/v1/payments')).toEqual(DENIED);
    expect(await direct(credentials, 'POST', '/v1/transactions', { addr: 'x' })).toEqual(DENIED);
    expect(await direct(credentials, 'POST', '/v1/macaroon', {})).toEqual(DENIED);
  });

  test('every client has a root key of its own, and a revoked one is refused by LND at once', async () => {
    const ids = async () =>
      (await network().alice.rest<{ root_key_ids: string[] }>('GET', '/v1/macaroon/ids'))
        .root_key_ids;
    const before = await ids();
    const [first, second] = [
      await sidecar.post('/v2/node/create_client', { scopes: ['read_info'], label: 'one' }),
      await sidecar.post('/v2/node/create_client', { scopes: ['read_info'], label: 'two' }),
    ];
    expect((await ids()).length).toBe(before.length + 2);
    const listed = await sidecar.get('/v2/node/list_clients');
    expect(listed.clients[first.client_pk]).toMatchObject({ label: 'one', scopes: ['read_info'] });
    await sidecar.get('/v2/node/node_info', {}, first.client_credentials);
    await sidecar.post('/v2/node/revoke_client', { client_pk: first.client_pk });
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials: first.client_credentials }),
      'unauthenticated',
    );
    expect(await direct(first.client_credentials, 'GET', '/v1/getinfo')).toMatchObject({
      message: expect.stringContaining('cannot get macaroon'),
    });
    expect((await ids()).length).toBe(before.length + 1);
    expect(await direct(second.client_credentials, 'GET', '/v1/getinfo')).toBe(200);
    await sidecar.get('/v2/node/node_info', {}, second.client_credentials);
    expect((await sidecar.get('/v2/node/list_clients')).clients).not.toHaveProperty(
      first.client_pk,
    );
  });

  test('a root key deleted at LND ends the credentials here too', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['read_info'] });
    const credentials: string = made.client_credentials;
    await sidecar.get('/v2/node/node_info', {}, credentials);
    const { root_key_ids: ids } = await network().alice.rest<{ root_key_ids: string[] }>(
      'GET',
      '/v1/macaroon/ids',
    );
    for (const id of ids) {
      // The administrator's own cannot be deleted, and bakes the others.
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
    expect(await direct(credentials, 'POST', '/v1/invoices', { value: '5' })).toMatchObject({
      message: expect.stringContaining('cannot get macaroon'),
    });
  });

  test('an expired client is refused by LND itself', async () => {
    const made = await sidecar.post('/v2/node/create_client', {
      scopes: ['read_info'],
      expires_at: Date.now() + 2000,
    });
    const credentials: string = made.client_credentials;
    await sidecar.get('/v2/node/node_info', {}, credentials);
    await Bun.sleep(2100);
    expectError(
      await sidecar.call('GET', '/v2/node/node_info', { credentials }),
      'unauthenticated',
    );
    expect(await direct(credentials, 'GET', '/v1/getinfo')).toMatchObject({
      message: expect.stringContaining('caveat'),
    });
  });

  test('a client that could make macaroons for anything is refused unless it may do everything', async () => {
    expectError(
      await sidecar.call('POST', '/v2/node/create_client', {
        body: { scopes: ['manage_clients'] },
      }),
      'refused',
      /full/,
    );
    const full = await sidecar.post('/v2/node/create_client', { scopes: ['full'] });
    const nested = await sidecar.post(
      '/v2/node/create_client',
      { scopes: ['read_info'] },
      full.client_credentials,
    );
    await sidecar.get('/v2/node/node_info', {}, nested.client_credentials);
  });

  test('a macaroon made by LND itself is good for what it allows, here and nowhere more', async () => {
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
    const credentials = connectLnd(network().alice, path);
    const info = await sidecar.get('/v2/node/client_info', {}, credentials);
    expect(info.effective_permissions).toContain('create_invoice');
    expect(info.effective_permissions).not.toContain('pay_invoice');
    await sidecar.post('/v2/node/create_invoice', { amount: '3' }, credentials);
    expectError(
      await sidecar.call('POST', '/v2/node/pay_onchain', {
        body: { address: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', amount: '1000' },
        credentials,
      }),
      'forbidden',
    );
  });

  test('credentials survive a restart, and work with a new data directory too', async () => {
    const made = await sidecar.post('/v2/node/create_client', { scopes: ['receive', 'read_info'] });
    const credentials: string = made.client_credentials;
    expect(await sidecar.stop()).toBe(0);
    await sidecar.start();
    const before = await sidecar.get('/v2/node/client_info', {}, credentials);
    expect(before).toMatchObject({ client_pk: made.client_pk, scopes: ['receive', 'read_info'] });
    const other = await startLndSidecar(['--client-credentials', credentials]);
    try {
      const [here, there] = [
        await sidecar.get('/v2/node/node_info'),
        await other.get('/v2/node/node_info'),
      ];
      expect(there.user_pk).toBe(here.user_pk);
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
