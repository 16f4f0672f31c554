import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LdkRow } from '../src/nodes/ldk/words/words.ts';
import { shapes } from '../src/nodes/ldk/words/words.ts';
import { randomHex } from '../tests/contracts/node/steps.ts';
import { type NodeSidecar, startNodeSidecar } from '../tests/interop/node-sidecar.ts';
import { BINARY } from '../tests/support/binary.ts';
import { type EsploraChain, startEsploraChain } from '../tests/support/esplora-chain.ts';
import {
  hasLdkHelper,
  helpersOf,
  LDK_HELPER,
  minedUntil,
  type OutsideNode,
  startOutsideNode,
} from '../tests/support/ldk-network.ts';
import { until } from '../tests/support/until.ts';
import { type Comparison, callsOf, compare } from './compared.ts';
import { cpuTimeMs } from './cpu-time.ts';
import type { Note } from './figures.ts';
import { residentMb } from './floors.ts';
import type { Bench } from './parts/part.ts';
import { setting } from './settings.ts';

/** Rounds of a comparison; a payment takes the node longer than the other calls. */
const ROUNDS = Math.ceil(5 * setting('BENCH_NODE_PERCENT'));
const PAY_ROUNDS = Math.ceil(setting('BENCH_NODE_PERCENT'));
const COINS_SAT = 50_000_000n;
/** More is opened between nodes alone that both say so. */
const CHANNEL_SAT = 16_000_000n;
const NODE = 'the node called directly';

/**
 * Measures what the sidecar adds to calls of the LDK node, beside a node of its own kind that is called directly, and
 * what the node takes. Prints a clear line and measures nothing where no node was built.
 */
export async function measureLdk({ note, folder }: Bench): Promise<void> {
  if (!hasLdkHelper()) {
    console.warn('SKIPPED: npm run build:helper has not built the LDK node.');
    return;
  }
  const chain = startEsploraChain();
  const [payee, direct] = [await startOutsideNode(chain), await startOutsideNode(chain)];
  const seedPath = join(folder, 'seed');
  writeFileSync(seedPath, randomHex(32), { mode: 0o600 });
  const sidecar = await startNodeSidecar([
    ...['--node', 'ldk', '--network', 'regtest', '--esplora-url', chain.url],
    ...['--root-seed-path', seedPath, '--log-level', 'error'],
  ]);
  try {
    await openChannels(chain, { payee, direct, sidecar });
    await measureStart(sidecar, note);
    await measureCalls({ payee, direct, sidecar }, note);
  } finally {
    await sidecar.close();
    await direct.close();
    await payee.close();
    chain.stop();
  }
}

interface Nodes {
  readonly payee: OutsideNode;
  /** Pays without a sidecar. */
  readonly direct: OutsideNode;
  readonly sidecar: NodeSidecar;
}

const infoOf = (node: OutsideNode) =>
  node.call<{ onchain_msat: bigint; usable: number }>('info', {}, shapes().info);
const nodeInfo = (sidecar: NodeSidecar) => sidecar.get('/v2/node/node_info');

/** Opens a channel from each payer to the payee. */
async function openChannels(chain: EsploraChain, { payee, direct, sidecar }: Nodes): Promise<void> {
  const own = await sidecar.post('/v2/node/get_next_unused_address');
  const other = await direct.call<{ address: string }>('address', {}, shapes().address);
  for (const { address } of [own, other]) chain.fund(address, COINS_SAT);
  chain.mine(1);
  await until(async () => (await nodeInfo(sidecar)).onchain_balance !== '0', 'it has coins');
  await until(async () => (await infoOf(direct)).onchain_msat > 0n, 'the other has coins');
  await sidecar.post('/v2/node/open_channel', {
    ...{ value: `${CHANNEL_SAT}`, peer: `${payee.nodePk}@${payee.address}` },
    user_channel_id: randomHex(16),
  });
  const peer = { pk: payee.nodePk, address: payee.address };
  const order = { user_id: randomHex(16), value_msat: CHANNEL_SAT * 1000n, peer };
  await direct.call('open_channel', order, shapes().channel);
  const areUsable = async () =>
    (await nodeInfo(sidecar)).num_usable_channels === 1 && (await infoOf(direct)).usable === 1;
  await minedUntil(chain, areUsable, 'both channels can be used');
}

