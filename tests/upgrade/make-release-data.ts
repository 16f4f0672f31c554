/**
 * Makes the data of a release for the tests: drives the release's own binary over HTTP, and keeps what it stored.
 *
 *   bun run tests/upgrade/make-release-data.ts VERSION BINARY [FORMER]
 *
 * FORMER is a folder of `releases`, whose data the release then takes over first. See README.md.
 */
import { createHash, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type CallOptions, send, sendOk } from '../support/requests.ts';
import { until, waitUntil } from '../support/until.ts';
import {
  type KeyedRequest,
  keepData,
  RELEASES,
  type ReleaseCaller,
  type ReleaseNotes,
  readNotes,
  restoreData,
  type Standing,
} from './release-data.ts';

const [version, program, former] = process.argv.slice(2);
if (version === undefined || program === undefined) {
  throw new Error('Say what to make: VERSION BINARY [FORMER].');
}
const binary = resolve(program);
const folder = temporaryFolder('release');
const dataDir = join(folder, 'data');
const port = freePort();
const url = `http://127.0.0.1:${port}`;
const { callers, requests, held } = await takenOver();

let sidecar = await start();
const paths = await described();
try {
  await fill();
  sidecar.kill('SIGKILL');
  await sidecar.exited;
  // A start of the release itself, so that what it does after a kill is in its data too.
  sidecar = await start();
  sidecar.kill('SIGTERM');
  await sidecar.exited;
  await keep(former === undefined ? version : `${version}-over-${former}`);
} finally {
  sidecar.kill('SIGKILL');
  removeFolder(folder);
}

interface Growing {
  readonly callers: Record<string, ReleaseCaller>;
  readonly requests: KeyedRequest[];
  readonly held: string[];
}

async function takenOver(): Promise<Growing> {
  if (former === undefined) return { callers: {}, requests: [], held: [] };
  await restoreData(join(RELEASES, former), dataDir);
  const notes = await readNotes(join(RELEASES, former));
  return { callers: { ...notes.callers }, requests: [...notes.requests], held: [...notes.held] };
}

async function start() {
  const options = ['--data-dir', dataDir, '--listen-addr', `127.0.0.1:${port}`];
  // Nobody listens there, so that every delivery stays pending.
  const hook = ['--webhook-url', 'http://127.0.0.1:9/hook'];
  const child = Bun.spawn([binary, 'dev', ...options, ...hook], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', SERVICE_SANDBOX_BLOCK_SECS: '0' },
    cwd: '/',
    stdout: 'ignore',
    stderr: 'inherit',
  });
  await waitUntil('the release answered', async () => {
    const { balance } = await sendOk(url, 'GET', '/v2/node/node_info');
    return Number(balance) > 0;
  });
  return child;
}

function post(path: string, body: object, options: CallOptions = {}) {
  return sendOk(url, 'POST', path, { body, ...options });
}

async function addCaller(name: string, scopes: readonly string[], budget?: object) {
  const body = { label: name, scopes, ...(budget ? { budget } : {}) };
  const made = await post('/v2/node/create_client', body);
  const { client_credentials: credentials, client_pk: clientPk } = made;
  callers[`${version} ${name}`] = { credentials, scopes, isRevoked: false };
  return String(clientPk);
}

