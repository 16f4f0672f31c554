import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { BINARY } from '../support/binary.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { measureCln } from './cln.ts';
import { measureEndurance } from './endurance.ts';
import { figures, note, rate, ratio } from './figures.ts';
import { buildFloors, residentMb, running } from './floors.ts';
import { measureLnd } from './lnd.ts';
import { inTurn, type LoadRequest, type LoadResult, load } from './load.ts';
import { measurePairs } from './pairs.ts';
import { seedPayments } from './seed-payments.ts';
import { measureStreams } from './streams.ts';
import { measureSync } from './sync.ts';
import { measureWaits } from './waits.ts';
import { INVOICE_FLOOR, PAIR_FLOOR, writeFloor } from './write-floor.ts';

/**
 * This program measures the compiled binary over real HTTP, and the floors in the same run. `BENCH_ROWS` sets the size
 * of the large cache.
 */
const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
const MS = Number(process.env.BENCH_MS ?? 2_000);
/** The length of the mixed load, and of the reads over which the memory must not grow. */
const MIXED_REQUESTS = Number(process.env.BENCH_MIXED ?? 200_000);
const READS = Number(process.env.BENCH_READS ?? 1_000_000);
const CONNECTIONS = 16;

const folder = temporaryFolder('bench');
const data = join(folder, 'data');
const floors = await buildFloors(join(folder, 'floors'));
const port = freePort();
const base = `http://127.0.0.1:${port}`;

const received = new Map<string, number>();
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const notice = (await request.json()) as {
      index: string;
      direction: string;
      finalized_at: number;
    };
    received.set(`${notice.direction} ${notice.index}`, Date.now() - notice.finalized_at);
    return new Response(null, { status: 200 });
  },
});
const command = [
  BINARY,
  'dev',
  '--data-dir',
  data,
  '--listen-addr',
  `127.0.0.1:${port}`,
  '--log-level',
  'error',
  '--webhook-url',
  receiver.url.href,
];

async function call(method: string, path: string, body?: unknown, credentials?: string) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(credentials ? { authorization: `Bearer ${credentials}` } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, string>;
  if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
  return answer;
}
const run = (next: () => LoadRequest, on = port, connections = CONNECTIONS): Promise<LoadResult> =>
  load({ port: on, connections, ms: MS, next });
console.log(
  `${cpus().length} x ${cpus()[0]?.model}, Bun ${Bun.version}, ${MS} ms a figure, ${CONNECTIONS} connections\n`,
);

// Start-up time and idle memory, compared with a compiled hello-world.
const helloPort = freePort();
const hello = await running([floors.hello, String(helloPort)], helloPort);
await Bun.sleep(1000);
const helloMb = residentMb(hello.pid);
await hello.stop();
await (await running(command, port, '/v2/health')).stop();
let sidecar = await running(command, port, '/v2/health');
note(
  'start to first healthy answer',
  `${sidecar.readyMs.toFixed(0)} ms; hello-world ${hello.readyMs.toFixed(0)} ms`,
  '80 ms',
  sidecar.readyMs <= 80,
);
await Bun.sleep(1500);
const idleMb = residentMb(sidecar.pid);
note(
  'idle memory',
  `${idleMb.toFixed(0)} MB; hello-world ${helloMb.toFixed(0)} MB`,
  '75 MB',
  idleMb <= 75,
);

// Requests, compared with a bare server.
const barePort = freePort();
const bare = await running([floors.bare, String(barePort)], barePort);
const bob = (await call('POST', '/sandbox/wallets', {})).client_credentials ?? '';
const made = await call('POST', '/v2/node/create_invoice', { amount: '1' });
await call('POST', '/v2/node/pay_invoice', { invoice: made.invoice }, bob);
await call('PUT', '/v2/node/sync_payments');
const info = { path: '/v2/node/node_info' };
const [bareRate, healthRate, infoRate, authenticatedRate, paymentRate] = await inTurn([
  () => run(() => ({ path: '/' }), barePort),
  () => run(() => ({ path: '/v2/health' })),
  () => run(() => info),
  () => run(() => ({ ...info, headers: { authorization: `Bearer ${bob}` } })),
  () => run(() => ({ path: `/v2/node/payment?index=${made.index}` })),
]);
note('bare server, constant answer', rate(bareRate));
ratio('health', healthRate, bareRate, 0.7);
ratio('node_info', infoRate, bareRate, 0.35);
const authMicros = 1e6 / authenticatedRate.perSecond - 1e6 / infoRate.perSecond;
note(
  'authenticating a known credential, on top of node_info',
  `${authMicros.toFixed(1)} µs`,
  '20 µs',
  authMicros < 20,
);
ratio('payment', paymentRate, bareRate, 0.4);
await bare.stop();

