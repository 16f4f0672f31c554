import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { presentId } from '../../src/model/payment-index.ts';
import { request } from '../conformance/request.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Body, succeedingCalls } from '../support/requests.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** The old index of the waived fee in `first-ids`, the files of an earlier version. */
const OLD =
  '0000001795283482085-wf_c02285ac3abee51c809bd31df1eb9ed9248b1d83d45b66a6fd15d34730b3b483';
const PRESENT = presentId(OLD);
/** The old updated index of that waived fee. In those files only the pending invoice has a later update. */
const OLD_CURSOR = `u0000001795283482101${OLD.slice(19)}`;
const INVOICE =
  '0000001795283482107-ln_c611775e03939fa9054bc62974e0444d5492fc0fa26bb0d34594e798859ed95f';

const FILES = join(import.meta.dir, 'first-ids');
const folder = temporaryFolder('upgrade');
const dataDir = join(folder, 'data');
const port = freePort();
let sidecar: DevSidecar;
const start = async () => {
  sidecar = await startDevSidecar({ dataDir, port });
};
const call = (method: string, path: string, options = {}) =>
  request(`http://127.0.0.1:${port}`, method, path, options);
const { get, post, put } = succeedingCalls(call);

beforeAll(async () => {
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(join(FILES, 'dev-root-seed'), join(dataDir, 'dev-root-seed'));
  for (const name of ['sidecar', 'sandbox']) {
    const db = new Database(join(dataDir, `${name}.sqlite`), { create: true });
    db.run(await Bun.file(join(FILES, `${name}.sql`)).text());
    db.close();
  }
  await start();
});
afterAll(async () => {
  await sidecar.stop();
  removeFolder(folder);
});

const list = (query: object) => get('/v2/node/list_payments', { filter: 'all', ...query });
const indexes = ({ payments }: Body) => payments.map(({ index }: Body) => index);

describe('the data of a version with the first ids', () => {
  test('shows the waived fee under its present id in cache and node, created when it was', async () => {
    const [cached] = (await list({ rail: 'onchain', direction: 'info' })).payments;
    expect(cached).toMatchObject({
      index: PRESENT,
      kind: 'waived_channel_fee',
      personal_note: 'what the first channel cost',
      created_at: 1_795_283_482_085,
    });
    const { payments } = await get('/v2/node/updated_payments');
    expect(payments.find(({ index }: Body) => index === PRESENT)).toEqual(cached);
    expect(JSON.stringify(payments)).not.toContain('wf_');
  });

  test('is asked for by the old index', async () => {
    for (const path of ['payment', 'wait_for_payment']) {
      expect(await get(`/v2/node/${path}`, { index: OLD })).toMatchObject({ index: PRESENT });
    }
    const after = (index: string) => list({ order: 'asc', after: index }).then(indexes);
    expect(await after(OLD)).toEqual(await after(PRESENT));
    expect(await after(OLD)).toHaveLength(1);
  });

  test('goes on from the old cursors', async () => {
    expect(indexes(await get('/v2/node/updated_payments', { start_index: OLD_CURSOR }))).toEqual([
      INVOICE,
    ]);
    const next = await get('/v2/node/wait_for_next_payment', { start_index: OLD_CURSOR });
    expect(next.payment).toMatchObject({ index: INVOICE });
    // The cursor of the cache was at that update.
    expect(await put('/v2/node/sync_payments')).toEqual({ num_new: 1, num_updated: 0 });
    const stop = new AbortController();
    const events = await fetch(`http://127.0.0.1:${port}/v2/node/events`, {
      headers: { 'last-event-id': OLD_CURSOR },
      signal: stop.signal,
    });
    let text = '';
    for await (const chunk of events.body ?? []) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('event: payment')) break;
    }
    stop.abort();
    expect(text).toContain(INVOICE);
    expect(text).not.toContain('wf_');
  });

  test('takes a note by the old index, and stays as it is over the next start', async () => {
    await post('/v2/node/update_personal_note', { index: OLD, personal_note: 'kept' });
    expect(await sidecar.stop()).toBe(0);
    await start();
    expect(await get('/v2/node/payment', { index: OLD })).toMatchObject({
      index: PRESENT,
      personal_note: 'kept',
    });
  });

  test('names the waived fee of a new channel likewise', async () => {
    const { client_credentials } = await post('/sandbox/wallets');
    const { payments } = await get('/v2/node/updated_payments', {}, client_credentials);
    const info = payments.find(({ direction }: Body) => direction === 'info');
    expect(info.index).toMatch(/^\d{19}-or_[0-9a-f]{64}$/);
  });
});
