import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTES } from '../../src/http/routes/index.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Body, type CallOptions, expectError, succeedingCalls } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { request } from './request.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TIMEOUT_MS = 120_000;
let sidecar: DevSidecar;
let folder: string;
beforeAll(async () => {
  folder = temporaryFolder('attacks');
  sidecar = await startDevSidecar({ dataDir: join(folder, 'data'), port: freePort() });
}, TIMEOUT_MS);
afterAll(async () => {
  await sidecar?.stop();
  removeFolder(folder);
});

const call = (method: string, path: string, options: CallOptions = {}) =>
  request(sidecar.baseUrl, method, path, options);
const { post, get, put } = succeedingCalls(call);
const create = (body: object, credentials?: string) =>
  post('/v2/node/create_client', body, credentials);
const clients = async (): Promise<Record<string, Body>> =>
  (await get('/v2/node/list_clients')).clients;

describe('a client that is revoked or narrowed while its requests wait in line', () => {
  test(
    'makes no client after its revocation was answered',
    async () => {
      for (let round = 0; round < 5; round++) {
        const manager = await create({ scopes: ['full'] });
        const before = new Set(Object.keys(await clients()));
        const flood = Array.from({ length: 12 }, () =>
          call('POST', '/v2/node/create_client', {
            body: { scopes: ['read_info'] },
            credentials: manager.client_credentials,
          }),
        );
        await post('/v2/node/revoke_client', { client_pk: manager.client_pk });
        const answers = await Promise.all(flood);
        // Clients that this one created earlier were revoked with it.
        const left = Object.keys(await clients()).filter((pk) => !before.has(pk));
        expect(left).toEqual([]);
        for (const { status } of answers) expect([200, 401]).toContain(status);
      }
    },
    TIMEOUT_MS,
  );

  test('changes no client once it is narrowed', async () => {
    const victim = await create({ scopes: ['send'], budget: { amount: '100', period: 'total' } });
    const manager = await create({ scopes: ['full'] });
    const narrowing = put('/v2/node/update_client', {
      client_pk: manager.client_pk,
      scopes: ['read_info'],
    });
    const late = Array.from({ length: 6 }, () =>
      call('POST', '/v2/node/revoke_client', {
        body: { client_pk: victim.client_pk },
        credentials: manager.client_credentials,
      }),
    );
    await narrowing;
    const answers = await Promise.all(late);
    if (answers.every(({ status }) => status !== 200)) {
      expect((await clients())[victim.client_pk]).toBeDefined();
    }
    expectError(
      await call('POST', '/v2/node/revoke_client', {
        body: { client_pk: victim.client_pk },
        credentials: manager.client_credentials,
      }),
      'forbidden',
    );
  });
});

describe('a manager', () => {
  test('can widen only what it created itself, since the rest would stay when it falls', async () => {
    const stranger = await create({ scopes: ['read_info'] });
    const bounded = await create({ scopes: ['send'], budget: { amount: '5', period: 'total' } });
    const manager = (await create({ scopes: ['full'] })).client_credentials;
    const update = (body: object) =>
      call('PUT', '/v2/node/update_client', { body, credentials: manager });
    expectError(
      await update({ client_pk: stranger.client_pk, scopes: ['read_info', 'receive'] }),
      'forbidden',
    );
    expectError(await update({ client_pk: bounded.client_pk, clear_budget: true }), 'forbidden');
    const own = await create({ scopes: ['read_info'] }, manager);
    const widened = await update({ client_pk: own.client_pk, scopes: ['read_info', 'receive'] });
    expect(widened.status).toBe(200);
  });

  test('with a budget touches no other client that spends, however small its budget', async () => {
    const big = await create({ scopes: ['send'], budget: { amount: '100000', period: 'total' } });
    const small = await create({ scopes: ['full'], budget: { amount: '1', period: 'total' } });
    expectError(
      await call('POST', '/v2/node/revoke_client', {
        body: { client_pk: big.client_pk },
        credentials: small.client_credentials,
      }),
      'forbidden',
    );
  });
});

test('a misspelled limit is error 7, since it would be no limit', async () => {
  const budget = { amount: '10', period: 'day', max_paymnt: '1' };
  const bad = [
    ['POST', '/v2/node/create_client', { scopes: ['send'], budget }],
    ['POST', '/v2/node/create_client', { scopes: ['send'], expire_at: 1 }],
    ['PUT', '/v2/node/update_client', { client_pk: '00'.repeat(32), budgett: budget }],
  ] as const;
  for (const [method, path, body] of bad) {
    expectError(await call(method, path, { body }), 'rejected');
  }
});

