import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { startBinary } from '../../support/binary.ts';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { freePort } from '../../support/ports.ts';
import { SLOW_TEST_MS, until } from '../../support/until.ts';
import { type CliWorld, type Json, openCliWorld, runBinary } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

const received: { headers: Record<string, string>; body: string }[] = [];
/** How many requests the receiver still refuses. */
let refusals = 0;
let world: CliWorld;
let folder: string;
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    received.push({ headers: Object.fromEntries(request.headers), body: await request.text() });
    const isRefused = refusals > 0;
    if (isRefused) refusals--;
    return new Response('seen', { status: isRefused ? 500 : 200 });
  },
});
const url = `http://127.0.0.1:${receiver.port}/hook`;
beforeAll(async () => {
  folder = temporaryFolder('cli-endpoints');
  world = await openCliWorld();
});
afterAll(async () => {
  await world.close();
  await receiver.stop(true);
  removeFolder(folder);
});

const endpoints = async (): Promise<Json[]> =>
  (await world.json('webhooks', 'endpoints', 'list')).endpoints;

/** Starts `listen` against the world's sidecar. */
function startListen(...flags: readonly string[]) {
  return startBinary(['listen', '--forward-to', url, ...flags], {
    env: { SERVICE_DATA_DIR: world.dataDir },
  });
}

describe('webhooks endpoints', () => {
  test('an endpoint is added, listed, tested and removed', async () => {
    const none = await world.run('webhooks', 'endpoints', 'list');
    expect(none.stdout).toStartWith('No endpoints: add one');
    const file = join(folder, 'secret');
    const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    writeFileSync(file, `${secret}\n`);
    const flags = ['--events', 'payment.finalized', '--description', 'shop', '--secret-path', file];
    const added = await world.run('webhooks', 'endpoints', 'add', url, ...flags);
    expect(added).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(secret) });
    const [endpoint] = await endpoints();
    expect(endpoint).toMatchObject({ url, events: ['payment.finalized'], description: 'shop' });
    const shown = await world.run('webhooks', 'endpoints', 'list');
    expect(shown.stdout).toContain(endpoint.id);
    expect(shown.stdout).not.toContain(secret);
    // Nothing ends it, and no word in its row sounds as if it were gone.
    expect(shown.stdout).toContain('no limit');
    expect(shown.stdout).not.toContain('deleted');

    const leased = await world.run('webhooks', 'endpoints', 'add', url, '--lease', '2h');
    expect(leased.stdout).toMatch(/^Until +20/m);
    const { id, created_at, expires_at } = (await endpoints()).find(
      (one) => one.id !== endpoint.id,
    );
    expect(expires_at - created_at).toBe(7_200_000);
    await world.run('webhooks', 'endpoints', 'remove', id);
    const brief = await world.run('webhooks', 'endpoints', 'add', url, '--lease', '1');
    expect(brief.stderr).toStartWith('--lease must be at least 10');

    // A table that is cut shows the ends of an id.
    for (const part of [endpoint.id.slice(0, 9), endpoint.id.slice(-5)]) {
      const named = await world.run('webhooks', 'endpoints', 'test', part);
      expect([part, named.exitCode, named.stderr]).toEqual([part, 0, '']);
    }
    const unknown = {
      exitCode: 1,
      stdout: '',
      stderr:
        'No endpoint has an id that begins or ends with "nonsense": "wallet-sidecar webhooks endpoints list" shows them.',
    };
    for (const command of ['list', 'redeliver --since 1h', 'show msg_0', 'endpoints remove']) {
      const flag = command.startsWith('endpoints') ? [] : ['--endpoint'];
      const words = ['webhooks', ...command.split(' '), ...flag, 'nonsense'];
      expect([command, await world.run(...words)]).toEqual([command, unknown]);
    }
    for (const listed of ['configured', endpoint.id, endpoint.id.slice(0, 9)]) {
      const { stdout } = await world.run('webhooks', 'list', '--endpoint', listed);
      expect(stdout).toBe('No deliveries.');
    }

    const tested = await world.run('webhooks', 'endpoints', 'test', endpoint.id);
    expect(tested.exitCode).toBe(0);
    expect(tested.stdout).toMatch(/^Status +200$/m);
    expect(tested.stdout).toMatch(/^Answer +seen$/m);
    refusals = 1;
    expect(await world.run('webhooks', 'endpoints', 'test', endpoint.id)).toMatchObject({
      exitCode: 1,
      stderr: 'The test was not delivered: answered 500.',
    });

    expect(await world.run('webhooks', 'endpoints', 'remove', endpoint.id)).toMatchObject({
      exitCode: 0,
      stdout: 'Deleted. Deliveries canceled: 0',
    });
    expect(await world.run('webhooks', 'endpoints', 'remove', endpoint.id)).toMatchObject({
      exitCode: 1,
      stderr: 'Webhook endpoint not found (error 107).',
    });
  });

  test('wrong usage is told before anything is sent', async () => {
    const add = (...args: readonly string[]) => world.run('webhooks', 'endpoints', 'add', ...args);
    for (const [ran, words] of [
      [await add('shop.example'), /must be an http or https URL/],
      [await add(url, '--events', 'payment.lost'), /payment\.finalized, payment\.held/],
      [await add(url, '--secret-path', '/nonexistent'), /cannot be read/],
    ] as const) {
      expect(ran.exitCode).toBe(2);
      expect(ran.stderr).toMatch(words);
    }
    expect(await endpoints()).toEqual([]);
  });
});

