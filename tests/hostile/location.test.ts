import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { runBinary } from '../support/binary.ts';
import { expectError } from '../support/requests.ts';
import { SLOW_TEST_MS, waitUntil } from '../support/until.ts';
import { selfSignedCertificate } from './certificates.ts';
import { type FakeLnd, type FakeLndOptions, startFakeLnd } from './fake-lnd.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { claimsIdentity } from './hostile-lnd/lies.ts';
import { startHostileLnd } from './hostile-lnd.ts';
import {
  connect,
  credentialsOf,
  type SidecarOnFake,
  startSidecarOnFake,
} from './sidecar-on-fake.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Decisions section 7: only configuration says where a node is. */

const LONG_MS = 90_000;
const SIGNATURE = /\bsign|\bprove/i;
const opened: { close?(): Promise<void>; stop?(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await (one.close ?? one.stop)?.call(one);
}, LONG_MS);

function keep<T extends (typeof opened)[number]>(one: T): T {
  opened.push(one);
  return one;
}

async function start(
  options: FakeLndOptions = {},
): Promise<{ fake: FakeLnd; sidecar: SidecarOnFake }> {
  const fake = keep(await startFakeLnd(options));
  return { fake, sidecar: keep(await startSidecarOnFake(fake)) };
}

/** Credentials with another place and everything else unchanged. */
function relocated(credentials: string, from: string, to: string): string {
  const text = Buffer.from(credentials, 'base64url').toString();
  return Buffer.from(text.replaceAll(from, to)).toString('base64url');
}

/** Stops the sidecar and starts it with other credentials. Returns false when it does not start. */
async function restartWith(sidecar: SidecarOnFake, credentials: string): Promise<boolean> {
  await sidecar.stop();
  writeFileSync(sidecar.credentialsPath, `${credentials}\n`);
  return sidecar.start().then(
    () => true,
    () => false,
  );
}

test(
  'no request makes the sidecar connect to a place it was not started with',
  async () => {
    const { sidecar } = await start();
    const other = keep(await startHostileLnd({ takesAnyMacaroon: true }));
    const credentials = await credentialsOf(other);
    other.received.length = 0;
    const answer = await sidecar.call('GET', '/v2/node/node_info', { credentials });
    expect(other.received).toEqual([]);
    expectError(answer, 'unauthenticated');
  },
  LONG_MS,
);

test(
  'the location inside credentials of a request is ignored: their token goes to the configured place',
  async () => {
    // The other place shows the certificate that the credentials name, so that only the rule under test keeps the token
    // away.
    const certificate = selfSignedCertificate();
    const { fake, sidecar } = await start({ certificate });
    const other = keep(await startHostileLnd({ certificate, takesAnyMacaroon: true }));
    const credentials = relocated(sidecar.credentials, fake.url, other.url);
    const answer = await sidecar.call('GET', '/v2/node/node_info', { credentials });
    expect(other.received).toEqual([]);
    expect(answer).toMatchObject({ status: 200, body: { node_pk: fake.pubkey } });
  },
  LONG_MS,
);

test(
  'two entries of the configuration for one node key are a start-up error that names both',
  async () => {
    const { fake, sidecar } = await start();
    await sidecar.stop();
    const proxy = keep(await startFaultProxy(fake));
    const { adminMacaroon } = fake;
    const second = `${sidecar.credentialsPath}.second`;
    const credentials = await credentialsOf({ url: proxy.url, cert: proxy.cert, adminMacaroon });
    writeFileSync(second, `${credentials}\n`, { mode: 0o600 });
    const { exitCode, stderr } = await runBinary([
      ...['serve', '--data-dir', ':memory:', '--listen-addr', '127.0.0.1:0'],
      ...['--client-credentials-path', sidecar.credentialsPath, '--node-credentials-path', second],
    ]);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(sidecar.credentialsPath);
    expect(stderr).toContain(second);
  },
  LONG_MS,
);

test(
  'a node that cannot sign with the key it claims does not speak for that wallet, and sees no token of it',
  async () => {
    const { fake, sidecar } = await start();
    const client = await sidecar.post('/v2/node/create_client', { scopes: ['read_info'] });
    await sidecar.get('/v2/node/node_info', {}, client.client_credentials);
    const impostor = keep(await startHostileLnd({ takesAnyMacaroon: true }));
    impostor.misbehave(claimsIdentity(fake.pubkey));
    const { exitCode, stdout, stderr } = await connect(impostor);
    // Either `connect lnd` refuses the place or the sidecar that is started with it does, both because of the
    // signature.
    if (exitCode !== 0) return void expect(stderr).toMatch(SIGNATURE);
    const log = sidecar.log().length;
    if (!(await restartWith(sidecar, stdout.trim()))) {
      return void expect(sidecar.log().slice(log)).toMatch(SIGNATURE);
    }
    const owner = await sidecar.call('GET', '/v2/node/node_info');
    await sidecar.call('GET', '/v2/node/node_info', { credentials: client.client_credentials });
    const seen = new Set(impostor.received.map(({ macaroonHex }) => macaroonHex));
    seen.delete(impostor.adminMacaroon);
    seen.delete(null);
    expect([...seen]).toEqual([]);
    expect(owner.body.node_pk).not.toBe(fake.pubkey);
  },
  LONG_MS,
);

test(
  'a node that signs a challenge at its new place goes on there, with its payments and clients',
  async () => {
    const { fake, sidecar } = await start();
    const made = await sidecar.post('/v2/node/create_invoice', { amount: '7' });
    fake.paysInvoice(made.payment_hash);
    await waitUntil('the invoice is paid', async () => {
      const payment = await sidecar.get('/v2/node/payment', { index: made.index });
      return payment.status === 'completed';
    });
    const client = await sidecar.post('/v2/node/create_client', { scopes: ['read_info'] });
    const proxy = keep(await startFaultProxy(fake));
    const { adminMacaroon } = fake;
    const credentials = await credentialsOf({ url: proxy.url, cert: proxy.cert, adminMacaroon });
    expect(await restartWith(sidecar, credentials)).toBe(true);
    const known = await sidecar.get('/v2/node/payment', { index: made.index });
    expect(known.status).toBe('completed');
    await sidecar.get('/v2/node/node_info');
    const signed = async () => proxy.reached.some((call) => call.endsWith('/v1/signmessage'));
    await waitUntil('the node has signed', signed, 20_000);
    fake.received.length = 0;
    const before = proxy.reached.length;
    await sidecar.get('/v2/node/node_info', {}, client.client_credentials);
    const tokens = new Set(fake.received.map(({ macaroonHex }) => macaroonHex));
    tokens.delete(fake.adminMacaroon);
    // The client's own token was used at the new place.
    expect(tokens.size).toBeGreaterThan(0);
    expect(proxy.reached.length).toBeGreaterThan(before);
  },
  LONG_MS,
);
