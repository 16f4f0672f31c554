import { freePort } from '../../tests/support/ports.ts';
import { until } from '../../tests/support/until.ts';
import { noteRatio, rate } from '../figures.ts';
import { residentMb, running } from '../floors.ts';
import { inTurn } from '../load.ts';
import {
  type Answer,
  CONNECTIONS,
  makePair,
  newWallet,
  rateOf,
  type Sandbox,
  startSandbox,
  TERMS,
} from '../sandbox.ts';
import type { Bench } from './part.ts';

/** After this time a process has done what it does after its start. */
const SETTLED_MS = 1_500;
/** Invoices that are analyzed in turn. */
const INVOICES = 200;

/** Measures the start, the idle memory, and reads against a bare server that always sends the same. */
export async function measureRequests({ note, folder, floors }: Bench): Promise<void> {
  const { bare: bareServer, hello: helloWorld } = await floors();
  const hello = await idle(() => startFloor(helloWorld));
  // The first start makes the wallet and funds it, which a later one does not.
  const first = await startSandbox(folder);
  const isFunded = async () => (await first.call('GET', '/v2/health')).status === 'ok';
  await until(isFunded, 'the wallet is funded');
  await first.stop();
  const start = await idle(() => startSandbox(folder));
  note('start to the first healthy answer', `${start.readyMs.toFixed(0)} ms`, {
    beside: `${hello.readyMs.toFixed(0)} ms, a compiled hello-world`,
    goal: { target: 'start', is: start.readyMs },
  });
  note('idle memory', `${start.mb.toFixed(0)} MB`, {
    beside: `${hello.mb.toFixed(0)} MB, a compiled hello-world`,
    goal: { target: 'idleMemory', is: start.mb },
  });

  const sidecar = await startSandbox(folder);
  const bare = await startFloor(bareServer);
  try {
    await measureReads(sidecar, bare.port, note);
  } finally {
    await bare.stop();
    await sidecar.stop();
  }
}

async function measureReads({ port, call }: Sandbox, barePort: number, note: Bench['note']) {
  const bob = await newWallet(call);
  const paid = await makePair(call, bob);
  await call('PUT', '/v2/node/sync_payments');
  const info = { path: '/v2/node/node_info' };
  const asBob = { ...info, headers: { authorization: `Bearer ${bob}` } };
  const [floor, health, nodeInfo, authenticated, payment] = await inTurn([
    () => rateOf(barePort, { path: '/' }),
    () => rateOf(port, { path: '/v2/health' }),
    () => rateOf(port, info),
    () => rateOf(port, asBob),
    () => rateOf(port, { path: `/v2/node/payment?index=${paid.index}` }),
  ]);
  const what = 'a bare server';
  note('bare server, constant answer', rate(floor));
  noteRatio(note, 'health', { result: health, floor, what, target: 'health' });
  noteRatio(note, 'node_info', { result: nodeInfo, floor, what, target: 'nodeInfo' });
  noteRatio(note, 'payment', { result: payment, floor, what, target: 'payment' });
  const micros = 1e6 / authenticated.perSecond - 1e6 / nodeInfo.perSecond;
  note('authenticating a known credential, on top of node_info', `${micros.toFixed(1)} µs`, {
    goal: { target: 'authentication', is: micros },
  });
  for (const [kind, text, ...others] of await stringsOf(call, paid)) {
    const result = await rateOf(port, analysis(text), CONNECTIONS, others.map(analysis));
    const goal = { target: 'analyze', is: result.perSecond } as const;
    note(`analyze ${kind}`, rate(result), kind.startsWith('invoice') ? {} : { goal });
  }
}

const analysis = (text: string) => ({
  path: `/v2/node/analyze?${new URLSearchParams({ payment_string: text })}`,
});

/** What a person may paste, by kind. Of invoices there are more than the sidecar remembers having checked. */
async function stringsOf(call: Sandbox['call'], { invoice = '' }: Answer) {
  const others: string[] = [];
  while (others.length < INVOICES) {
    others.push((await call('POST', '/v2/node/create_invoice', TERMS)).invoice ?? '');
  }
  const { offer = '' } = await call('POST', '/v2/node/create_offer', {});
  const { address = '' } = await call('POST', '/v2/node/get_next_unused_address', {});
  return [
    ['offer', offer],
    ['invoice (its signature is checked)', invoice, ...others],
    ['address', address],
    ['URI of an address and an offer', `bitcoin:${address}?amount=0.001&lno=${offer}`],
  ] as const;
}

async function startFloor(program: string) {
  const port = freePort();
  return { port, ...(await running([program, String(port)], port)) };
}

/** Starts something, and returns how long that took and what memory it has when it has nothing to do. */
async function idle(start: () => Promise<{ readyMs: number; pid: number; stop(): Promise<void> }>) {
  const { readyMs, pid, stop } = await start();
  await Bun.sleep(SETTLED_MS);
  const mb = residentMb(pid);
  await stop();
  return { readyMs, mb };
}