describe('trigger', () => {
  test('makes a true webhook by a payment of the sandbox, and `webhooks show` shows its attempts', async () => {
    const { id } = await world.json('webhooks', 'endpoints', 'add', url);
    const { index } = await world.json('trigger', 'payment.finalized', '--amount', '21');
    const sent = await until(() => received.find(({ body }) => body.includes(index)));
    expect(JSON.parse(sent.body)).toMatchObject({
      type: 'payment.finalized',
      status: 'completed',
      amount: '21',
    });
    const webhookId = sent.headers['webhook-id'] ?? '';
    await until(async () => {
      const { attempts } = await world.json('webhooks', 'show', webhookId);
      return attempts.length === 1;
    });
    const shown = await world.run('webhooks', 'show', webhookId);
    expect(shown.stdout).toMatch(/^Status +200$/m);
    expect(shown.stdout).toContain(sent.headers['webhook-signature'] ?? 'none');
    await world.run('webhooks', 'endpoints', 'remove', id);
  });

  test('makes a failed payment and a held one, which can be taken with what it prints', async () => {
    const { id } = await world.json('webhooks', 'endpoints', 'add', url);
    const failed = await world.json('trigger', 'payment.finalized', '--failed');
    const told = await until(() => received.find(({ body }) => body.includes(failed.index)));
    expect(JSON.parse(told.body)).toMatchObject({ type: 'payment.finalized', status: 'failed' });

    const { stdout } = await world.run('trigger', 'payment.held');
    const [, index = '', words = ''] =
      /^Held: (\S+)\. .*\n"wallet-sidecar (settle \w+ \w+)" takes it\.$/.exec(stdout) ?? [];
    const held = await until(() => received.find(({ body }) => body.includes(index)));
    expect(JSON.parse(held.body)).toMatchObject({ type: 'payment.held', status: 'pending' });
    expect((await world.run(...words.split(' '))).exitCode).toBe(0);
    expect((await world.json('show', index)).status).toBe('completed');
    await world.run('webhooks', 'endpoints', 'remove', id);
  });

  test('knows no other events', async () => {
    // A payment to the wallet makes no other event happen.
    for (const event of ['payment.lost', 'payment.approval_requested', 'client.budget_low']) {
      expect((await world.run('trigger', event)).exitCode).toBe(2);
    }
    expect((await world.run('trigger', 'payment.held', '--failed')).exitCode).toBe(2);
  });

  test('is refused on a real node before an invoice is made, and names the test delivery', async () => {
    const asked: string[] = [];
    const nodeInfo = await world.api('GET', '/v2/node/node_info');
    const real = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked.push(new URL(request.url).pathname);
        return Response.json({ ...nodeInfo, version: '0.21.2-beta' });
      },
    });
    const env = { SERVICE_SIDECAR_URL: `http://127.0.0.1:${real.port}` };
    const ran = await runBinary(['trigger', 'payment.finalized'], env);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('webhooks endpoints test');
    expect(asked).toEqual(['/v2/node/node_info']);
    await real.stop(true);
  });
});

