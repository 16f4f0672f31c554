import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { connect } from 'node:tls';
import { type LndRest, LndRestError, lndRest } from '../interop/harness/lnd-rest.ts';
import { until } from '../support/until.ts';
import { type FakeLnd, startFakeLnd } from './fake-lnd.ts';
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type NodeFiles, nodeFiles } from './node-files.ts';

let fake: FakeLnd;
let proxy: FaultProxy;
let files: NodeFiles;
let lnd: LndRest;

beforeAll(async () => {
  fake = await startFakeLnd();
  proxy = await startFaultProxy(fake);
  const { adminMacaroon } = fake;
  files = nodeFiles({ url: proxy.url, cert: proxy.cert, adminMacaroon });
  lnd = lndRest(files);
});
afterAll(async () => {
  await proxy.stop();
  await fake.stop();
  files[Symbol.dispose]();
});
beforeEach(() => {
  fake.received.length = 0;
});

const INVOICE = { method: 'POST', path: /^\/v1\/invoices/ } as const;
const BLOCKS = { method: 'POST', path: /register\/blocks/ } as const;

/**
 * The result for the caller of AddInvoice (`answered`, `unreadable`, a status, or `broken`), and the number of invoices
 * made.
 */
async function addInvoice(fault: Fault): Promise<unknown> {
  proxy.rules({ ...INVOICE, nth: 1, fault });
  const before = fake.invoices.list().length;
  const seen = await lnd.rest<unknown>('POST', '/v1/invoices', { value_msat: '1000' }).then(
    (answer) => (typeof answer === 'string' ? 'unreadable' : 'answered'),
    (error) => (error instanceof LndRestError ? error.status : 'broken'),
  );
  expect(proxy.fired.at(-1)).toMatchObject({ kind: fault.kind, method: 'POST' });
  return { seen, done: fake.invoices.list().length - before };
}

test('a fault says what the caller sees and how often the node acts', async () => {
  expect(await addInvoice({ kind: 'cut-before' })).toEqual({ seen: 'broken', done: 0 });
  expect(await addInvoice({ kind: 'cut-after' })).toEqual({ seen: 'broken', done: 1 });
  expect(await addInvoice({ kind: 'page', status: 502 })).toEqual({ seen: 502, done: 1 });
  expect(await addInvoice({ kind: 'page', status: 504 })).toEqual({ seen: 504, done: 1 });
  expect(await addInvoice({ kind: 'unavailable' })).toEqual({ seen: 503, done: 1 });
  expect(await addInvoice({ kind: 'delay', ms: 5 })).toEqual({ seen: 'answered', done: 1 });
  expect(await addInvoice({ kind: 'garble' })).toEqual({ seen: 'unreadable', done: 1 });
  expect(await addInvoice({ kind: 'twice' })).toEqual({ seen: 'answered', done: 2 });
});

test('a rule fires for the occurrence that it names and for no other', async () => {
  proxy.rules({ method: 'GET', path: /getinfo/, nth: 2, fault: { kind: 'unavailable' } });
  const status = () =>
    lnd.rest('GET', '/v1/getinfo').then(
      () => 200,
      ({ status }: LndRestError) => status,
    );
  expect([await status(), await status(), await status()]).toEqual([200, 503, 200]);
});

/**
 * What the proxy sends for a POST until it cuts the connection. Read from the socket, because Bun's `fetch` drops what
 * it has not yet handed out when the connection breaks.
 */
function untilCut(path: string): Promise<string> {
  const { hostname: host, port } = new URL(proxy.url);
  const socket = connect({ host, port: Number(port), ca: proxy.cert });
  const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ngrpc-metadata-macaroon: ${fake.adminMacaroon}\r\n`;
  socket.write(`${head}content-length: 2\r\n\r\n{}`);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  return new Promise((resolve) => socket.once('close', () => resolve(text)));
}

test('a stream passes item by item, and faults meet its items', async () => {
  proxy.rules();
  const items = () =>
    lnd.stream<{ height: number }>('POST', '/v2/chainnotifier/register/blocks', {});
  const whole = items();
  const first = (await whole.next()).value;
  fake.wallet.mine(1);
  expect((await whole.next()).value?.height).toBe((first?.height ?? 0) + 1);
  await whole.return();

  const count = async () => {
    let seen = 0;
    try {
      for await (const _ of items()) seen += 1;
    } catch (error) {
      return { seen, garbled: error instanceof LndRestError };
    }
    return { seen, garbled: false };
  };
  proxy.rules({ ...BLOCKS, fault: { kind: 'cut-stream', afterItems: 1 } });
  expect((await untilCut('/v2/chainnotifier/register/blocks')).match(/"height"/g)).toHaveLength(1);
  proxy.rules({ ...BLOCKS, fault: { kind: 'cut-stream', afterItems: 0 } });
  expect(await count()).toEqual({ seen: 0, garbled: false });
  proxy.rules({ ...BLOCKS, fault: { kind: 'garble' } });
  expect(await count()).toEqual({ seen: 0, garbled: true });
  // The proxy tells the node that its callers have disconnected.
  await until(() => fake.wallet.blocks.followers === 0);
});
