import { Database } from 'bun:sqlite';
import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { decodeCredentials, encodeClientCredentials } from '../../src/model/credentials.ts';
import { runBinary, type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { send } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS * 2);

const folder = temporaryFolder('database-writer');
afterAll(() => removeFolder(folder));
const KEY = '5e'.repeat(32);
const OTHER_KEY = '6f'.repeat(32);

/** Hooks that arrived at a server, as their bodies. */
function openReceiver(): { readonly url: string; readonly bodies: string[]; stop(): void } {
  const bodies: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      bodies.push(await request.text());
      return new Response();
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, bodies, stop: () => void server.stop(true) };
}

describe('somebody who can write the database, and has no key,', () => {
  let dataDir: string;
  let process: SidecarProcess;
  let baseUrl: string;
  let receiver: ReturnType<typeof openReceiver>;
  beforeEach(async () => {
    dataDir = join(folder, crypto.randomUUID());
    receiver = openReceiver();
    await start();
  });
  afterEach(async () => {
    receiver.stop();
    process.signal('SIGKILL');
    await process.exit();
  });

  const options = (key: string | null) => [
    ...['--data-dir', dataDir, '--listen-addr', '127.0.0.1:0', '--webhook-url', receiver.url],
    ...['--webhook-secret', 'ab'.repeat(32)],
    ...(key === null ? [] : ['--secrets-key', key]),
  ];
  async function start(): Promise<void> {
    process = startBinary(['dev', ...options(KEY)]);
    baseUrl = await process.ready();
  }
  function write(statement: string, ...values: (string | number | null)[]): number {
    const db = new Database(join(dataDir, 'sidecar.sqlite'));
    db.run('PRAGMA busy_timeout = 5000');
    try {
      return db.query(statement).run(...values).changes;
    } finally {
      db.close();
    }
  }
  async function newClient(body: Record<string, unknown>): Promise<{ pk: string; text: string }> {
    const made = await send(baseUrl, 'POST', '/v2/node/create_client', { body });
    expect(made.status).toBe(200);
    const text = String(made.body.client_credentials);
    return { pk: decodeCredentials(text)?.client?.client ?? '', text };
  }
  const infoOf = (credentials: string) =>
    send(baseUrl, 'GET', '/v2/node/node_info', { credentials });
  const healthOf = async () => String((await send(baseUrl, 'GET', '/v2/health')).body.status);

  test('cannot make a client up, change one, or lift its budget; the others go on', async () => {
    const narrow = await newClient({ scopes: ['read_info'] });
    const budgeted = await newClient({
      scopes: ['full'],
      budget: { amount: '100', period: 'total' },
    });
    const secret = '11'.repeat(32);
    const madeUp = { client: '22'.repeat(32), secret };
    expect(
      write(
        `INSERT INTO client SELECT NULL, wallet, ?, node_kind, NULL, ?, created_at, NULL, NULL, '["full"]', '[]', NULL,
           'none', token, '[]', mac, NULL, NULL, NULL FROM client WHERE client_pk = ?`,
        madeUp.client,
        createHash('sha256').update(secret).digest('hex'),
        narrow.pk,
      ),
    ).toBe(1);
    expect((await infoOf(encodeClientCredentials(madeUp))).body.code).toBe(104);
    expect(await healthOf()).toContain(`client ${(await owner()).user_pk} ${madeUp.client}`);
    expect(process.log()).toMatch(/ERROR +A row of the database is not as this sidecar wrote it/);

    expect((await infoOf(narrow.text)).status).toBe(200);
    write(`UPDATE client SET scopes = '["full"]' WHERE client_pk = ?`, narrow.pk);
    // A running sidecar goes on by the true row.
    const asked = await send(baseUrl, 'POST', '/v2/node/create_invoice', {
      body: { amount: '1', expiration_secs: 60 },
      credentials: narrow.text,
    });
    expect([104, 108]).toContain(asked.body.code);
    await process.stop();
    await start();
    expect((await infoOf(narrow.text)).body.code).toBe(104);

    write('UPDATE budget SET amount_msat = 100000000 WHERE client_pk = ?', budgeted.pk);
    const invoice = await send(baseUrl, 'POST', '/sandbox/invoice', { body: { amount: '5' } });
    const body = { invoice: invoice.body.invoice };
    const paid = await send(baseUrl, 'POST', '/v2/node/pay_invoice', {
      body,
      credentials: budgeted.text,
    });
    expect([paid.status, paid.body.code]).toEqual([403, 109]);
    expect((await send(baseUrl, 'POST', '/v2/node/pay_invoice', { body })).body.status).toBe(
      'completed',
    );
  });

  test('cannot have a made-up notice signed, or notices sent elsewhere', async () => {
    const thief = openReceiver();
    try {
      const made = await send(baseUrl, 'POST', '/v2/webhooks/endpoints', {
        body: { url: `${receiver.url}second`, events: ['payment.finalized'] },
      });
      expect(made.status).toBe(200);
      expect(write('UPDATE webhook_endpoint SET url = ?', thief.url)).toBe(1);
      const told = '{"type":"payment.finalized","data":{"amount":"250000","status":"completed"}}';
      write(
        `INSERT INTO delivery (id, endpoint, event, wallet, idx, state, body, due_at, created_at, mac)
         VALUES ('msg_made_up', 'configured', 'payment.finalized', ?, 'x', 'pending', ?, 1, 1, 'made-up')`,
        (await owner()).user_pk,
        told,
      );
      const paid = await send(baseUrl, 'POST', '/sandbox/fund', {
        body: { amount: '7', rail: 'lightning' },
      });
      expect(paid.status).toBe(200);
      const invoice = await send(baseUrl, 'POST', '/v2/node/create_invoice', {
        body: { amount: '9', expiration_secs: 600 },
      });
      await send(baseUrl, 'POST', '/sandbox/pay', { body: { payable: invoice.body.invoice } });
      await until(() => receiver.bodies.length > 0, 'the true notice has arrived');
      await until(() => stateOf('msg_made_up') === 'failed', 'the made-up notice is given up');
      expect(receiver.bodies.filter((body) => body.includes('"amount":"250000"'))).toEqual([]);
      expect(thief.bodies).toEqual([]);
      expect(await healthOf()).toMatch(/not as this sidecar wrote them.*the log names them/);
    } finally {
      thief.stop();
    }
  });

  test('cannot have what it wrote signed by a start without the key, with another, or as if never signed', async () => {
    await newClient({ scopes: ['receive'] });
    await process.stop();
    for (const [key, words] of [
      [null, /signed with the secrets key [0-9a-f]{16}: start with that key/],
      [OTHER_KEY, /--secrets-key is the key [0-9a-f]{16}: start with the key that was used before/],
    ] as const) {
      const refused = await runBinary(['dev', ...options(key)]);
      expect(refused.exitCode).not.toBe(0);
      expect(refused.output).toMatch(words);
    }
    write('UPDATE meta SET signed_with = NULL');
    const refused = await runBinary(['dev', ...options(KEY)]);
    expect(refused.exitCode).not.toBe(0);
    expect(refused.output).toMatch(/its marker says that they were.*Restore the database/);
  });

  async function owner(): Promise<{ user_pk: string }> {
    return (await send(baseUrl, 'GET', '/v2/node/node_info')).body;
  }
  function stateOf(id: string): string | undefined {
    const db = new Database(join(dataDir, 'sidecar.sqlite'), { readonly: true });
    try {
      return db
        .query<{ state: string }, [string]>('SELECT state FROM delivery WHERE id = ?')
        .get(id)?.state;
    } finally {
      db.close();
    }
  }
});
