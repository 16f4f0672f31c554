import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../../support/folder.ts';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { type CliWorld, openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
let folder: string;
beforeAll(async () => {
  folder = temporaryFolder('cli');
  world = await openCliWorld();
});
afterAll(async () => {
  await world.close();
  removeFolder(folder);
});

describe('clients', () => {
  test('create prints the credentials alone on stdout, and a warning on stderr', async () => {
    const { exitCode, stdout, stderr } = await world.run(
      ...['clients', 'create', '--label', 'shop', '--scope', 'read_info,receive'],
      ...['--scope', 'annotate', '--expires', '30d'],
    );
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\S+$/);
    expect(stderr).toMatch(/^Keep it secret: /);
    expect(stderr).not.toContain(stdout);
    const file = join(folder, 'credentials');
    writeFileSync(file, `${stdout}\n`);
    expect((await world.run('info', '--client-credentials-path', file)).exitCode).toBe(0);
    const info = await world.api('GET', '/v2/node/client_info', undefined, stdout);
    expect(info).toMatchObject({ label: 'shop', scopes: ['read_info', 'receive', 'annotate'] });
    expect(info.expires_at - info.created_at).toBeGreaterThan(29 * 24 * 3600 * 1000);
    expect(await world.run('payments', '--client-credentials', stdout)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/get_updated_payments.*\(error 108\)/),
    });
  });

  test('create --json prints the answer of the API; the warning stays on stderr', async () => {
    const ran = await world.run('clients', 'create', '--permission', 'node_info', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ effective_permissions: ['node_info'] });
    expect(ran.stderr).toContain('Keep it secret');
  });

  test('list shows who may do what, with budgets, and --json is the answer of the API', async () => {
    const budget = ['--budget', '10000/day', '--max-payment', '1000'];
    await world.json('clients', 'create', '--label', 'bot', '--scope', 'send', ...budget);
    const { stdout } = await world.run('clients', 'list');
    const row = stdout.split('\n').find((line) => line.includes('bot')) ?? '';
    expect(row).toMatch(/^[0-9a-f]{64} {2}bot +send +0 of 10,000 sats a day, 1,000 sats at once/);
    expect(row).toEndWith('never');
    const json = await world.run('clients', 'list', '--json');
    expect(json.stdout).toBe(await world.text('/v2/node/list_clients'));
  });

  test('--own makes a client that sees only what it made, and update takes yes or no', async () => {
    const make = ['clients', 'create', '--label', 'till', '--scope', 'receive', '--own'];
    const { client_pk } = await world.json(...make);
    const shown = async () => (await world.run('clients', 'show', 'till')).stdout;
    expect(await shown()).toMatch(/^Sees +only what it made$/m);
    const { stdout: list } = await world.run('clients', 'list');
    expect(list).toMatch(/^Client .* Sees /);
    expect(list).toMatch(/ till +receive +its own /);
    const update = ['clients', 'update', client_pk, '--own'];
    expect((await world.json(...update, 'no')).client.own).toBe(false);
    expect(await shown()).not.toContain('Sees');
    expect((await world.json(...update, 'yes')).client.own).toBe(true);
    expect((await world.run(...update, 'maybe')).exitCode).toBe(2);
  });

  test('--origin is repeatable, is shown by list and show, and is changed and cleared by update', async () => {
    const [a, b] = ['https://a.example', 'https://b.example:8443'];
    const origins = ['--origin', a, '--origin', b];
    const { client_pk } = await world.json(
      ...['clients', 'create', '--label', 'fetcher', '--scope', 'send'],
      ...origins,
    );
    const shown = async () => (await world.run('clients', 'show', 'fetcher')).stdout;
    expect(await shown()).toMatch(/^Fetches from +https:\/\/a.example, https:\/\/b.example:8443$/m);
    const list = (await world.run('clients', 'list')).stdout.split('\n');
    expect(list[0]).toContain('Fetches from');
    expect(list.find((line) => line.includes('fetcher'))).toContain(a);
    const update = ['clients', 'update', client_pk];
    expect((await world.json(...update, '--origin', b)).client.origins).toEqual([b]);
    for (const wrong of ['https://a.example/v1', 'a.example', 'http://a.example']) {
      const { exitCode, stderr } = await world.run(...update, '--origin', wrong);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('https://api.example')]);
    }
    expect((await world.run(...update, '--origin', a, '--clear-origins')).exitCode).toBe(2);
    expect((await world.json(...update, '--clear-origins')).client.origins).toBeNull();
    expect(await shown()).not.toContain('Fetches from');
  });

  test('update changes what is named and leaves the rest', async () => {
    const { client_pk } = await world.json('clients', 'create', '--label', 'a', '--scope', 'send');
    const shown = await world.run('clients', 'update', client_pk, '--label', 'b');
    expect(shown.stdout).toMatch(/^Label +b$/m);
    expect(shown.stdout).toMatch(/^May +send$/m);
    const update = (...flags: string[]) => world.json('clients', 'update', client_pk, ...flags);
    expect(await update('--scope', 'read_info', '--budget', '5/total')).toMatchObject({
      client: { label: 'b', scopes: ['read_info'], budget: { amount: '5', period: 'total' } },
    });
    await update('--expires', '2099-01-31');
    const cleared = ['--clear-label', '--clear-expiration', '--clear-budget'];
    expect(await update(...cleared)).toMatchObject({
      client: { label: null, expires_at: null, budget: null, scopes: ['read_info'] },
    });
  });

  test('update keeps the limit of one payment that it does not name (docs/decisions.md 66)', async () => {
    const { client_pk } = await world.json(
      ...['clients', 'create', '--label', 'kept', '--scope', 'send'],
      ...['--budget', '10000/day', '--max-payment', '1000'],
    );
    const budget = async (...flags: string[]) =>
      (await world.json('clients', 'update', ...flags)).client.budget;
    const raised = await world.run('clients', 'update', client_pk, '--budget', '20000/week');
    expect(raised.stdout).toMatch(/^Budget +0 of 20,000 sats a week, 1,000 sats at once$/m);
    expect(raised.stderr).toMatch(/^One payment may still cost 1,000 sats at most: .*none/);
    const week = { amount: '20000', period: 'week' };
    expect(await budget('kept', '--max-payment', '100')).toMatchObject({
      ...week,
      max_payment: '100',
    });
    expect(await budget('kept', '--max-payment', 'none')).toMatchObject({
      ...week,
      max_payment: null,
    });
    const both = ['--budget', '30000/day', '--max-payment', '7'];
    expect(await budget('kept', ...both)).toMatchObject({ amount: '30000', max_payment: '7' });
    expect(await budget('kept', '--label', 'kept2')).toMatchObject({ max_payment: '7' });
    const none = ['--budget', '5/day', '--max-payment', 'none'];
    expect(await budget('kept2', ...none)).toMatchObject({ amount: '5', max_payment: null });
  });

  test('update refuses a limit where there is no budget, and one that is cleared at once', async () => {
    const { client_pk } = await world.json('clients', 'create', '--scope', 'send');
    const update = (...flags: string[]) => world.run('clients', 'update', client_pk, ...flags);
    expect(await update('--max-payment', '5')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The client has no budget'),
    });
    expect(await update('--max-payment', '5', '--clear-budget')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('set and cleared at once'),
    });
    expect(await world.json('clients', 'show', client_pk)).toMatchObject({ budget: null });
  });

  test('payments --client lists what a client made, by its label or key', async () => {
    const till = await world.json('clients', 'create', '--label', 'Till 9', '--scope', 'receive');
    const { client_pk, client_credentials } = till;
    const made = await world.api('POST', '/v2/node/create_invoice', {}, client_credentials);
    await world.json('invoice', '10');
    for (const name of ['Till 9', client_pk, client_pk.slice(0, 8)]) {
      const { payments } = await world.json('payments', '--client', name);
      expect(payments).toMatchObject([{ index: made.index }]);
    }
    const { exitCode, stderr } = await world.run('payments', '--client', 'Till 10');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('No active client has')]);
  });

  test('revoke ends the credentials at once', async () => {
    const made = await world.json('clients', 'create', '--scope', 'full');
    const revoked = await world.run('clients', 'revoke', made.client_pk);
    expect(revoked).toEqual({
      exitCode: 0,
      stdout: 'Revoked: its credentials work no longer.',
      stderr: '',
    });
    expect(await world.run('info', '--client-credentials', made.client_credentials)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('(error 104)'),
    });
  });

  test('an unknown client ends with 1 and error 107', async () => {
    expect(await world.run('clients', 'revoke', 'ab'.repeat(32))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('(error 107)'),
    });
  });
});
