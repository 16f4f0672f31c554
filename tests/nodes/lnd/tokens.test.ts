import { afterAll, beforeEach, expect, test } from 'bun:test';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { lndTokens, RootKeyIds } from '../../../src/nodes/lnd/set-up/tokens.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { rejection } from '../../support/rejection.ts';
import { refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
beforeEach(() => lnd.reset());
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
const ids = new RootKeyIds('ab'.repeat(16));
const others = new RootKeyIds('cd'.repeat(16));
const tokens = lndTokens(
  () => new LndRest({ endpoint: new RemoteEndpoint(lnd), token: () => 'aa' }),
  ids,
  random,
);
const MACAROON = '02'.repeat(60);

test('the ids of an installation carry its mark, are below 2^53, and never 0', () => {
  const drawn = Array.from({ length: 200 }, () => tokens.newId());
  expect(new Set(drawn).size).toBe(200);
  for (const id of [...drawn, ids.draw(new Uint8Array(4)), ids.draw(new Uint8Array(4).fill(255))]) {
    expect(Number.isSafeInteger(Number(id)) && Number(id) > 0).toBe(true);
    expect([ids.owns(id), others.owns(id)]).toEqual([true, false]);
  }
  for (const id of ['0', '1', '', 'x', '9007199254740993']) expect(ids.owns(id)).toBe(false);
});

test('a token is baked with the methods of its grant under its own id, and ends at its time', async () => {
  lnd.on('POST /v1/macaroon', { macaroon: MACAROON });
  const id = tokens.newId();
  const token = await tokens.issue({
    id,
    permissions: ['create_invoice'],
    expiresAtMs: 1_800_000_000_000,
  });
  expect(lnd.requests[0]?.body).toEqual({
    root_key_id: id,
    permissions: [
      { entity: 'uri', action: '/lnrpc.Lightning/GetInfo' },
      { entity: 'uri', action: '/lnrpc.Lightning/AddInvoice' },
      { entity: 'uri', action: '/invoicesrpc.Invoices/AddHoldInvoice' },
      { entity: 'uri', action: '/invoicesrpc.Invoices/SettleInvoice' },
    ],
  });
  expect(Buffer.from(token, 'hex').toString('latin1')).toContain('time-before 2027-01-15');
  expect(await tokens.issue({ id, permissions: [], expiresAtMs: null })).toBe(MACAROON);
});

test('an owner whose macaroon may not bake is told what to do', async () => {
  lnd.on('', () => refusal(500, 2, 'permission denied'));
  const issued = tokens.issue({ id: '5', permissions: [], expiresAtMs: null });
  expect(await rejection(issued)).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('macaroon:generate'),
  });
  expect(await rejection(tokens.revoke('5'))).toMatchObject({ kind: 'refused' });
  expect(await rejection(tokens.list())).toMatchObject({ kind: 'refused' });
});

test('only ids of this installation are listed', async () => {
  const own = tokens.newId();
  lnd.on('GET /v1/macaroon/ids', { root_key_ids: ['0', '7', own, others.draw(random(4))] });
  expect(await tokens.list()).toEqual([own]);
});

test('ending a token that is gone does nothing', async () => {
  lnd.on('DELETE /v1/macaroon/', { deleted: false });
  await tokens.revoke('77');
  expect(lnd.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'DELETE /v1/macaroon/77',
  ]);
});
