import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type Amount, fromMsat, type Payment } from '../../src/client/index.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const ROOT = join(import.meta.dir, '..', '..');
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const data = temporaryFolder('examples');
const shopPort = freePort();
let sidecar: DevSidecar;
let credentials: string;
let relay: ReturnType<typeof Bun.serve>;
/** The answers of the example's shop to forged webhooks, by what is wrong with them. */
let forgeries: Record<string, number> = {};

const LANGUAGES = {
  shell: {
    command: ['bash'],
    folder: 'examples/curl',
    extension: 'sh',
    runs: canRun('perl', '-MDigest::SHA', '-e1'),
  },
  TypeScript: {
    command: [process.execPath],
    folder: 'examples/typescript',
    extension: 'ts',
    runs: true,
  },
  // The folder is written by the compiler, see `beforeAll`.
  'TypeScript on plain Node': {
    command: ['node'],
    folder: 'build/examples',
    extension: 'js',
    runs: canRun('node', '--version'),
  },
  Python: {
    command: ['python3', '-B'],
    folder: 'examples/python',
    extension: 'py',
    runs: canRun('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 10))'),
  },
} as const;

const hasPythonClient = canRun('python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 10))');
if (!hasPythonClient) console.warn('SKIPPED: the bot in Python, since python3 is not Python 3.10.');

beforeAll(async () => {
  const compiler = join(ROOT, 'node_modules', '.bin', 'tsc');
  const compiled = Bun.spawnSync([compiler, '-p', 'tsconfig.examples.json'], { cwd: ROOT });
  expect(compiled.stdout.toString()).toBe('');
  relay = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: relayWebhook });
  sidecar = await startDevSidecar({
    dataDir: join(data, 'data'),
    port: freePort(),
    webhookUrl: relay.url.href,
    env: { SERVICE_WEBHOOK_SECRET: SECRET },
  });
  const wallet = await sidecar.call('POST', '/sandbox/wallets');
  credentials = (wallet as { client_credentials: string }).client_credentials;
});
afterAll(async () => {
  await sidecar.stop();
  await relay.stop(true);
  removeFolder(data);
});

for (const [language, { command, folder, extension, runs }] of Object.entries(LANGUAGES)) {
  if (!runs) console.warn(`SKIPPED: the examples in ${language}, since ${command[0]} is missing.`);
  const run = (name: string, env: Readonly<Record<string, string>> = {}) =>
    runExample([...command, join(folder, `${name}.${extension}`)], env);

  describe.skipIf(!runs)(`the examples in ${language}`, () => {
    test('the shop delivers for a webhook that the sidecar signed, and for no other', async () => {
      forgeries = {};
      const payment = await run('shop');
      expect(payment).toMatchObject({ direction: 'inbound', status: 'completed', amount: '1000' });
      expect(forgeries).toEqual({ unsigned: 400, altered: 400, old: 400, 'other id': 400 });
    });

    test.skipIf(extension !== 'sh' && extension !== 'py')(
      'the shop takes an order whose amount has changed',
      async () => {
        const order = { ORDER: `order-9-${extension}` };
        for (const amount of ['700', '800']) {
          expect(await run('shop', { ...order, AMOUNT: amount })).toMatchObject({ amount });
        }
      },
    );

    test('the tip arrives at the Lightning Address with its message', async () => {
      const payment = await run('tip');
      expect(payment).toMatchObject({ direction: 'outbound', status: 'completed', amount: '210' });
      expect(payment.message).toBe('Thank you');
    });

    test.skipIf(!extension.endsWith('s'))(
      'the report is given to the buyer who has paid for it',
      async () => {
        const payment = await run('paywall');
        expect(payment.output).toContain('the buyer was given the report of today');
        expect(payment).toMatchObject({ direction: 'inbound', status: 'completed', amount: '25' });
      },
    );

    test('the payout within the budget is made, and the one beyond it is error 109', async () => {
      const before = await amountsSent();
      const payment = await run('payout');
      expect(payment).toMatchObject({ direction: 'outbound', status: 'completed', amount: '800' });
      expect(payment.output).toMatch(/^bob was refused: \w.+/m);
      expect(await amountsSent()).toEqual([fromMsat(800_000n), ...before]);
      const { clients } = (await call('GET', '/v2/node/list_clients')) as {
        clients: Record<string, { label: string }>;
      };
      expect(Object.values(clients).map(({ label }) => label)).not.toContain('payouts');
    });
  });
}

