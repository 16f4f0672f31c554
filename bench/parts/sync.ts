import { join } from 'node:path';
import { freePort } from '../../tests/support/ports.ts';
import { noteRatio, rate } from '../figures.ts';
import { running } from '../floors.ts';
import { inTurn } from '../load.ts';
import { rateOf, type Sandbox, startSandbox } from '../sandbox.ts';
import { seedPayments } from '../seed-payments.ts';
import { setting } from '../settings.ts';
import { measureSync } from '../sync.ts';
import type { Bench } from './part.ts';

/** Payments of the cache that the large one is compared with. */
const FEW = 1_000;
const LIST = { path: '/v2/node/list_payments?filter=all&limit=100' };
const FILTERED = { path: `${LIST.path}&direction=outbound&rail=invoice` };

/** Measures a sync of many payments into an empty cache, and lists of them against the same query behind a bare server. */
export async function measureLargeCache({ note, folder, floors }: Bench): Promise<void> {
  const rows = setting('BENCH_ROWS');
  const [few, many] = [join(folder, 'few'), join(folder, 'many')];
  const small = await startSeeded(few, FEW);
  const large = await startSeeded(many, rows);
  const port = freePort();
  const { query } = await floors();
  try {
    await small.call('PUT', '/v2/node/sync_payments');
    await measureSync(large, rows, note);
    const { user_pk: wallet = '' } = await large.call('GET', '/v2/node/node_info');
    const bare = await running([query, String(port), join(many, 'sidecar.sqlite'), wallet], port);
    const [floor, ofFew, ofMany, filtered] = await inTurn([
      () => rateOf(port, { path: '/' }),
      () => rateOf(small.port, LIST),
      () => rateOf(large.port, LIST),
      () => rateOf(large.port, FILTERED),
    ]);
    await bare.stop();
    note('the same query behind a bare server', rate(floor));
    const what = 'the query behind a bare server';
    noteRatio(note, 'list_payments(100)', { result: ofMany, floor, what, target: 'list' });
    noteRatio(note, `list_payments(100) of ${rows} payments`, {
      ...{ result: ofMany, floor: ofFew },
      ...{ what: `with ${FEW} payments`, target: 'listLarge' },
    });
    const without = { floor: ofMany, what: 'without a filter' };
    noteRatio(note, 'list_payments(100), by direction and rail', { result: filtered, ...without });
  } finally {
    await large.stop();
    await small.stop();
  }
}

/** Starts a sidecar whose default wallet has that many payments at its node. */
async function startSeeded(data: string, rows: number): Promise<Sandbox> {
  const first = await startSandbox(data);
  const { user_pk: wallet = '' } = await first.call('GET', '/v2/node/node_info');
  await first.stop();
  seedPayments(join(data, 'sandbox.sqlite'), wallet, { rows });
  return startSandbox(data);
}
