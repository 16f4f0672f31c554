import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { rootSeedPhrase } from '../src/model/root-seed.ts';
import { startBinary } from '../tests/support/binary.ts';
import { removeFolder, temporaryFolder } from '../tests/support/folder.ts';
import { freePort } from '../tests/support/ports.ts';
import { sendOk } from '../tests/support/requests.ts';
import { openHostileService } from './hostile-service.ts';
import type { Schema } from './json-schema.ts';
import { leakOf, type Marker } from './oracle.ts';
import { openPool, type Pool } from './pool.ts';

/** As much of the log as a report shows. */
const LOG_TAIL_CHARACTERS = 20_000;
const SEED = new Uint8Array(32).fill(0x5e).map((byte, at) => byte ^ (at * 7));
/** Base64 without characters that would be escaped in JSON, URLs or the log. */
const WEBHOOK_SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU';

/** A running binary that logs everything, with planted secrets and a wallet that has used most endpoints. */
export interface FuzzWorld {
  readonly port: number;
  readonly pid: number;
  readonly document: Schema;
  readonly markers: readonly Marker[];
  /** Valid credentials, with various scopes and budgets. */
  readonly credentials: readonly string[];
  readonly pool: Pool;
  /** Names of planted secrets that the log or a webhook showed. */
  leaks(): readonly string[];
  alive(): boolean;
  /** The end of the log. */
  logTail(): string;
  /** Lines of the log of level error. */
  errors(): readonly string[];
  close(): Promise<void>;
}

type Json = Record<string, string>;