describe('with --require-auth and credentials that may do everything', () => {
  const dataDir = join(data, 'closed');
  let closed: DevSidecar;
  beforeAll(async () => {
    closed = await startDevSidecar({
      dataDir,
      port: freePort(),
      webhookUrl: relay.url.href,
      env: { SERVICE_WEBHOOK_SECRET: SECRET, SERVICE_REQUIRE_AUTH: 'true' },
    });
  });
  afterAll(() => closed.stop());

  for (const [language, { command, folder, extension, runs }] of Object.entries(LANGUAGES)) {
    const names = ['shop', 'tip', 'payout', ...(extension.endsWith('s') ? ['paywall'] : [])];
    test.skipIf(!runs)(`the examples in ${language} work`, async () => {
      const owner = (await Bun.file(join(dataDir, 'cookie')).text()).trim();
      const full = await closed.call('POST', '/v2/node/create_client', {
        body: { scopes: ['full'] },
        credentials: owner,
      });
      const { client_credentials } = full as { client_credentials: string };
      for (const [name, given] of [
        ...names.map((one) => [one, owner] as const),
        ['payout', client_credentials] as const,
      ]) {
        const env = { SIDECAR_URL: closed.baseUrl, SIDECAR_CREDENTIALS: given };
        const program = join(folder, `${name}.${extension}`);
        expect(await outputOf([...command, program], env)).not.toBe('');
      }
    });
  }
});

describe.skipIf(!hasPythonClient)('the bot in Python', () => {
  test('thanks for each payment, and after a restart for what arrived meanwhile', async () => {
    const command = ['python3', '-B', 'examples/python/bot.py'];
    const place = join(data, 'bot.place');
    const env = { BOT_STATE: place, BOT_PAYMENTS: '1' };
    const first = await runExample(command, env);
    expect(first).toMatchObject({ direction: 'inbound', status: 'completed', amount: '21' });
    const order = await sidecar.call('POST', '/v2/node/create_invoice', {
      body: { amount: '4' },
      credentials,
    });
    const { invoice, index } = order as { invoice: string; index: string };
    await sidecar.call('POST', '/sandbox/pay', { body: { payable: invoice } });
    const second = await runExample(command, { ...env, BOT_PAYMENTS: '2' });
    expect(second.output).toContain(`thank you for 4 sats: ${index}`);
    expect(second.output.match(/thank you/g)).toHaveLength(2);
    expect(second.output).not.toContain(first.index);
  });
});

