import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type SidecarProcess, startBinary } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Body, expectError, send, sendOk } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type BrowserSession, pageHeaders, signIn } from './console-session.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('devices');
const url = `http://127.0.0.1:${freePort()}`;
let sidecar: SidecarProcess;
beforeAll(async () => {
  sidecar = await started();
});
afterAll(async () => {
  await sidecar.stop();
  removeFolder(folder);
});

async function started(): Promise<SidecarProcess> {
  const listen = ['--listen-addr', new URL(url).host, '--require-auth'];
  const next = startBinary(['dev', '--data-dir', join(folder, 'data'), ...listen]);
  await next.ready();
  return next;
}

const cookieFile = () => Bun.file(join(folder, 'data', 'cookie')).text();
const owner = async (method: string, path: string, body?: object): Promise<Body> =>
  sendOk(url, method, path, { credentials: await cookieFile(), ...(body && { body }) });
const till = (label = 'Till 1') =>
  owner('POST', '/v2/node/create_client', {
    label,
    scopes: ['read_payments', 'receive'],
    own: true,
  });
const linkOf = async (client_pk: string): Promise<string> => {
  const made = await owner('POST', '/v2/console/device_link', { client_pk });
  expect(made).toEqual({ token: expect.stringMatching(/^[0-9a-f]{64}$/), expires_in_secs: 600 });
  return made.token;
};
const signedIn = async (client_pk: string) => signIn(url, { link: await linkOf(client_pk) });
const as = (session: BrowserSession, path = '/v2/console/about', body?: object) =>
  send(url, body ? 'POST' : 'GET', path, {
    headers: pageHeaders(url, session),
    ...(body && { body }),
  });
const devices = async (): Promise<Body[]> => (await owner('GET', '/v2/console/devices')).devices;

describe('a device that is signed in as a client', () => {
  test('gets a cookie of 30 days by a link that works once and says whose it is', async () => {
    const { client_pk } = await till();
    const link = await linkOf(client_pk);
    const headers = pageHeaders(url);
    const look = { headers, body: { link } };
    const shown = await send(url, 'POST', '/v2/console/link_wallet', look);
    expect(shown.body).toMatchObject({ owner: false, label: 'Till 1', device: true });
    const answer = await send(url, 'POST', '/v2/console/session', look);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^wallet-sidecar-\d+=[0-9a-f]{128}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    );
    expect(answer.body).toMatchObject({ idle_secs: 2_592_000, longest_secs: 2_592_000 });
    expectError(await send(url, 'POST', '/v2/console/session', look), 'unauthenticated');
    expectError(await send(url, 'POST', '/v2/console/link_wallet', look), 'unauthenticated');
  });

  test('stays so over a kill, with what its client may do and no more', async () => {
    const { client_pk } = await till();
    const session = await signedIn(client_pk);
    const link = await linkOf(client_pk);
    await sidecar.kill();
    sidecar = await started();
    expect((await as(session)).body).toMatchObject({ caller: client_pk, owner: false });
    const made = await as(session, '/v2/node/create_invoice', { amount: '5' });
    expect(made.status).toBe(200);
    expectError(await as(session, '/v2/node/node_info'), 'forbidden');
    const again = { headers: pageHeaders(url), body: { link } };
    expectError(await send(url, 'POST', '/v2/console/session', again), 'unauthenticated');
  });

  test('needs both halves and its own page', async () => {
    const { client_pk } = await till();
    const session = await signedIn(client_pk);
    const other = await signedIn(client_pk);
    expectError(await as({ ...session, key: other.key }), 'unauthenticated');
    expectError(await as({ ...session, cookie: other.cookie }), 'unauthenticated');
    const call = (headers: Record<string, string>) =>
      send(url, 'GET', '/v2/console/about', { headers });
    const { 'console-key': _, ...withoutKey } = pageHeaders(url, session);
    expectError(await call(withoutKey), 'unauthenticated');
    const foreign = { ...pageHeaders(url, session), 'sec-fetch-site': 'same-site' };
    expectError(await call(foreign), 'hostNotAllowed');
    expect((await as(session)).status).toBe(200);
  });

  test('is listed, and signed out alone, with its open stream', async () => {
    const { client_pk } = await till();
    const [session, kept] = [await signedIn(client_pk), await signedIn(client_pk)];
    const own = (await devices()).filter((one) => one.client_pk === client_pk);
    expect(own).toHaveLength(2);
    for (const { created_at, used_at } of own) expect(used_at).toBe(created_at);
    const headers = pageHeaders(url, session);
    const stream = await fetch(`${url}/v2/node/events`, { headers });
    const told = stream.text();
    await as(session, '/v2/console/sign_out', {});
    expect(await told).toContain('"code":104');
    expectError(await as(session), 'unauthenticated');
    expect((await as(kept)).status).toBe(200);
    const [left] = (await devices()).filter((one) => one.client_pk === client_pk);
    await owner('POST', '/v2/console/end_device', { id: left?.id });
    expectError(await as(kept), 'unauthenticated');
  });

  test('ends with its client, whatever a link would still allow', async () => {
    const { client_pk } = await till();
    const session = await signedIn(client_pk);
    const link = await linkOf(client_pk);
    await owner('POST', '/v2/node/revoke_client', { client_pk });
    expectError(await as(session), 'unauthenticated');
    const late = { headers: pageHeaders(url), body: { link } };
    expectError(await send(url, 'POST', '/v2/console/session', late), 'unauthenticated');
    await until(async () => !(await devices()).some((one) => one.client_pk === client_pk));
    const gone = { credentials: await cookieFile(), body: { client_pk } };
    expectError(await send(url, 'POST', '/v2/console/device_link', gone), 'notFound');
  });

  test('is made by the owner alone, in a session of the console too', async () => {
    const { client_pk, client_credentials } = await till();
    const session = await signedIn(client_pk);
    for (const by of [client_credentials, undefined]) {
      const call = (method: string, path: string, body?: object) =>
        by === undefined
          ? as(session, path, body)
          : send(url, method, path, { credentials: by, ...(body && { body }) });
      expectError(await call('POST', '/v2/console/device_link', { client_pk }), 'forbidden');
      expectError(await call('GET', '/v2/console/devices'), 'forbidden');
      expectError(await call('POST', '/v2/console/end_device', { id: client_pk }), 'forbidden');
    }
    const own = await signIn(url, { credentials: await cookieFile() });
    expect((await as(own, '/v2/console/device_link', { client_pk })).status).toBe(200);
  });
});