/** Starts the compiled binary on the sandbox, plants the secrets and fills the pool. */
export async function openFuzzWorld(): Promise<FuzzWorld> {
  const folder = temporaryFolder('fuzz');
  const rootSeed = Buffer.from(SEED).toString('hex');
  const markers: Marker[] = [
    { name: 'the root seed', text: rootSeed },
    { name: 'the words of the root seed', text: rootSeedPhrase(SEED) },
    { name: 'the webhook secret', text: WEBHOOK_SECRET },
  ];
  const leaks = new Set<string>();
  const watched = (text: string) => {
    const leaked = leakOf(markers, text);
    if (leaked) leaks.add(leaked);
  };
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      watched(JSON.stringify([...request.headers]) + (await request.text()));
      return new Response(null, { status: 200 });
    },
  });
  const hostile = openHostileService();
  const port = freePort();
  const errors: string[] = [];
  const onOutput = (lines: string) => {
    watched(lines);
    if (errors.length < 50)
      errors.push(...lines.split('\n').filter((line) => line.includes(' ERROR ')));
  };
  const child = startBinary(['serve'], {
    onOutput,
    env: {
      ...process.env,
      SERVICE_LISTEN_ADDR: `127.0.0.1:${port}`,
      SERVICE_DATA_DIR: join(folder, 'data'),
      SERVICE_ROOT_SEED: rootSeed,
      SERVICE_WEBHOOK_URL: receiver.url.href,
      SERVICE_WEBHOOK_SECRET: `whsec_${WEBHOOK_SECRET}`,
      SERVICE_DOH_URL: 'https://127.0.0.1:1/dns-query',
      SERVICE_LOG_LEVEL: 'debug',
      SERVICE_SANDBOX_BLOCK_SECS: '0',
    },
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const call: Call = (method, path, body, credentials) =>
    sendOk(baseUrl, method, path, { body, credentials });
  await child.answers(baseUrl);
  const { credentials, pool } = await settle(call, join(folder, 'data'), markers);
  for (const lnurl of hostile.lnurls.slice(0, 40)) pool.add('lnurl', lnurl);
  return {
    port,
    pid: child.pid,
    document: (await call('GET', '/v2/openapi.json')) as unknown as Schema,
    markers,
    credentials,
    pool,
    leaks: () => [...leaks],
    alive: child.running,
    logTail: () => child.log().slice(-LOG_TAIL_CHARACTERS),
    errors: () => errors,
    async close() {
      await child.stop();
      await Promise.all([receiver.stop(true), hostile.close()]);
      removeFolder(folder);
    },
  };
}

type Call = (method: string, path: string, body?: unknown, credentials?: string) => Promise<Json>;

/** Plants the credentials and the preimage, and does once what requests shall be about. */
async function settle(
  call: Call,
  dataDir: string,
  markers: Marker[],
): Promise<{ credentials: readonly string[]; pool: Pool }> {
  await call('PUT', '/v2/node/signup', {});
  for (const rail of ['lightning', 'onchain'])
    await call('POST', '/sandbox/fund', { amount: '100000000', rail });
  const planted = await call('POST', '/v2/node/create_client', {
    scopes: ['full'],
    label: 'planted',
  });
  const text = planted.client_credentials ?? '';
  const { secret } = JSON.parse(Buffer.from(text, 'base64url').toString()) as { secret: string };
  const unpaid = await call('POST', '/v2/node/create_invoice', {
    // No wallet has as much, since a payment shows its preimage.
    amount: '2000000000',
    expiration_secs: 604_800,
  });
  markers.push(
    { name: 'client credentials', text },
    { name: 'the secret of client credentials', text: secret },
    {
      name: 'the preimage of an unpaid invoice',
      text: preimageOf(dataDir, unpaid.payment_hash ?? ''),
    },
  );
  const pool = openPool([
    ...markers.map((marker) => marker.text),
    unpaid.payment_hash ?? '',
    unpaid.invoice ?? '',
    planted.client_pk ?? '',
  ]);
  const keep = async (method: string, path: string, body?: unknown, credentials?: string) => {
    const answer = await call(method, path, body, credentials);
    pool.harvest(answer);
    return answer;
  };
  const bob = (await call('POST', '/sandbox/wallets', {})).client_credentials ?? '';
  const limited: string[] = [];
  for (const grant of [
    { scopes: ['read_info'] },
    { scopes: ['receive', 'read_payments'] },
    {
      scopes: ['send', 'read_info'],
      budget: { amount: '3000', period: 'day', max_payment: '1000' },
    },
  ]) {
    limited.push((await call('POST', '/v2/node/create_client', grant)).client_credentials ?? '');
  }
  const revoked = await call('POST', '/v2/node/create_client', { scopes: ['full'] });
  await call('POST', '/v2/node/revoke_client', { client_pk: revoked.client_pk });
  for (let count = 0; count < 4; count++) {
    const { invoice } = await keep('POST', '/v2/node/create_invoice', { amount: '10' });
    await keep('POST', '/v2/node/pay_invoice', { invoice }, bob);
    await keep('POST', '/v2/node/create_invoice', { amount: `${count + 1}` }, bob);
    await keep('POST', '/sandbox/invoice', { amount: '5', behavior: 'hold' });
  }
  const { offer } = await keep('POST', '/v2/node/create_offer', { description: 'tea' }, bob);
  const { index } = await keep('POST', '/v2/node/pay_offer', { offer, amount: '50' });
  await keep('POST', '/v2/node/create_payer_proof', { index });
  const { address } = await keep('POST', '/v2/node/get_next_unused_address', {}, bob);
  await keep('POST', '/v2/node/pay_onchain', { address, amount: '5000' });
  await keep('POST', '/v2/node/open_channel', { value: '200000' });
  await keep('POST', '/sandbox/blocks', { count: 6 });
  await keep('PUT', '/v2/node/human_bitcoin_address', { username: 'satoshi' });
  for (const tag of ['payRequest', 'withdrawRequest']) {
    const { lnurl, url } = await keep('POST', '/sandbox/lnurl', {
      tag,
      min_amount: '1',
      max_amount: '100',
    });
    pool.add('id', url?.split('/').at(-1) ?? '');
    if (lnurl) pool.add('lnurl', lnurl);
  }
  await keep('GET', '/v2/node/list_channels');
  await keep('GET', '/v2/node/updated_payments');
  await keep('POST', '/v2/webhooks/endpoints', { url: 'http://127.0.0.1:9/hook' });
  await keep('GET', '/v2/webhooks/deliveries');
  return { credentials: [text, bob, ...limited, revoked.client_credentials ?? ''], pool };
}

/** Reads a preimage from the sandbox's database: no answer may show it before the invoice is paid. */
function preimageOf(dataDir: string, paymentHash: string): string {
  const db = new Database(join(dataDir, 'sandbox.sqlite'), { readonly: true });
  const row = db.query('SELECT preimage FROM invoices WHERE payment_hash = ?').get(paymentHash);
  db.close();
  const { preimage } = row as { preimage: string };
  return preimage;
}