describe('listen', () => {
  test('has an endpoint while it runs: prints its secret and a line for each attempt, and deletes it on Ctrl-C', async () => {
    const listen = startListen();
    await until(() => listen.stdout().startsWith('Signing secret: whsec_'));
    const secret = listen.stdout().trim().slice('Signing secret: '.length);
    refusals = 1;
    const { index } = await world.json('trigger', 'payment.finalized');
    const sent = await until(() => received.find(({ body }) => body.includes(index)));
    new Webhook(secret).verify(sent.body, sent.headers);
    const lines = () =>
      listen
        .stdout()
        .split('\n')
        .filter((line) => line.includes(index));
    await until(() => lines().length >= 2, 'the failed attempt and the retry are shown');
    const [first, second] = lines();
    expect(first).toMatch(/ {2}payment\.finalized {2}500 {2}\d+ ms {2}/);
    expect(second).toMatch(/ {2}payment\.finalized {2}200 {2}\d+ ms {2}/);
    await world.run('webhooks', 'redeliver', sent.headers['webhook-id'] ?? '');
    await until(() => lines().length >= 3, 'the redelivery is shown');
    listen.signal('SIGINT');
    expect(await listen.exit()).toBe(0);
    expect(await endpoints()).toEqual([]);
  });

  test('forwards only the events that are named, and prints JSON lines with --json', async () => {
    const listen = startListen('--events', 'payment.held', '--json');
    await until(() => listen.stdout().includes('\n'));
    const ready = JSON.parse(listen.stdout());
    const [endpoint] = await endpoints();
    expect(ready).toEqual({
      signing_secret: expect.stringMatching(/^whsec_/),
      endpoint: endpoint.id,
    });
    expect(endpoint.events).toEqual(['payment.held']);
    listen.signal('SIGTERM');
    expect(await listen.exit()).toBe(0);
  });

  test('leaves nothing for long when it is killed: its endpoint ends within a minute', async () => {
    const listen = startListen();
    await until(() => listen.stdout().startsWith('Signing secret: '));
    const [endpoint] = await endpoints();
    expect(endpoint.expires_at - endpoint.created_at).toBeGreaterThanOrEqual(60_000);
    await listen.kill();
    // It may have been renewed since, and have ended by now.
    const [left = endpoint] = await endpoints();
    expect(left.expires_at).toBeLessThanOrEqual(Date.now() + 60_000);
    await world.run('webhooks', 'endpoints', 'remove', endpoint.id);
  });

  test('makes its endpoint anew, under the same secret, when that was deleted', async () => {
    const listen = startListen();
    await until(() => listen.stdout().startsWith('Signing secret: '));
    const secret = listen.stdout().trim().slice('Signing secret: '.length);
    const [{ id }] = (await endpoints()) as [Json];
    await world.run('webhooks', 'endpoints', 'remove', id);
    await until(() => listen.stderr().includes('is made anew'));
    const { index } = await world.json('trigger', 'payment.finalized');
    const sent = await until(() => received.find(({ body }) => body.includes(index)));
    new Webhook(secret).verify(sent.body, sent.headers);
    listen.signal('SIGINT');
    expect(await listen.exit()).toBe(0);
  });

  test('a loopback address is not given to a sidecar on another machine', async () => {
    const args = ['listen', '--forward-to', url, '--url', 'https://sidecar.example'];
    expect(await runBinary(args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('another machine'),
    });
  });

  test('goes on when the sidecar was away, under the same secret', async () => {
    const dataDir = join(folder, 'data');
    const start = (address: string) =>
      startBinary(['dev', '--data-dir', dataDir, '--listen-addr', address], {
        env: { SERVICE_SANDBOX_BLOCK_SECS: '0' },
      });
    const first = start(`127.0.0.1:${freePort()}`);
    const baseUrl = await first.ready();
    const env = { SERVICE_SIDECAR_URL: baseUrl, SERVICE_DATA_DIR: dataDir };
    const listen = startBinary(['listen', '--forward-to', url], { env });
    await until(() => listen.stdout().startsWith('Signing secret: '));
    await first.kill();
    await until(() => listen.stderr().includes('is away'));
    const second = start(new URL(baseUrl).host);
    await second.ready();
    await until(() => listen.stderr().includes('is there again'));
    await runBinary(['trigger', 'payment.finalized'], env);
    await until(() => listen.stdout().includes('payment.finalized  200'));
    listen.signal('SIGINT');
    expect(await listen.exit()).toBe(0);
    await second.stop();
  });
});
