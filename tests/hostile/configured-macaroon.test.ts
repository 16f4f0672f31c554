import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { credentialsOf, type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** What an owner is told whose configured macaroon does not allow everything. */

const LONG_MS = 60_000;
const HELD = ['info:read', 'offchain:read'];
let fake: FakeLnd;
let sidecar: SidecarOnFake;

beforeAll(async () => {
  fake = await startFakeLnd();
  const { url, cert } = fake;
  sidecar = await startSidecarOnFake({ url, cert, adminMacaroon: fake.macaroons.bake(HELD) });
}, LONG_MS);
afterAll(async () => {
  await sidecar?.close();
  await fake?.stop();
}, LONG_MS);

test('client_info lists what the macaroon allows, without what LND cannot serve', async () => {
  const info = await sidecar.get('/v2/node/client_info');
  expect(info.effective_permissions).toEqual([
    'list_channels',
    'get_human_bitcoin_address',
    'update_personal_note',
    'list_clients',
    'manage_webhooks',
  ]);
  expect(info.permissions).toEqual(info.effective_permissions);
});

test('what LND cannot serve is error 110, whatever the macaroon allows', async () => {
  const answer = await sidecar.call('POST', '/v2/node/create_offer', { body: {} });
  expectError(answer, 'unsupported', /lnd/);
});

test('error 108 names what the macaroon lacks and the command that bakes another', async () => {
  const invoice = await sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '7' } });
  expectError(invoice, 'forbidden');
  expect(invoice.body).toMatchObject({
    data: { permission: 'create_invoice' },
    msg: 'The configured macaroon lacks invoices:write and invoices:read, which create_invoice needs: run "lncli bakemacaroon --save_to wallet-sidecar.macaroon invoices:write invoices:read info:read offchain:read", then `connect lnd` with that file.',
  });
});

test('a macaroon that allows more counts as soon as the file holds it, without a restart', async () => {
  const { url, cert } = fake;
  const invoices = ['invoices:write', 'invoices:read'];
  const adminMacaroon = fake.macaroons.bake([...HELD, ...invoices]);
  const before = await sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '7' } });
  expectError(before, 'forbidden');
  writeFileSync(sidecar.credentialsPath, await credentialsOf({ url, cert, adminMacaroon }));
  const made = await sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '7' } });
  expect(made.status).toBe(200);
  const info = await sidecar.get('/v2/node/client_info');
  expect(info.effective_permissions).toContain('create_invoice');
  // One that allows less is followed as well, once it is asked for.
  writeFileSync(
    sidecar.credentialsPath,
    await credentialsOf({ url, cert, adminMacaroon: fake.macaroons.bake(HELD) }),
  );
  const after = await sidecar.get('/v2/node/client_info');
  expect(after.effective_permissions).not.toContain('create_invoice');
  const again = await sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '7' } });
  expectError(again, 'forbidden');
});
