import { Database } from 'bun:sqlite';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeBolt11 } from '../src/codecs/bolt11/index.ts';

/**
 * The least that a process between a caller and a node can do: it passes the calls on that a request takes, keeps a row
 * where one must be kept, and checks the signature of an invoice before it pays. No rule of the sidecar is in it. It is
 * a program of its own, given what it needs as JSON in its first argument.
 */
const { port, folder, kind, url, certPath, token } = JSON.parse(process.argv[2] ?? '{}') as {
  port: number;
  folder: string;
  kind: 'lnd' | 'cln';
  url: string;
  certPath: string;
  token: string;
};

const ca = readFileSync(certPath, 'utf8');
const db = new Database(join(folder, 'floor.db'), { create: true });
db.run('PRAGMA journal_mode = WAL');
db.run('PRAGMA synchronous = FULL');
db.run('CREATE TABLE kept (at INTEGER PRIMARY KEY, body TEXT)');
const insert = db.prepare('INSERT INTO kept (body) VALUES (?)');
/** One durable commit. */
const keep = (body: string) => void insert.run(body);

const headers = kind === 'lnd' ? { 'grpc-metadata-macaroon': token } : { rune: token };
async function send(method: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    tls: { ca },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.text();
}
const rpc = (method: string, params: object) => send('POST', `/v1/${method}`, params);

const lnd = {
  nodeInfo: () =>
    Promise.all(
      ['/v1/getinfo', '/v1/balance/blockchain', '/v1/channels', '/v1/channels/pending'].map(
        (path) => send('GET', path),
      ),
    ),
  createInvoice: () => send('POST', '/v1/invoices', { value_msat: '1000', expiry: '86400' }),
  look: () => send('GET', '/v1/payments?include_incomplete=true&max_payments=1&reversed=true'),
  pay: (invoice: string) =>
    send('POST', '/v2/router/send', {
      payment_request: invoice,
      timeout_seconds: 60,
      fee_limit_msat: '10000',
    }),
};
const cln = {
  nodeInfo: () =>
    Promise.all(['getinfo', 'listfunds', 'listpeerchannels'].map((method) => rpc(method, {}))),
  createInvoice: () =>
    rpc('invoice', {
      amount_msat: 1000,
      description: '',
      expiry: 86_400,
      label: `floor ${crypto.randomUUID()}`,
    }),
  look: (hash: string) => rpc('listsendpays', { payment_hash: hash }),
  pay: (invstring: string) => rpc('xpay', { invstring, maxfee: '10000msat', retry_for: 60 }),
};
const node = kind === 'lnd' ? lnd : cln;

async function pay(text: string): Promise<string> {
  const { paymentHash } = decodeBolt11(text);
  await node.look(paymentHash);
  keep(text);
  const paid = await node.pay(text);
  keep(paid);
  return '{}';
}

async function answer(request: Request): Promise<string> {
  switch (new URL(request.url).pathname) {
    case '/v2/node/node_info':
      return JSON.stringify(await node.nodeInfo());
    case '/v2/node/create_invoice': {
      await request.json();
      const made = await node.createInvoice();
      keep(made);
      return made;
    }
    case '/v2/node/pay_invoice': {
      const { invoice } = (await request.json()) as { invoice: string };
      return pay(invoice);
    }
    default:
      return '{}';
  }
}

Bun.serve({
  port,
  hostname: '127.0.0.1',
  idleTimeout: 0,
  fetch: async (request) =>
    new Response(await answer(request), { headers: { 'content-type': 'application/json' } }),
});
