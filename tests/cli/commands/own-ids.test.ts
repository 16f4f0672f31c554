import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { type CliWorld, openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
beforeAll(async () => {
  world = await openCliWorld();
});
afterAll(() => world.close());

/** Text without characters that a terminal could obey, except line feeds. */
const HARMLESS = /^[^\p{C}]*(\n[^\p{C}]*)*$/u;

test('what is sold and its order number are shown by payments, show and export, harmless to the terminal', async () => {
  const plain = (await world.run('payments')).stdout;
  expect(plain).not.toContain('Description');
  expect(plain).not.toContain('External id');
  const body = { amount: '10', description: '=Tea\u001b[2J\u009b31m\u202e', external_id: '=17' };
  const { index, invoice } = await world.api('POST', '/v2/node/create_invoice', body);
  await world.json('sandbox', 'pay', invoice);
  await world.json('wait', index);
  const shown = [
    await world.run('payments', '--wide', '--external-id', '=17'),
    await world.run('show', index),
    await world.run('export'),
    await world.run('export', '--format', 'jsonl'),
  ].map(({ exitCode, stdout }) => ({ exitCode, stdout, lines: stdout.split('\n') }));
  for (const { exitCode, stdout } of shown) {
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(HARMLESS);
    expect(stdout).toContain('=Tea');
  }
  const [table, one, csv, jsonl] = shown;
  expect(table?.lines[0]).toMatch(/ Description +External id +Note or message /);
  expect(table?.lines).toHaveLength(2);
  expect(table?.lines[1]).toMatch(/ =Tea\\u\{1b\}\[2J\\u\{9b\}\S+ +=17 /);
  expect(one?.stdout).toMatch(/^Description +=Tea\\u\{1b\}/m);
  expect(one?.stdout).toMatch(/^External id +=17$/m);
  expect(csv?.lines[0]).toContain(',payer_name,description,external_id,price,');
  expect(csv?.lines.find((line) => line.endsWith(index))).toMatch(/,'=Tea\\u\{1b\}[^,]*,'=17,/);
  const last = JSON.parse(jsonl?.lines.find((line) => line.includes(index)) ?? '');
  expect(last).toMatchObject({ description: body.description, external_id: '=17' });
});

test('--external-id of every command that makes or receives a payment is kept with it', async () => {
  const id = ['--external-id', 'order-17'];
  const kept = async (index: string) => expect(await world.json('show', index)).toMatchObject(own);
  const own = { external_id: 'order-17' };
  await kept((await world.json('invoice', '10', ...id)).index);
  await kept((await world.json('buy', '5000', ...id)).index);
  const { offer } = await world.json('offer', '--description', 'Plan', ...id);
  await world.json('sandbox', 'pay', offer, '3');
  const { payments } = await world.json('payments', ...id);
  expect(payments).toHaveLength(3);
  expect(payments[0]).toMatchObject({ rail: 'offer', description: 'Plan' });

  const { invoice } = await world.api('POST', '/sandbox/invoice', { amount: '5' });
  expect(await world.json('pay', invoice, ...id)).toMatchObject(own);
  const { client_credentials: bob } = await world.api('POST', '/sandbox/wallets');
  const { address } = await world.api('POST', '/v2/node/get_next_unused_address', {}, bob);
  const onchain = ['pay', address, '20000', '--priority', 'high', ...id];
  expect(await world.json(...onchain)).toMatchObject(own);
  const { node_pk } = await world.api('GET', '/v2/node/node_info', undefined, bob);
  expect(await world.json('keysend', node_pk, '4', ...id)).toMatchObject(own);
  const terms = { tag: 'withdrawRequest', min_amount: '1', max_amount: '9' };
  const { lnurl } = await world.api('POST', '/sandbox/lnurl', terms);
  expect(await world.json('withdraw', lnurl, '5', ...id)).toMatchObject(own);
  expect((await world.json('payments', ...id)).payments).toHaveLength(7);
  const wrong = await world.run('invoice', '--external-id', 'x'.repeat(256));
  expect(wrong).toMatchObject({ exitCode: 1, stdout: '' });
  expect(wrong.stderr).toContain('--external-id must be at most 255 characters');
});