// Writes.
const signStart = performance.now();
const digest = new Uint8Array(32).fill(7);
for (let count = 0; count < 500; count++) secp256k1.sign(digest, digest, { prehash: false });
note('one signature', `${(((performance.now() - signStart) / 500) * 1000).toFixed(0)} µs`);
const invoiceBody = JSON.stringify({ amount: '1' });
const post = (path: string, body: string): LoadRequest => ({ method: 'POST', path, body });
const signedCommit = writeFloor(folder, MS, INVOICE_FLOOR);
const pairFloor = writeFloor(folder, MS, PAIR_FLOOR);
note('one signature and one durable commit, in a loop', rate(signedCommit));
note('one signature, one check and two durable commits, in a loop', rate(pairFloor));
const invoices = await run(() => post('/v2/node/create_invoice', invoiceBody));
ratio('create_invoice', invoices, signedCommit, 0.5);
const makePair = async () => {
  const { invoice } = await call('POST', '/v2/node/create_invoice', { amount: '1' });
  await call('POST', '/v2/node/pay_invoice', { invoice }, bob);
};
await measurePairs({ makePair, ms: MS, floor: pairFloor }, note);
await measureStreams({ port, pid: sidecar.pid, payer: bob }, note);
const { offer = '' } = await call('POST', '/v2/node/create_offer', {});
note(
  'pay_offer',
  rate(
    await run(
      () => ({
        ...post('/v2/node/pay_offer', JSON.stringify({ offer, amount: '1' })),
        headers: { authorization: `Bearer ${bob}` },
      }),
      port,
      4,
    ),
  ),
);
const { address = '' } = await call('POST', '/v2/node/get_next_unused_address', {});
for (const [kind, text] of [
  ['offer', offer],
  ['invoice (signature checked)', made.invoice ?? ''],
  ['address', address],
  ['URI', `bitcoin:${address}?amount=0.001&lno=${offer}`],
] as const) {
  const result = await run(() => ({
    path: `/v2/node/analyze?payment_string=${encodeURIComponent(text)}`,
  }));
  const local = !kind.startsWith('invoice');
  if (local) note(`analyze ${kind}`, rate(result), '3000/s', result.perSecond >= 3000);
  else note(`analyze ${kind}`, rate(result));
}

// Webhooks: first the latency of single ones, then a burst.
received.clear();
for (let count = 0; count < 200; count++) await makePair();
await Bun.sleep(500);
const latencies = [...received.values()].toSorted((a, b) => a - b);
const [p50 = 0, p99 = 0] = [
  latencies[Math.floor(latencies.length / 2)],
  latencies[Math.floor(latencies.length * 0.99)],
];
note('webhook after finalization, p50', `${p50} ms of ${latencies.length}`, '10 ms', p50 <= 10);
note('webhook after finalization, p99', `${p99} ms`, '50 ms', p99 <= 50);
const BURST = 3000;
for (let done = 0; done < BURST; done += 100) {
  await Promise.all(
    Array.from({ length: 100 }, () =>
      call('POST', '/v2/node/create_invoice', { amount: '1', expiration_secs: 100_000 }),
    ),
  );
}
await Bun.sleep(500);
received.clear();
const burstStart = performance.now();
await call('POST', '/sandbox/clock', { advance_secs: 100_001 });
while (received.size < BURST && performance.now() - burstStart < 60_000) await Bun.sleep(5);
const burstRate = (received.size * 1000) / (performance.now() - burstStart);
note(
  'webhooks in a burst',
  `${Math.round(burstRate)}/s of ${received.size}`,
  '1000/s',
  burstRate >= 1000,
);

await measureWaits(call, note);

// 1,000 wallets in turn.
const wallets: string[] = [];
for (let count = 0; count < 1000; count++)
  wallets.push((await call('POST', '/sandbox/wallets', {})).client_credentials ?? '');
for (let round = 0; round < 3; round++)
  for (const one of wallets) await call('GET', '/v2/node/node_info', undefined, one);
const walletsMb = residentMb(sidecar.pid);
note(
  'memory with 1,000 wallets used in turn',
  `${walletsMb.toFixed(0)} MB`,
  '200 MB',
  walletsMb <= 200,
);

// The cache with 1,000 rows and with many.
const { user_pk: wallet = '' } = await call('GET', '/v2/node/node_info');
const LIST = '/v2/node/list_payments?filter=all&limit=100';
const listRate = () => run(() => ({ path: LIST }));
await call('POST', '/v2/node/clear_payments', {});
await call('PUT', '/v2/node/sync_payments');
const small = await listRate();
await sidecar.stop();
seedPayments(join(data, 'sandbox.sqlite'), wallet, ROWS);
sidecar = await running(command, port, '/v2/health');
await measureSync({ port, pid: sidecar.pid, call }, note);
const queryPort = freePort();
const query = await running(
  [floors.query, String(queryPort), join(data, 'sidecar.sqlite'), wallet],
  queryPort,
);
const queryRate = await run(() => ({ path: '/' }), queryPort);
note('the same query behind a bare server', rate(queryRate));
await query.stop();
const large = await listRate();
ratio('list_payments(100)', large, queryRate, 0.6);
ratio(`list_payments(100), ${ROWS} rows against few`, large, small, 0.9);
note(
  'list_payments(100), outbound only',
  rate(await run(() => ({ path: `${LIST}&direction=outbound` }))),
);

await sidecar.stop();

// A mixed load, and a million requests, on a separate sidecar.
sidecar = await running(
  command.map((part) => (part === data ? join(folder, 'endurance') : part)),
  port,
  '/v2/health',
);
const payer = (await call('POST', '/sandbox/wallets', {})).client_credentials ?? '';
const first = await call('POST', '/v2/node/create_invoice', { amount: '1' });
await call('POST', '/v2/node/pay_invoice', { invoice: first.invoice }, payer);
const terms = await call('POST', '/v2/node/create_offer', {});
await measureEndurance(
  { port, pid: sidecar.pid, payer, offer: terms.offer ?? '', index: first.index ?? '' },
  note,
  { requests: MIXED_REQUESTS, reads: READS },
);
await sidecar.stop();
await receiver.stop(true);

// A real LND, if it is installed.
await measureLnd(note);
await measureCln(note);
removeFolder(folder);
writeFileSync(
  join(import.meta.dir, '..', '..', 'dist', 'bench.json'),
  JSON.stringify(
    { machine: `${cpus().length} x ${cpus()[0]?.model}`, bun: Bun.version, figures },
    null,
    2,
  ),
);
console.log('\nwritten to dist/bench.json');
