import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { connectLnd } from '../tests/interop/connect.ts';
import {
  findBinaries,
  type LndNode,
  type Network,
  startNetwork,
} from '../tests/interop/harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from '../tests/interop/node-sidecar.ts';
import { removeFolder, temporaryFolder } from '../tests/support/folder.ts';
import { type Comparison, callsOf, compare, quantile, SIDES } from './compared.ts';
import type { Note } from './figures.ts';
import { compareFirstSync } from './first-sync.ts';
import { type NodeFloor, pidsOf, startNodeFloor } from './node-floor.ts';
import { setting } from './settings.ts';

/** Rounds of a comparison; a payment takes LND longer than the other calls. */
const ROUNDS = Math.ceil(10 * setting('BENCH_NODE_PERCENT'));
const PAY_ROUNDS = Math.ceil(setting('BENCH_NODE_PERCENT'));
/** How many invoices a shop may have that nobody has paid yet. */
const OPEN_INVOICES = Math.ceil(30 * setting('BENCH_NODE_PERCENT'));
/** LND stores invoices one after another. */
const AT_ONCE = 4;

/**
 * Measures what the sidecar adds to calls of a real LND, which it starts: both are called in turn. Prints a clear line
 * and measures nothing if lnd or btcd is missing.
 */
export async function measureLnd(note: Note): Promise<void> {
  const [binaries] = findBinaries();
  if (binaries === undefined) return;
  const network = await startNetwork(binaries);
  try {
    measureFlush(note);
    const flags = [
      ...['--client-credentials', await connectLnd(network.alice)],
      ...['--log-level', 'error'],
    ];
    const sidecar = await startNodeSidecar(flags);
    const floor = await startNodeFloor(accessTo(network.alice));
    try {
      await measureCalls(network, sidecar, floor, note);
    } finally {
      await floor.stop();
      await sidecar.close();
    }
    const { listAll } = callsTo(network.alice);
    await compareFirstSync({ node: 'LND', flags, listAll, target: 'lndFirstSync' }, note);
  } finally {
    await network.stop();
  }
}

async function measureCalls(
  { alice, bob }: Network,
  sidecar: NodeSidecar,
  floor: NodeFloor,
  note: Note,
) {
  const [lnd, receiver] = [callsTo(alice), callsTo(bob)];
  const node = `LND ${alice.version.split(' ')[0]} called directly`;
  const pids = pidsOf(sidecar, floor);
  const measure = (name: string, calls: Omit<Comparison, 'node' | 'pids'>) =>
    compare(`${name} on LND`, { node, pids, ...calls }, note);
  // Invoices are made before the clock starts, as many for each side.
  const measurePayments = async (name: string) => {
    const count = SIDES * callsOf(PAY_ROUNDS);
    const invoices = await Promise.all(
      Array.from({ length: count }, () => receiver.addInvoice('1000000')),
    );
    const next = () => invoices.pop() ?? '';
    await measure(name, {
      rounds: PAY_ROUNDS,
      direct: () => lnd.pay(next()),
      throughSidecar: () => sidecar.post('/v2/node/pay_invoice', { invoice: next() }),
      targets: { median: 'lndPay', p99: 'lndPayP99' },
      throughFloor: () => floor.pay(next()),
    });
  };
  await measure('node_info', {
    rounds: ROUNDS,
    direct: lnd.nodeInfo,
    throughSidecar: () => sidecar.get('/v2/node/node_info'),
    targets: { median: 'lndInfo', p99: 'lndInfoP99' },
    throughFloor: floor.nodeInfo,
  });
  await measurePayments('pay_invoice without open invoices');
  await measure('create_invoice', {
    rounds: ROUNDS,
    direct: () => lnd.addInvoice('1000'),
    throughSidecar: () => sidecar.post('/v2/node/create_invoice', { amount: '1' }),
    targets: { median: 'lndCreate', p99: 'lndCreateP99' },
    throughFloor: floor.createInvoice,
  });
  for (let made = SIDES * ROUNDS; made < OPEN_INVOICES; made += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => lnd.addInvoice('1000')));
  }
  await measurePayments(`pay_invoice with ${OPEN_INVOICES} open invoices`);
}

/** Measures the least that a durable write costs: each created invoice is one, and a payment two or three. */
function measureFlush(note: Note): void {
  const folder = temporaryFolder('flush');
  const file = openSync(join(folder, 'file'), 'w');
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    writeSync(file, Buffer.alloc(4096));
    const startedAt = performance.now();
    fsyncSync(file);
    times.push(performance.now() - startedAt);
  }
  closeSync(file);
  removeFolder(folder);
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  note('one flush to the disk', `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`);
}

/** How a program reaches a node of the harness. */
function accessTo({ restUrl: url, tlsCertPath: certPath, macaroonPath }: LndNode) {
  const token = readFileSync(macaroonPath).toString('hex');
  return { kind: 'lnd', url, certPath, token } as const;
}

/** Returns the calls that the sidecar makes to LND, made without the sidecar. */
function callsTo(node: LndNode) {
  const { token: macaroon } = accessTo(node);
  const ca = readFileSync(node.tlsCertPath, 'utf8');
  const send = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await fetch(`${node.restUrl}${path}`, {
      method,
      headers: { 'grpc-metadata-macaroon': macaroon },
      tls: { ca },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return response.text();
  };
  const listed = async (path: string, rows: 'invoices' | 'payments') => {
    for (let offset = '0'; ; ) {
      const page = JSON.parse(await send('GET', `${path}&index_offset=${offset}`));
      if (page[rows].length === 0) return;
      offset = page.last_index_offset;
    }
  };
  return {
    nodeInfo: () =>
      Promise.all([
        send('GET', '/v1/getinfo'),
        send('GET', '/v1/balance/blockchain'),
        send('GET', '/v1/channels'),
        send('GET', '/v1/channels/pending'),
      ]),
    async addInvoice(valueMsat: string): Promise<string> {
      const body = { value_msat: valueMsat, expiry: '86400' };
      return JSON.parse(await send('POST', '/v1/invoices', body)).payment_request;
    },
    pay: (invoice: string) =>
      send('POST', '/v2/router/send', {
        payment_request: invoice,
        timeout_seconds: 60,
        fee_limit_msat: '10000',
      }),
    async listAll() {
      await listed('/v1/invoices?num_max_invoices=500', 'invoices');
      const query = 'include_incomplete=true&omit_hops=true&max_payments=500';
      await listed(`/v1/payments?${query}`, 'payments');
    },
  };
}
