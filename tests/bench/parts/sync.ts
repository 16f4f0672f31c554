import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { noteRatio, rate } from '../figures.ts';
import { running } from '../floors.ts';
import { rateOf, startSandbox } from '../sandbox.ts';
import { seedPayments } from '../seed-payments.ts';
import { setting } from '../settings.ts';
import { measureSync } from '../sync.ts';
import type { Bench } from './part.ts';

/** Payments of the cache that the large one is compared with. */
const FEW = 1_000;
const LIST = { path: '/v2/node/list_payments?filter=all&limit=100' };

/** Measures a sync of many payments into an empty cache, and lists of them against the same query behind a bare server. */
export async function measureLargeCache({ note, folder, floors }: Bench): Promise<void> {
  const rows = setting('BENCH_ROWS');
  const first = await startSandbox(folder);
  const { user_pk: wallet = '' } = await first.call('GET', '/v2/node/node_info');
  await first.stop();

  seedPayments(join(folder, 'sandbox.sqlite'), wallet, { rows: FEW });
  const few = await startSandbox(folder);
  await few.call('PUT', '/v2/node/sync_payments');
  const small = await rateOf(few.port, LIST);
  await few.stop();

  seedPayments(join(folder, 'sandbox.sqlite'), wallet, { rows, after: FEW });
  const sidecar = await startSandbox(folder);
  const port = freePort();
  const { query: program } = await floors();
  const database = join(folder, 'sidecar.sqlite');
  try {
    await measureSync(sidecar, note);
    const query = await running([program, String(port), database, wallet], port);
    const floor = await rateOf(port, { path: '/' });
    await query.stop();
    note('the same query behind a bare server', rate(floor));
    const large = await rateOf(sidecar.port, LIST);
    const what = 'the query behind a bare server';
    noteRatio(note, 'list_payments(100)', { result: large, floor, what, target: 'list' });
    noteRatio(note, `list_payments(100) of ${rows} payments`, {
      result: large,
      floor: small,
      what: `with ${FEW} payments`,
      target: 'listLarge',
    });
    const filtered = await rateOf(sidecar.port, {
      path: `${LIST.path}&direction=outbound&rail=invoice`,
    });
    noteRatio(note, 'list_payments(100), by direction and rail', {
      result: filtered,
      floor: large,
      what: 'without a filter',
    });
  } finally {
    await sidecar.stop();
  }
}
