import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../../../src/lib/clock.ts';
import { parseWebhookSecret } from '../../../src/model/webhooks/webhook-secret.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { type CliWorld, type Json, openCliWorld, runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const received: { headers: Headers; body: string }[] = [];
let status = 200;
let world: CliWorld;
let folder: string;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ headers: new Headers(request.headers), body: await request.text() });
    return new Response(null, { status });
  },
});
beforeAll(async () => {
  folder = temporaryFolder('cli');
  const hook = `http://127.0.0.1:${receiver.port}/hook`;
  world = await openCliWorld(['--webhook-url', hook, '--webhook-secret', SECRET]);
});
afterAll(async () => {
  await world.close();
  await receiver.stop(true);
  removeFolder(folder);
});

describe('webhooks', () => {
  test('what was delivered is listed, verified with the secret, and sent again', async () => {
    const { headers, body } = await receivedOf(await receivePayment());
    const id = headers.get('webhook-id') ?? '';
    // The paying wallet's webhook goes to the same receiver: no delivery is on its way any more.
    const listed = (state: string) => world.run('webhooks', 'list', '--state', state);
    await until(async () => (await listed('pending')).stdout === 'No deliveries.', 'all are over');
    expect((await listed('delivered')).stdout).toContain(id);
    expect((await world.run('webhooks', 'list', '--json', '--limit', '50')).stdout).toBe(
      await world.text('/v2/webhooks/deliveries?limit=50'),
    );

    const file = join(folder, 'body.json');
    writeFileSync(file, body);
    const flags = [...headers].flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
    const env = { SERVICE_WEBHOOK_SECRET: SECRET };
    expect(await runBinary(['webhooks', 'verify', file, ...flags], env)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Valid: signed with this secret at \d{4}-/),
      stderr: '',
    });

    const before = received.length;
    expect(await world.json('webhooks', 'redeliver', id)).toEqual({ redelivered: 1 });
    const isAgain = ({ headers }: (typeof received)[0]) => headers.get('webhook-id') === id;
    await until(() => received.slice(before).some(isAgain), 'it is here again');
    // The table cuts ids in the middle, so that their ends name them.
    for (const part of [id.slice(0, 12), id.slice(-6)]) {
      expect((await world.run('webhooks', 'show', part)).stdout).toContain(id);
    }
    const attempts = async () =>
      (await world.json('webhooks', 'list')).deliveries.find((one: Json) => one.id === id).attempts;
    await until(async () => (await attempts()) === 2, 'both attempts are counted');
    const all = await world.run('webhooks', 'redeliver', '--since', '1h');
    expect(all.stdout).toMatch(/^Deliveries to be sent again: [1-9]\d*$/);
    expect(await world.run('webhooks', 'redeliver', 'msg_none')).toMatchObject({
      exitCode: 1,
      stderr: 'No delivery has this id: "wallet-sidecar webhooks list" shows them (error 107).',
    });
    expect(await world.run('webhooks', 'show', 'msg_none')).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'No delivery has this id: "wallet-sidecar webhooks list" shows them (error 107).',
    });
  });

  test('a delivery that fails shows why, and --state selects', async () => {
    status = 500;
    const index = await receivePayment();
    const rowOf = async () => {
      const { stdout } = await world.run('webhooks', 'list');
      return stdout.split('\n').find((row) => row.endsWith(index)) ?? '';
    };
    await until(async () => (await rowOf()).includes('answered 500'), 'the reason is shown');
    const delivered = await world.run('webhooks', 'list', '--state', 'delivered');
    expect(delivered.exitCode).toBe(0);
    expect(delivered.stdout).not.toContain(index);
    status = 200;
  });

  test('secret draws a new secret each time that the sidecar accepts', async () => {
    const first = await runBinary(['webhooks', 'secret']);
    expect(first.stdout).toMatch(/^whsec_/);
    expect(parseWebhookSecret(first.stdout)).toHaveProperty('value');
    expect(first.stderr).not.toContain(first.stdout);
    const second = JSON.parse((await runBinary(['webhooks', 'secret', '--json'])).stdout);
    expect(second.webhook_secret).not.toBe(first.stdout);
  });
});

