import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type Body, expectError } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';
import { selfSignedCertificate } from './certificates.ts';
import { readFakeMacaroon } from './fake-lnd/macaroons.ts';
import { redirects, refuses } from './hostile-lnd/bytes.ts';
import { type HostileLnd, startHostileLnd } from './hostile-lnd.ts';
import { type SidecarOnFake, startSidecarOnFake } from './sidecar-on-fake.ts';
import { startThief } from './thief.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** Decisions section 7: a node's token never leaves the sidecar. */

const LONG_MS = 90_000;
const certificate = selfSignedCertificate();
let node: HostileLnd;
let sidecar: SidecarOnFake;

beforeAll(async () => {
  node = await startHostileLnd({ certificate });
  sidecar = await startSidecarOnFake(node);
}, LONG_MS);
afterAll(async () => {
  await sidecar?.close();
  await node?.stop();
}, LONG_MS);
beforeEach(() => node.misbehave());

/**
 * Creates a client and makes one request with it. Returns the calls that the node received for it, with their
 * macaroons.
 */
async function clientAndItsCalls(scopes: readonly string[]) {
  const client: Body = await sidecar.post('/v2/node/create_client', { scopes });
  const from = node.received.length;
  await sidecar.call('GET', '/v2/node/node_info', { credentials: client.client_credentials });
  const info = node.received.slice(from).filter(({ rpc }) => rpc?.endsWith('/WalletBalance'));
  return { client, macaroons: new Set(info.map(({ macaroonHex }) => macaroonHex ?? '')) };
}

const infoCall = (credentials?: string) =>
  sidecar.call('GET', '/v2/node/node_info', { credentials });

test(
  'the credentials of a client hold no macaroon',
  async () => {
    const { client, macaroons } = await clientAndItsCalls(['read_info']);
    expect(macaroons.size).toBe(1);
    const [macaroon = ''] = macaroons;
    const decoded = Buffer.from(client.client_credentials, 'base64url');
    for (const text of [decoded.toString(), decoded.toString('hex'), JSON.stringify(client)]) {
      expect(text).not.toContain(macaroon);
    }
  },
  LONG_MS,
);

test(
  'the node itself refuses what a client was not granted: its requests carry a macaroon of their own',
  async () => {
    const { macaroons } = await clientAndItsCalls(['read_info']);
    const [macaroon = ''] = macaroons;
    const { rootKeyId, operations } = readFakeMacaroon(macaroon);
    expect(rootKeyId).not.toBe('0');
    expect(operations.every((operation) => operation.startsWith('uri:'))).toBe(true);
    expect(operations).toContain('uri:/lnrpc.Lightning/GetInfo');
    expect(operations.join()).not.toMatch(/Send|Bake|Open|Close|Publish|Finalize|Fund/);
  },
  LONG_MS,
);

test.each([301, 302, 307, 308] as const)(
  'a node that redirects with %d gets no token sent elsewhere',
  async (status) => {
    const thief = await startThief(certificate);
    try {
      node.misbehave(redirects(`${thief.url}/v1/getinfo`, status));
      const answer = await infoCall();
      expect(answer.status).toBeGreaterThanOrEqual(500);
      const invoice = node.payments.foreignInvoice({ amountMsat: 1000n });
      await sidecar.call('POST', '/v2/node/pay_invoice', {
        body: { invoice: invoice.invoice },
        headers: { prefer: 'wait=1' },
      });
      await sidecar.call('POST', '/v2/node/create_invoice', { body: { amount: '1' } });
      expect(thief.heard).toEqual([]);
    } finally {
      await thief.stop();
    }
  },
  LONG_MS,
);

test(
  'another certificate at the same place gets no token, and the node is then unreachable',
  async () => {
    const port = Number(new URL(node.url).port);
    await node.stop();
    const impostor = await startHostileLnd({ port, takesAnyMacaroon: true });
    try {
      expectError(await infoCall(), 'unreachable');
      expect(impostor.received).toEqual([]);
    } finally {
      await impostor.stop();
      await node.start();
    }
    expect((await infoCall()).status).toBe(200);
  },
  LONG_MS,
);

test(
  'what a node says never carries its token into an answer or the log',
  async () => {
    const { client, macaroons } = await clientAndItsCalls(['read_info']);
    const tokens = [node.adminMacaroon, ...macaroons];
    expect(tokens).toHaveLength(2);
    for (const token of tokens) {
      node.misbehave(refuses(`you sent ${token}, thanks`, /GetInfo|ListChannels|WalletBalance/));
      const answers = [await infoCall(), await infoCall(client.client_credentials)];
      expect(node.misdone).toBeGreaterThan(0);
      for (const { status, body } of answers) {
        expect(status).toBeGreaterThanOrEqual(400);
        expect(JSON.stringify(body)).not.toContain(token);
      }
      expect(sidecar.log()).not.toContain(token);
    }
  },
  LONG_MS,
);

test(
  'an error that only speaks of a macaroon ends no credentials',
  async () => {
    const { client } = await clientAndItsCalls(['read_info']);
    node.misbehave(refuses('disk full: the macaroon database cannot be written', /WalletBalance/));
    const during = await infoCall(client.client_credentials);
    expect(node.misdone).toBeGreaterThan(0);
    expectError(during, 'refused');
    node.misbehave();
    expect((await infoCall(client.client_credentials)).status).toBe(200);
    expect((await infoCall()).status).toBe(200);
  },
  LONG_MS,
);