/** Makes a request under a key of its own, and notes what was answered. */
async function keyed(
  caller: string,
  path: string,
  body: Readonly<Record<string, unknown>>,
  standing: Standing = 'done',
) {
  const name = `${version} ${caller}`;
  const key = `${name}: ${path} ${requests.length}`;
  const options = {
    body,
    credentials: callers[name]?.credentials ?? undefined,
    headers: {
      'idempotency-key': key,
      ...(standing === 'pending' ? { prefer: 'respond-async' } : {}),
    },
  };
  const note = (answer: KeyedRequest['answer']) =>
    requests.push({ key, version: version ?? '', caller: name, path, body, standing, answer });
  if (standing === 'cut off') {
    send(url, 'POST', `/v2/node/${path}`, options).catch(() => undefined);
    note(null);
    return {};
  }
  const answer = await send(url, 'POST', `/v2/node/${path}`, options);
  if (answer.status !== (standing === 'pending' ? 202 : 200)) {
    throw new Error(`${key}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  note(answer.body);
  return answer.body;
}

/** Everything that a wallet of the release can hold. */
async function fill() {
  callers[`${version} owner`] = { credentials: null, scopes: ['full'], isRevoked: false };
  await addCaller('app', ['full']);
  await addCaller('payout', ['send']);
  await addCaller('capped', ['send'], { amount: '50000', period: 'total' });
  await addCaller('till', ['receive']);
  const gone = await addCaller('gone', ['full']);
  await post('/sandbox/fund', { amount: '1000000', rail: 'lightning' });
  await post('/sandbox/fund', { amount: '1000000', rail: 'onchain' });
  await post('/sandbox/blocks', { count: 6 });
  if (former === undefined) {
    await sendOk(url, 'PUT', '/v2/node/human_bitcoin_address', { body: { username: 'satoshi' } });
  }
  if (paths.has('/v2/webhooks/endpoints')) {
    await post('/v2/webhooks/endpoints', { url: 'http://127.0.0.1:9/another' });
  }
  for (const caller of ['owner', 'app']) await everyEndpoint(caller);
  await ownersEndpoints();
  for (const caller of ['payout', 'capped', 'gone']) await pays(caller);
  for (const path of ['create_invoice', 'create_offer']) await keyed('till', path, {});
  await keyed('till', 'get_next_unused_address', {});
  await keyed('till', 'withdraw_lnurl', { lnurl: await lnurl('withdrawRequest'), amount: '70' });
  await keyed('owner', 'revoke_client', { client_pk: gone });
  const revoked = callers[`${version} gone`];
  if (revoked) callers[`${version} gone`] = { ...revoked, isRevoked: true };
  await sendOk(url, 'PUT', '/v2/node/sync_payments', { body: {} });
  await underWay();
  requireEveryEndpoint();
}

/** The paths of the release's own description. */
async function described(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { paths: all } = await sendOk(url, 'GET', '/v2/openapi.json');
  return new Map(Object.entries(all).map(([path, methods]) => [path, Object.keys(methods ?? {})]));
}

function has(path: string): boolean {
  return paths.get(`/v2/node/${path}`)?.includes('post') === true;
}

/** Throws when the release has an endpoint that takes a key and was not called. */
function requireEveryEndpoint() {
  const called = new Set(requests.map(({ path }) => path));
  const missed = [...paths.keys()]
    .filter((path) => path.startsWith('/v2/node/'))
    .map((path) => path.replace('/v2/node/', ''))
    // This one is for everybody, so its key belongs to nobody and keeps nothing.
    .filter((path) => has(path) && !called.has(path) && path !== 'verify_payer_proof');
  if (missed.length > 0) throw new Error(`Call these endpoints too: ${missed.join(', ')}.`);
}

async function everyEndpoint(caller: string) {
  await keyed(caller, 'clear_payments', {});
  await pays(caller);
  const { index } = await keyed(caller, 'create_invoice', { amount: '5', description: caller });
  await keyed(caller, 'create_offer', { description: caller });
  await keyed(caller, 'get_next_unused_address', {});
  await keyed(caller, 'withdraw_lnurl', { lnurl: await lnurl('withdrawRequest'), amount: '60' });
  await keyed(caller, 'buy_with_payment_app', { amount: '5000' });
  await keyed(caller, 'update_personal_note', { index, personal_note: 'kept' });
  await keyed(caller, 'cancel_payment', { index });
  const paid = await keyed(caller, 'pay_offer', { offer: await offer(), amount: '11' });
  await keyed(caller, 'create_payer_proof', { index: paid.index });
  const body = { label: `of ${caller}`, scopes: ['read_info'] };
  const { client_pk } = await keyed(caller, 'create_client', body);
  await keyed(caller, 'create_client', { ...body, label: 'stays' });
  await keyed(caller, 'revoke_client', { client_pk });
  const { channel_id } = await keyed(caller, 'open_channel', { value: '50000' });
  await post('/sandbox/blocks', { count: 6 });
  await keyed(caller, 'close_channel', { channel_id });
  if (has('settle_invoice')) await holdInvoice(caller);
  if (has('bump_fee')) await keyed(caller, 'bump_fee', { index: await sentOnchain(caller) });
}

async function ownersEndpoints() {
  if (has('confirm_budgets')) await keyed('owner', 'confirm_budgets', {});
  if (has('prune_clients')) await keyed('owner', 'prune_clients', { remove: true });
}

async function holdInvoice(caller: string) {
  const preimage = randomBytes(32);
  const hash = createHash('sha256').update(preimage).digest('hex');
  const body = { amount: '6', payment_hash: hash };
  const made = await keyed(caller, 'create_invoice', body);
  await post('/sandbox/pay', { payable: made.invoice });
  await keyed(caller, 'settle_invoice', { index: made.index, preimage: preimage.toString('hex') });
}

/** The index of an on-chain send that no block has. */
async function sentOnchain(caller: string): Promise<string> {
  const body = { address: (await otherWallet()).address, amount: '1100' };
  return (await keyed(caller, 'pay_onchain', body)).index;
}

/** Payments of every kind that are over. */
async function pays(caller: string) {
  await keyed(caller, 'pay', { payable: await invoice('settle'), message: null });
  await keyed(caller, 'pay', { payable: await offer(), amount: '12' });
  await keyed(caller, 'pay_invoice', { invoice: await invoice('settle'), personal_note: 'mine' });
  await keyed(caller, 'pay_invoice', { invoice: await invoice('fail') });
  await keyed(caller, 'pay_offer', { offer: await offer(), amount: '13', message: 'hello' });
  await keyed(caller, 'pay_onchain', { address: (await otherWallet()).address, amount: '1000' });
  await keyed(caller, 'pay_lnurl', { lnurl: await lnurl('payRequest'), amount: '14' });
  if (has('pay_spontaneous')) {
    await keyed(caller, 'pay_spontaneous', { node_pk: (await otherWallet()).nodePk, amount: '16' });
  }
}

/** Payments that no one has decided when the process is killed. */
async function underWay() {
  for (const standing of ['pending', 'cut off'] as const) {
    for (const caller of ['owner', 'app', 'payout']) {
      await keyed(caller, 'pay_invoice', { invoice: await invoice('hold') }, standing);
      await keyed(caller, 'pay_offer', { offer: await offer('hold'), amount: '15' }, standing);
    }
  }
  await until(async () => {
    const pending = await pendingHashes();
    if (pending.length < held.length + 12) return false;
    held.splice(0, held.length, ...pending);
    return true;
  }, 'every held payment was on its way');
}

async function pendingHashes(): Promise<string[]> {
  await sendOk(url, 'PUT', '/v2/node/sync_payments', { body: {} });
  const query = { filter: 'pending', direction: 'outbound', limit: '100' };
  const { payments } = await sendOk(url, 'GET', '/v2/node/list_payments', { query });
  const hashes: (string | null)[] = payments.map(({ hash }: { hash: string | null }) => hash);
  return hashes.filter((hash) => hash !== null);
}

async function invoice(behavior: string): Promise<string> {
  const request = { amount: '10', behavior, expiration_secs: 31_536_000 };
  return (await post('/sandbox/invoice', request)).invoice;
}

async function offer(behavior = 'settle'): Promise<string> {
  return (await post('/sandbox/offer', { behavior })).offer;
}

async function lnurl(tag: string): Promise<string> {
  return (await post('/sandbox/lnurl', { tag, min_amount: '1', max_amount: '1000' })).lnurl;
}

/** Another wallet: its node, and an address. */
async function otherWallet(): Promise<{ nodePk: string; address: string }> {
  const { client_credentials: credentials, node_pk: nodePk } = await post('/sandbox/wallets', {});
  const { address } = await post('/v2/node/get_next_unused_address', {}, { credentials });
  return { nodePk, address };
}

async function keep(name: string) {
  const notes: ReleaseNotes = { version: version ?? '', callers, requests, held };
  await keepData(dataDir, join(RELEASES, name), notes);
}