describe('webhooks verify', () => {
  const body = '{"type":"payment.finalized","message":"₿"}';
  const nowSecs = Math.floor(systemClock.now() / 1000);
  const signed = (atSecs: number) => [
    ...['-H', 'Webhook-Id: msg_1', '-H', `webhook-timestamp: ${atSecs}`, '-H'],
    `webhook-signature: v1,bm90IHRoaXM= ${new Webhook(SECRET).sign('msg_1', new Date(atSecs * 1000), body)}`,
  ];
  const verify = (flags: readonly string[], stdin = body) =>
    runBinary(['webhooks', 'verify', '--webhook-secret', SECRET, ...flags], {}, stdin);

  test('reads the body from stdin', async () => {
    expect(await verify([...signed(nowSecs), '--json'])).toEqual({
      exitCode: 0,
      stdout: '{"valid":true}',
      stderr: '',
    });
  });

  test('reads the secret from a file too, which does not show it in the list of processes', async () => {
    const path = join(folder, 'secret');
    writeFileSync(path, `${SECRET}\n`, { mode: 0o600 });
    const flags = ['webhooks', 'verify', ...signed(nowSecs), '--webhook-secret-path', path];
    expect(await runBinary(flags, {}, body)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('another body, secret, id or time does not match', async () => {
    const other = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
    const flags = signed(nowSecs);
    const swapped = (from: string, to: string) => flags.map((flag) => flag.replace(from, to));
    const wrong = [
      await verify(flags, `${body} `),
      await verify([...flags, '--webhook-secret', other]),
      await verify(swapped('msg_1', 'msg_2')),
      await verify(swapped(String(nowSecs), String(nowSecs - 1))),
    ];
    for (const { exitCode, stdout, stderr } of wrong) {
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^No signature matches: /);
    }
  });

  test('an old webhook is invalid without --any-age', async () => {
    const old = signed(nowSecs - 3600);
    const refused = await verify([...old, '--json']);
    expect(refused.exitCode).toBe(1);
    expect(JSON.parse(refused.stdout)).toEqual({ valid: false, reason: refused.stderr });
    expect(refused.stderr).toContain('--any-age');
    expect((await verify([...old, '--any-age'])).exitCode).toBe(0);
  });

  test('a malformed time is reported as such', async () => {
    const flags = [...signed(nowSecs).slice(0, 2), '-H', 'webhook-timestamp: now', '-H'];
    const { exitCode, stderr } = await verify([...flags, 'webhook-signature: v1,bm90IHRoaXM=']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'The webhook-timestamp is not a time in seconds.',
    });
  });

  test('what was signed need not be a webhook of the sidecar', async () => {
    const text = 'no JSON';
    const signature = new Webhook(SECRET).sign('msg_1', new Date(nowSecs * 1000), text);
    const flags = [...signed(nowSecs).slice(0, 4), '-H', `webhook-signature: ${signature}`];
    expect((await verify(flags, text)).exitCode).toBe(0);
  });

  test('a missing header, secret or file is wrong usage', async () => {
    const flags = signed(nowSecs);
    const wrong = {
      'webhook-signature': await verify(flags.slice(0, 4)),
      '--webhook-secret-path': await runBinary(['webhooks', 'verify', ...flags], {}, body),
      'must be base64': await verify([...flags, '--webhook-secret', 'whsec_c2hvcnQ=']),
      '/none/body': await verify([...flags, '/none/body']),
      colon: await verify(['-H', 'webhook-id']),
    };
    for (const [words, { exitCode, stderr }] of Object.entries(wrong)) {
      expect(stderr).toContain(words);
      expect(exitCode).toBe(2);
      expect(stderr).not.toContain('c2hvcnQ');
    }
  });
});

/** Lets the second wallet pay an invoice of the default wallet. Resolves to the index of the payment. */
async function receivePayment(): Promise<string> {
  const { invoice, index } = await world.api('POST', '/v2/node/create_invoice', { amount: '5' });
  await world.api('POST', '/v2/node/pay_invoice', { invoice }, world.bob);
  return index;
}

/** Resolves to the webhook of a received payment. The webhook of the paying wallet arrives here too. */
async function receivedOf(index: string): Promise<(typeof received)[0]> {
  return until(
    () =>
      received.find(({ body }) => {
        const payment = JSON.parse(body);
        return payment.index === index && payment.direction === 'inbound';
      }),
    'the notice is here',
  );
}
