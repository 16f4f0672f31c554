import { readFileSync } from 'node:fs';
import { connectCln } from '../tests/interop/connect.ts';
import {
  type ClnNetwork,
  type ClnNode,
  findClnBinaries,
  startClnNetwork,
} from '../tests/interop/harness/index.ts';
import { type NodeSidecar, startNodeSidecar } from '../tests/interop/node-sidecar.ts';
import { type Comparison, callsOf, compare, SIDES } from './compared.ts';
import type { Note } from './figures.ts';
import { compareFirstSync } from './first-sync.ts';
import { type NodeFloor, pidsOf, startNodeFloor } from './node-floor.ts';
import { setting } from './settings.ts';

/** Rounds of a comparison; a payment takes the node longer than the other calls. */
const ROUNDS = Math.ceil(10 * setting('BENCH_NODE_PERCENT'));
const PAY_ROUNDS = Math.ceil(0.6 * setting('BENCH_NODE_PERCENT'));
/** How many invoices a shop may have that nobody has paid yet. */
const OPEN_INVOICES = Math.ceil(30 * setting('BENCH_NODE_PERCENT'));
/** Rows that the node lists in one call, as the sidecar asks for them. */
const PAGE = 500;

/**
 * Measures what the sidecar adds to calls of a real Core Lightning by clnrest, which it starts. Prints a clear line and
 * measures nothing if lightningd, clnrest or btcd is missing.
 */
export async function measureCln(note: Note): Promise<void> {
  const [binaries] = findClnBinaries();
  if (binaries === undefined) return;
  const network = await startClnNetwork(binaries);
  try {
    const flags = [
      ...['--client-credentials', await connectCln(network.alice)],
      ...['--log-level', 'error'],
    ];
    const sidecar = await startNodeSidecar(flags);
    const { url, certPath, rune: token } = network.alice;
    const floor = await startNodeFloor({ kind: 'cln', url, certPath, token });
    try {
      await measureCalls(network, sidecar, floor, note);
    } finally {
      await floor.stop();
      await sidecar.close();
    }
    const { listAll } = callsTo(network.alice);
    const node = 'Core Lightning';
    await compareFirstSync({ node, flags, listAll, target: 'clnFirstSync' }, note);
  } finally {
    await network.stop();
  }
}

async function measureCalls(
  { alice, bob, version }: ClnNetwork,
  sidecar: NodeSidecar,
  floor: NodeFloor,
  note: Note,
) {
  const [payer, receiver] = [callsTo(alice), callsTo(bob)];
  const node = `Core Lightning ${version} called directly`;
  const pids = pidsOf(sidecar, floor);
  const measure = (name: string, calls: Omit<Comparison, 'node' | 'pids'>) =>
    compare(`${name} on Core Lightning`, { node, pids, ...calls }, note);
  // Invoices are made before the clock starts, as many for each side.
  const measurePayments = async (name: string) => {
    const invoices: string[] = [];
    while (invoices.length < SIDES * callsOf(PAY_ROUNDS))
      invoices.push(await receiver.invoice(1_000_000));
    const next = () => invoices.pop() ?? '';
    await measure(name, {
      rounds: PAY_ROUNDS,
      direct: () => payer.pay(next()),
      throughSidecar: () => sidecar.post('/v2/node/pay_invoice', { invoice: next() }),
      targets: { median: 'clnPay', p99: 'clnPayP99' },
      throughFloor: () => floor.pay(next()),
    });
  };
  await measure('node_info', {
    rounds: ROUNDS,
    direct: payer.nodeInfo,
    throughSidecar: () => sidecar.get('/v2/node/node_info'),
    targets: { median: 'clnInfo', p99: 'clnInfoP99' },
    throughFloor: floor.nodeInfo,
  });
  await measurePayments('pay_invoice without open invoices');
  await measure('create_invoice', {
    rounds: ROUNDS,
    direct: () => payer.invoice(1000),
    throughSidecar: () => sidecar.post('/v2/node/create_invoice', { amount: '1' }),
    targets: { median: 'clnCreate', p99: 'clnCreateP99' },
    throughFloor: floor.createInvoice,
  });
  for (let made = SIDES * ROUNDS; made < OPEN_INVOICES; made++) await payer.invoice(1000);
  await measurePayments(`pay_invoice with ${OPEN_INVOICES} open invoices`);
}

/** Returns the calls that the sidecar makes to the node, made without the sidecar. */
function callsTo({ url, certPath, rune }: ClnNode) {
  const ca = readFileSync(certPath, 'utf8');
  let invoices = 0;
  const send = async (method: string, params: object): Promise<string> => {
    const response = await fetch(`${url}/v1/${method}`, {
      method: 'POST',
      headers: { rune, 'content-type': 'application/json' },
      tls: { ca },
      body: JSON.stringify(params),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method}: ${text}`);
    return text;
  };
  const listed = async (method: string, field: string) => {
    for (let start = 1; ; ) {
      const page = JSON.parse(await send(method, { index: 'created', start, limit: PAGE }));
      const last = page[field].at(-1);
      if (last === undefined) return;
      start = last.created_index + 1;
    }
  };
  return {
    nodeInfo: () =>
      Promise.all([send('getinfo', {}), send('listfunds', {}), send('listpeerchannels', {})]),
    async invoice(amountMsat: number): Promise<string> {
      invoices += 1;
      const terms = { amount_msat: amountMsat, description: '', expiry: 86_400 };
      return JSON.parse(await send('invoice', { ...terms, label: `bench ${invoices}` })).bolt11;
    },
    pay: (invstring: string) => send('xpay', { invstring, maxfee: '10000msat', retry_for: 60 }),
    async listAll() {
      await listed('listinvoices', 'invoices');
      await listed('listsendpays', 'payments');
    },
  };
}