describe.skipIf(!hasPythonClient)('the shop with orders in Python', () => {
  test('has a new invoice when one has expired, ships once, and gives back what is paid again', async () => {
    const database = join(data, 'orders.sqlite');
    let printed = '';
    const open = async () => {
      const shop = Bun.spawn(['python3', '-B', 'examples/python/orders.py'], {
        cwd: ROOT,
        env: exampleEnv({ SHOP_DATABASE: database }),
        stdout: 'pipe',
      });
      const reading = (async () => {
        for await (const bytes of shop.stdout) printed += new TextDecoder().decode(bytes);
      })();
      const before = printed.length;
      await until(() => printed.slice(before).includes('is open'), 'the shop to open');
      return async () => {
        shop.kill();
        await reading;
      };
    };
    let close = await open();
    const url = `http://127.0.0.1:${shopPort}/orders/9`;
    const order = async () => (await fetch(url, { method: 'POST' })).text();
    const pay = (payable: string) =>
      sidecar.call('POST', '/sandbox/pay', { body: { payable: payable.trim() } });
    try {
      const first = await order();
      expect(await order()).toBe(first);
      const rows = new Database(database);
      rows.run('UPDATE invoices SET ends = 1');
      rows.close();
      const second = await order();
      expect(second).toMatch(/^lnbcrt/);
      expect(second).not.toBe(first);
      expect(await order()).toBe(second);
      expect(await (await fetch(url)).text()).toBe('open\n');
      await pay(first);
      await until(() => printed.includes('is paid: ship it'), 'the order to be paid');
      expect(await (await fetch(url)).text()).toBe('paid\n');
      // Nobody is asked to pay again, also when the invoices have expired.
      expect(await order()).toBe('This order is paid.\n');
      await pay(second);
      await until(
        () => printed.includes('pays an order again: give it back'),
        'the second payment',
      );
      expect(printed.match(/ship it/g)).toHaveLength(1);
      // A webhook that finds nobody is given up soon.
      const late = await (await fetch(`${url}9`, { method: 'POST' })).text();
      await close();
      await pay(late);
      close = await open();
      expect(printed.match(/ship it/g)).toHaveLength(2);
    } finally {
      await close();
    }
  });
});

function exampleEnv(more: Readonly<Record<string, string>>) {
  return {
    ...process.env,
    SIDECAR_URL: sidecar.baseUrl,
    SIDECAR_CREDENTIALS: credentials,
    WEBHOOK_SECRET: SECRET,
    WEBHOOK_PORT: String(shopPort),
    PYTHONPATH: join(ROOT, 'clients', 'python', 'src'),
    ...more,
  };
}

/** Runs an example. Resolves to its output, and to the payment whose index it printed last, read through the API. */
async function runExample(
  command: string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Payment & { readonly output: string }> {
  const output = await outputOf(command, env);
  expect(output).not.toContain(credentials);
  const index = [...output.matchAll(/: (\d{19}-\w{2}_[0-9a-f]{64})$/gm)].at(-1)?.[1] ?? '';
  const payment = await call('GET', '/v2/node/payment', { index });
  return { ...(payment as Payment), output };
}

async function outputOf(command: string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = Bun.spawn(command, {
    cwd: ROOT,
    env: exampleEnv(env),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ errors, exitCode: await child.exited }).toEqual({ errors: '', exitCode: 0 });
  return output;
}

function call(method: string, path: string, query: Record<string, string> = {}): Promise<unknown> {
  return sidecar.call(method, path, { query, credentials });
}

/** Resolves to the amounts of all payments sent, newest first. */
async function amountsSent(): Promise<readonly (Amount | null)[]> {
  await call('PUT', '/v2/node/sync_payments');
  const query = { filter: 'all', direction: 'outbound' };
  const { payments } = (await call('GET', '/v2/node/list_payments', query)) as {
    payments: Payment[];
  };
  return payments.map(({ amount }) => amount);
}

/** Stands between sidecar and shop. It sends forgeries of each webhook to the shop before it forwards the webhook. */
async function relayWebhook(request: Request): Promise<Response> {
  const body = await request.text();
  const signed = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
      name,
      request.headers.get(name) ?? '',
    ]),
  );
  const send = async (text: string, headers: Record<string, string>) => {
    const init = { method: 'POST', body: text, headers };
    return (await fetch(`http://127.0.0.1:${shopPort}/hook`, init)).status;
  };
  try {
    forgeries = {
      unsigned: await send(body, {}),
      altered: await send(body.replace('"1000"', '"9000"'), signed),
      old: await send(body, { ...signed, 'webhook-timestamp': '1700000000' }),
      'other id': await send(body, { ...signed, 'webhook-id': 'msg_0' }),
    };
    return new Response(null, { status: await send(body, signed) });
  } catch {
    // Only the shop examples receive webhooks. Those of other payments are dropped here.
    return new Response();
  }
}

function canRun(...command: string[]): boolean {
  return (
    Bun.which(command[0] ?? '') !== null && Bun.spawnSync(command, { stderr: 'ignore' }).success
  );
}