test('a copy of the database does not give the credentials that were created with a key', async () => {
  const key = 'the key';
  const made = await request(sidecar.baseUrl, 'POST', '/v2/node/create_client', {
    body: { scopes: ['full'] },
    headers: { 'idempotency-key': key },
  });
  const { secret } = JSON.parse(
    Buffer.from(made.body.client_credentials, 'base64url').toString(),
  ) as { secret: string };
  const copy = join(folder, 'copy.sqlite');
  for (const part of ['', '-wal']) {
    copyFileSync(join(folder, 'data', `sidecar.sqlite${part}`), `${copy}${part}`);
  }
  using db = new Database(copy);
  const { secret: stored } = db.query('SELECT secret FROM meta').get() as { secret: Uint8Array };
  const { wallet, caller } = db
    .query('SELECT wallet, caller FROM idempotency WHERE key = ?')
    .get(key) as { wallet: string; caller: string };
  const derived = createHmac('sha256', stored)
    .update(JSON.stringify([wallet, caller, key, 'client']))
    .digest('hex');
  expect(derived).not.toBe(secret);
  const text = JSON.stringify(
    db
      .query("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map((row) => db.query(`SELECT * FROM "${(row as { name: string }).name}"`).all()),
  );
  expect(text).not.toContain(secret);
});

describe('pay', () => {
  const held = async (amount = '700') =>
    (await post('/sandbox/invoice', { amount, behavior: 'hold' })) as {
      invoice: string;
      payment_hash: string;
    };

  test('ends when the permission of its very method is taken away', async () => {
    const { client_pk, client_credentials } = await create({
      scopes: [],
      permissions: ['pay_invoice', 'pay_offer', 'pay_onchain'],
    });
    const { invoice, payment_hash } = await held();
    const paying = call('POST', '/v2/node/pay', {
      body: { payable: invoice },
      credentials: client_credentials,
    });
    await pendingPayment(payment_hash);
    await put('/v2/node/update_client', { client_pk, permissions: ['pay_onchain'] });
    const answer = await paying;
    expectError(answer, 'forbidden');
    expect(answer.body.data).toMatchObject({ permission: 'pay_invoice', sent: 'unknown' });
    await post('/sandbox/holds', { payment_hash, settle: false });
  });

  test('gives no kept outcome to a caller that may not pay so any more', async () => {
    const { client_pk, client_credentials: credentials } = await create({
      scopes: [],
      permissions: ['pay_invoice', 'pay_onchain'],
    });
    const { invoice } = await post('/sandbox/invoice', { amount: '12' });
    const pay = () =>
      call('POST', '/v2/node/pay', {
        body: { payable: invoice },
        credentials,
        headers: { 'idempotency-key': 'once' },
      });
    expect((await pay()).body.status).toBe('completed');
    await put('/v2/node/update_client', { client_pk, permissions: ['pay_onchain'] });
    expectError(await pay(), 'forbidden');
  });

  test('meets the first payment of an invoice also after the invoice has expired', async () => {
    const made = await post('/sandbox/invoice', { amount: '31', expiration_secs: 60 });
    const first = await post('/v2/node/pay_invoice', { invoice: made.invoice });
    const waiting = await held('32');
    const pending = call('POST', '/v2/node/pay_invoice', {
      body: { invoice: waiting.invoice },
      headers: { prefer: 'respond-async' },
    });
    expect((await pending).status).toBe(202);
    await post('/sandbox/clock', { advance_secs: 700_000 });
    for (const path of ['/v2/node/pay_invoice', '/v2/node/pay']) {
      const body = { invoice: made.invoice, payable: made.invoice };
      expect((await post(path, body)).index).toBe(first.index);
    }
    const again = await call('POST', '/v2/node/pay_invoice', {
      body: { invoice: waiting.invoice },
      headers: { prefer: 'respond-async' },
    });
    expect(again.body.index).toBe((await pending).body.index);
    await post('/sandbox/holds', { payment_hash: waiting.payment_hash, settle: false });
  });

  test('an amountless invoice again with another amount is error 106', async () => {
    const { invoice } = await post('/sandbox/invoice', {});
    await post('/v2/node/pay_invoice', { invoice, fallback_amount: '50' });
    expectError(
      await call('POST', '/v2/node/pay_invoice', { body: { invoice, fallback_amount: '70' } }),
      'refused',
      /another amount/,
    );
  });
});

/** Resolves when the wallet has a pending outgoing payment with that hash. */
async function pendingPayment(hash: string): Promise<void> {
  await until(async () => {
    const { payments } = await get('/v2/node/updated_payments', { limit: '100' });
    return (payments as Body[]).some(
      (payment) => payment.hash === hash && payment.status === 'pending',
    );
  }, 'the payment began');
}

describe('an Idempotency-Key', () => {
  test('of another client is unused for every POST: its outcome reaches no other caller', async () => {
    const key = 'a key that two clients use';
    const other = await create({ scopes: ['full'] });
    const mine = await call('POST', '/v2/node/create_invoice', {
      body: { amount: '77' },
      headers: { 'idempotency-key': key },
    });
    expect(mine.status).toBe(200);
    const posts = ROUTES.filter(
      ({ method, path, access }) =>
        method === 'post' && path.startsWith('/v2/node/') && access !== 'owner',
    );
    expect(posts.length).toBeGreaterThan(12);
    for (const { path } of posts) {
      // The body equals the other client's request. A shared key would answer with that outcome or with error 111.
      const answer = await call('POST', path, {
        body: { amount: '77' },
        headers: { 'idempotency-key': key },
        credentials: other.client_credentials,
      });
      const told = JSON.stringify(answer.body);
      expect(`${path} ${told.includes(mine.body.payment_hash)}`).toBe(`${path} false`);
      if (path !== '/v2/node/create_invoice') continue;
      expect(answer.status).toBe(200);
      expect(answer.body.payment_hash).not.toBe(mine.body.payment_hash);
    }
    const again = await call('POST', '/v2/node/create_invoice', {
      body: { amount: '77' },
      headers: { 'idempotency-key': key },
    });
    expect(again.body).toEqual(mine.body);
  });
});

test('an address in upper case, as QR codes have it, is the same address for a repeat', async () => {
  const wallet = (await post('/sandbox/wallets')).client_credentials as string;
  const { address } = await post('/v2/node/get_next_unused_address', {}, wallet);
  const client_payment_id = 'ab'.repeat(32);
  const send = (to: string) =>
    post('/v2/node/pay_onchain', { address: to, amount: '5000', client_payment_id });
  const first = await send(address);
  const second = await send((address as string).toUpperCase());
  expect(second.index).toBe(first.index);
  expect(second.txid).toBe(first.txid);
});
