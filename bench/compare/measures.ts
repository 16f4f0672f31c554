import { cpuTimeMs } from '../cpu-time.ts';
import { type LoadRequest, load } from '../load.ts';
import { openReaders } from '../readers.ts';
import type { Measure, Measured } from './rounds.ts';
import type { Side } from './side.ts';

/** How long a measure of requests takes on each side in a round. */
const MS = Number(process.env.BENCH_MS ?? 500);
const CONNECTIONS = 16;
/** Pairs of an invoice and its payment in a round, and how many are made beside each other. */
const PAIRS = Number(process.env.BENCH_PAIRS ?? 100);
const PAIRS_AT_ONCE = 8;
/** Pairs in a round with event streams. */
const WATCHED_PAIRS = 20;

interface NamedMeasure {
  readonly name: string;
  readonly measure: Measure<Side>;
}

/** Everything that is compared, with payments of about 1 kB, in the order in which it is measured. */
export function measuresOf(): readonly NamedMeasure[] {
  const list = '/v2/node/list_payments?filter=all&limit=100';
  return [
    { name: 'health', measure: requests(() => ({ path: '/v2/health' })) },
    { name: 'node_info', measure: requests(() => ({ path: '/v2/node/node_info' })) },
    { name: 'payment', measure: requests(({ index }) => get('payment', { index })) },
    { name: 'list_payments(100)', measure: requests(() => ({ path: list })) },
    {
      name: 'list_payments(100), outbound',
      measure: requests(() => ({ path: `${list}&direction=outbound` })),
    },
    { name: 'analyze invoice, the same again', measure: analysis(({ invoice }) => invoice) },
    { name: 'analyze offer', measure: analysis(({ offer }) => offer) },
    { name: 'analyze address', measure: analysis(({ address }) => address) },
    {
      name: 'analyze URI',
      measure: analysis(({ address, offer }) => `bitcoin:${address}?amount=0.001&lno=${offer}`),
    },
    { name: 'create_invoice', measure: requests(() => post('create_invoice', { amount: '1' })) },
    {
      name: 'pay_offer',
      measure: requests(({ offer, payer }) => ({
        ...post('pay_offer', { offer, amount: '1' }),
        headers: { authorization: `Bearer ${payer}` },
      })),
    },
    { name: 'pair of create_invoice and pay_invoice', measure: pairs },
    ...[1, 200, 2000].map((readers) => ({
      name: `such a pair, told to ${readers} ${readers === 1 ? 'stream' : 'streams'}`,
      measure: pairsWith(readers),
    })),
    { name: 'sync, for each payment', measure: sync },
    { name: 'start to the first healthy answer', measure: ({ startOnce }) => startOnce() },
  ];
}

const get = (path: string, query: Record<string, string>): LoadRequest => ({
  path: `/v2/node/${path}?${new URLSearchParams(query)}`,
});

const post = (path: string, body: unknown): LoadRequest => ({
  method: 'POST',
  path: `/v2/node/${path}`,
  body: JSON.stringify(body),
});

function requests(requestOf: (side: Side) => LoadRequest): Measure<Side> {
  return (side) => {
    const request = requestOf(side);
    return measured(side, async () => {
      const options = { port: side.port, connections: CONNECTIONS, ms: MS, next: () => request };
      return (await load(options)).count;
    });
  };
}

const analysis = (textOf: (side: Side) => string) =>
  requests((side) => get('analyze', { payment_string: textOf(side) }));

const pairs: Measure<Side> = (side) => measured(side, () => makePairs(side, PAIRS, PAIRS_AT_ONCE));

function pairsWith(readers: number): Measure<Side> {
  return async (side) => {
    const close = await openReaders(side.port, readers);
    try {
      return await measured(side, () => makePairs(side, WATCHED_PAIRS, 1));
    } finally {
      close();
    }
  };
}

const sync: Measure<Side> = async (side) => {
  await side.call('POST', '/v2/node/clear_payments', {});
  return measured(side, async () =>
    Number((await side.call('PUT', '/v2/node/sync_payments')).num_new),
  );
};

async function makePairs({ call, payer }: Side, count: number, atOnce: number): Promise<number> {
  let left = count;
  const makeSome = async () => {
    while (left-- > 0) {
      const { invoice } = await call('POST', '/v2/node/create_invoice', { amount: '1' });
      await call('POST', '/v2/node/pay_invoice', { invoice }, payer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, makeSome));
  return count;
}

/** What an operation of `work` takes, which resolves to their number. */
async function measured({ pid }: Side, work: () => Promise<number>): Promise<Measured> {
  const cpuBefore = cpuTimeMs(pid);
  const startedAt = performance.now();
  const operations = await work();
  if (operations === 0) throw new Error('Nothing was answered in time: raise BENCH_MS.');
  const wallMs = (performance.now() - startedAt) / operations;
  const cpuAfter = cpuTimeMs(pid);
  if (cpuBefore === null || cpuAfter === null) return { wallMs, cpuMs: null };
  return { wallMs, cpuMs: (cpuAfter - cpuBefore) / operations };
}
