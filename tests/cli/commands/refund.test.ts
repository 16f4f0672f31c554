import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { SLOW_TEST_MS } from '../../support/until.ts';
import { type CliWorld, openCliWorld } from '../sidecar.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: CliWorld;
beforeAll(async () => {
  world = await openCliWorld();
});
afterAll(() => world.close());

test('without a refund the table of payments has no column for it', async () => {
  await world.json('invoice', '10');
  expect((await world.run('payments')).stdout).not.toContain('Refund');
});

test('--refund-of names a received payment by its short id, and show prints the link on both', async () => {
  const { index, invoice } = await world.api('POST', '/v2/node/create_invoice', { amount: '1000' });
  await world.json('sandbox', 'pay', invoice);
  await world.json('wait', index);
  const id = index.slice(-64);
  const refund = async (amount: string, ...how: string[]) => {
    const made = await world.api('POST', '/sandbox/invoice', { amount });
    return world.run('pay', made.invoice, '--refund-of', ...how, '--json');
  };
  const sent = JSON.parse((await refund('400', id.slice(0, 10))).stdout);
  expect(sent).toMatchObject({ status: 'completed', refund_of: index });
  const shown = async (which: string) => (await world.run('show', which)).stdout;
  expect(await shown(sent.index)).toMatch(new RegExp(`^Refund of +${index}$`, 'm'));
  expect(await shown(sent.index)).not.toMatch(/^Refunded/m);
  expect(await shown(index)).toMatch(/^Refunded +400 sats$/m);
  expect(await shown(index)).not.toMatch(/^Refund of/m);
  const rows = (await world.run('payments', '--wide')).stdout.split('\n');
  expect(rows[0]).toMatch(/ Status +Refund /);
  expect(rows.find((row) => row.endsWith(sent.index))).toContain(`  of ${id.slice(0, 10)}  `);
  expect(rows.find((row) => row.endsWith(index))).toMatch(/ completed +400 sats /);
  const beyond = await refund('601', id.slice(-6));
  expect(beyond.exitCode).toBe(1);
  expect(beyond.stderr).toContain('600 sats are left to refund');
  const none = await refund('1', '00000000');
  expect(none.stderr).toContain('No payment has an id that begins or ends with "00000000"');
});

test('--refund-of is taken by keysend and for a transaction', async () => {
  const { index } = await world.api('POST', '/sandbox/fund', {
    amount: '50000',
    rail: 'lightning',
  });
  const { client_credentials: bob } = await world.api('POST', '/sandbox/wallets');
  const { node_pk } = await world.api('GET', '/v2/node/node_info', undefined, bob);
  const refund = ['--refund-of', index];
  expect(await world.json('keysend', node_pk, '4', ...refund)).toMatchObject({ refund_of: index });
  const { address } = await world.api('POST', '/v2/node/get_next_unused_address', {}, bob);
  const onchain = ['pay', address, '20000', '--priority', 'high', ...refund];
  expect(await world.json(...onchain)).toMatchObject({ refund_of: index });
  expect(await world.json('show', index)).toMatchObject({ refunded: '20004' });
});
