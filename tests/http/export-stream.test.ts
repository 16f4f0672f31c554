import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Body, sendOk } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

/** More than sockets hold, so that an export is under way until it is read. */
const PAYMENTS = 25_000;
/** Waits and streams that a client may have. */
const PLACES = 24;
const folder = temporaryFolder('export-stream');
let sidecar: DevSidecar;
beforeAll(async () => {
  const dataDir = join(folder, 'data');
  sidecar = await startDevSidecar({ dataDir, port: freePort(), openFiles: 8 * PLACES });
  await sendOk(sidecar.baseUrl, 'PUT', '/v2/node/sync_payments');
  fill(join(dataDir, 'sidecar.sqlite'));
});
afterAll(async () => {
  await sidecar.stop();
  removeFolder(folder);
});

/** Copies a completed payment often, each copy completed before the one that was made before it. */
function fill(path: string): void {
  const db = new Database(path);
  db.run('PRAGMA busy_timeout = 50000');
  const [one] = db.query<Body, []>("SELECT * FROM cache WHERE status = 'completed' LIMIT 1").all();
  const insert = db.query(
    'INSERT INTO cache (wallet, idx, status, direction, rail, json) VALUES (?, ?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (let at = 0; at < PAYMENTS; at++) {
      const index = `${String(at).padStart(19, '0')}-ln_${String(at).padStart(64, '0')}`;
      const change = { index, amount: '1', finalized_at: PAYMENTS - at, message: 'x'.repeat(200) };
      const json = JSON.stringify({ ...JSON.parse(one.json), ...change });
      insert.run(one.wallet, index, one.status, one.direction, one.rail, json);
    }
  })();
  db.close();
}

const open = (query: string, credentials?: string, signal?: AbortSignal) =>
  fetch(`${sidecar.baseUrl}/v2/node/export?${query}`, {
    headers: credentials ? { authorization: `Bearer ${credentials}` } : {},
    ...(signal && { signal }),
  });
const rowsOf = (text: string): Body[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

test('many payments come whole, in the order of completion', async () => {
  const rows = rowsOf(await (await open(`format=json&until=${PAYMENTS + 1}`)).text());
  expect(rows.map(({ finalized_at }) => finalized_at)).toEqual(
    Array.from({ length: PAYMENTS }, (_, at) => at + 1),
  );
  expect(rows.at(-1).balance).toBe(`${PAYMENTS}`);
  const table = await (await open(`until=${PAYMENTS + 1}`)).text();
  expect(table.split('\n')).toHaveLength(PAYMENTS + 2);
});

test('credentials that are revoked while rows are sent end them with a row that says so', async () => {
  const grant = { scopes: [], permissions: ['get_updated_payments'] };
  const client = await sendOk(sidecar.baseUrl, 'POST', '/v2/node/create_client', { body: grant });
  const answer = await open('format=json', client.client_credentials);
  const reader = answer.body?.getReader();
  const decoder = new TextDecoder();
  let text = decoder.decode((await reader?.read())?.value, { stream: true });
  await sendOk(sidecar.baseUrl, 'POST', '/v2/node/revoke_client', {
    body: { client_pk: client.client_pk },
  });
  for (;;) {
    const { value, done = true } = (await reader?.read()) ?? {};
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  const rows = rowsOf(text);
  expect(rows.length).toBeLessThan(PAYMENTS);
  expect(rows.at(-1)).toMatchObject({
    kind: 'incomplete',
    balance: rows.at(-2).balance,
    reason: expect.stringMatching(/^Rows are missing: export again\. /),
  });
});

test('a caller that goes away leaves its place for the next one', async () => {
  const grant = { scopes: [], permissions: ['get_updated_payments'] };
  const client = await sendOk(sidecar.baseUrl, 'POST', '/v2/node/create_client', { body: grant });
  for (let round = 0; round < 2 * PLACES; round++) {
    const gone = new AbortController();
    const answer = await until(async () => {
      const asked = await open('format=json', client.client_credentials, gone.signal);
      return asked.status === 200 ? asked : null;
    }, 'there is a place');
    await answer.body?.getReader().read();
    gone.abort();
  }
});