/** Measures a start with a channel, the memory of both processes, and how large the program is. */
async function measureStart(sidecar: NodeSidecar, note: Note): Promise<void> {
  await sidecar.stop();
  const startedAt = performance.now();
  await sidecar.start();
  await until(async () => (await nodeInfo(sidecar)).num_usable_channels === 1, 'it can pay');
  const ms = performance.now() - startedAt;
  const { own, node } = processesOf(sidecar);
  note('start until a payment can be made', `${ms.toFixed(0)} ms`, {
    beside: `CPU time ${cpuTimeMs(own)} ms of the sidecar, ${cpuTimeMs(node)} ms of the node`,
  });
  note('memory', `${residentMb(own).toFixed(0)} MB, the sidecar`, {
    beside: `${residentMb(node).toFixed(0)} MB, the node`,
  });
  const sizeMb = (file: string) => statSync(file).size / 1e6;
  const [all, program] = [sizeMb(BINARY), sizeMb(LDK_HELPER)];
  note('size of the node in the program', `${program.toFixed(1)} MB of ${all.toFixed(0)} MB`, {
    goal: { target: 'ldkSize', is: program },
  });
}

function processesOf(sidecar: NodeSidecar) {
  return { own: sidecar.process().pid, node: helpersOf(sidecar.dataDir)[0] ?? 0 };
}

async function measureCalls({ payee, direct, sidecar }: Nodes, note: Note): Promise<void> {
  const { own, node } = processesOf(sidecar);
  const pids = { sidecar: own, beside: node, besideIs: 'its node' };
  const measure = (name: string, calls: Omit<Comparison, 'node' | 'throughFloor' | 'pids'>) =>
    compare(`${name} on LDK`, { node: NODE, throughFloor: null, pids, ...calls }, note);
  const madeBy = async (node: OutsideNode, amountMsat: bigint) =>
    (await node.invoice({ amountMsat })).invoice;
  await measure('node_info', {
    rounds: ROUNDS,
    direct: () =>
      Promise.all([
        direct.call('info', {}, shapes().info),
        direct.call('channels', {}, shapes().channels),
      ]),
    throughSidecar: () => nodeInfo(sidecar),
    targets: { median: 'ldkInfo', p99: 'ldkInfoP99' },
  });
  await measure('create_invoice', {
    rounds: ROUNDS,
    direct: () => madeBy(direct, 1000n),
    throughSidecar: () => sidecar.post('/v2/node/create_invoice', { amount: '1' }),
    targets: { median: 'ldkCreate', p99: 'ldkCreateP99' },
  });
  // Invoices are made before the clock starts, as many for each side.
  const invoices: string[] = [];
  while (invoices.length < 2 * callsOf(PAY_ROUNDS)) invoices.push(await madeBy(payee, 1_000_000n));
  const next = () => invoices.pop() ?? '';
  await measure('pay_invoice', {
    rounds: PAY_ROUNDS,
    direct: () => paidBy(direct, next()),
    throughSidecar: () => sidecar.post('/v2/node/pay_invoice', { invoice: next() }),
    targets: { median: 'ldkPay', p99: 'ldkPayP99' },
  });
}

/** Pays, and asks for the end at once again until it is there. */
async function paidBy(node: OutsideNode, bolt11: string): Promise<void> {
  const order = { bolt11, amount_msat: null, max_fee_msat: 100_000n, ref: null };
  const { row } = await node.call<{ row: LdkRow }>('pay_invoice', order, shapes().taken);
  let state: string = row.state;
  while (state !== 'completed') {
    if (state === 'failed') throw new Error('A payment of the bench failed.');
    const now = await node.call<LdkRow | null>('row', { key: row.key }, shapes().rowOrNull);
    state = now?.state ?? 'failed';
  }
}
