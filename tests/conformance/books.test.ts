import { afterAll, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test';
import { bookRowJson } from '../../src/http/book-lines.ts';
import type { Body } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { routeAnswered } from './called-routes.ts';
import { test } from './node-test.ts';
import { walletSteps } from './wallet-steps.ts';
import { type ConformanceWorld, openConformanceWorld } from './world.ts';

setDefaultTimeout(SLOW_TEST_MS);

let world: ConformanceWorld;
beforeAll(async () => {
  world = await openConformanceWorld();
});
afterAll(() => world.close());

const { address, arrived, receive } = walletSteps(() => world);
const completed = (made: Body) =>
  arrived(({ index, status }) => index === made.index && status === 'completed');

function ask(query: Readonly<Record<string, string>> = {}, credentials?: string) {
  return fetch(`${world.baseUrl}/v2/node/export?${new URLSearchParams(query)}`, {
    headers: credentials ? { authorization: `Bearer ${credentials}` } : {},
  });
}

async function rows(query: Readonly<Record<string, string>> = {}, credentials?: string) {
  const answer = await ask({ format: 'json', ...query }, credentials);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  routeAnswered('GET', '/v2/node/export');
  const text = await answer.text();
  expect(text === '' || text.endsWith('\n')).toBe(true);
  const read: Body[] = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  for (const row of read) bookRowJson().parse(row);
  return read;
}

const msat = (amount: string) => Math.round(Number(amount) * 1000);
const balance = async (): Promise<string> => (await world.get('/v2/node/node_info')).balance;
const notices = (all: readonly Body[]) => all.filter((row) => 'reason' in row);
const blocks = (count: number) => world.post('/sandbox/blocks', { count });

/** Each row changes the sum by what it says, and payments are in the order of their completion. */
function expectSums(all: readonly Body[]): void {
  let sum = 0;
  for (const row of all) {
    sum += msat(row.change);
    expect(msat(row.balance)).toBe(sum);
  }
  const times = all.map(({ finalized_at }) => finalized_at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
}

describe('export', () => {
  test('after a mixed history the last balance is that of the node', async () => {
    await receive('5000');
    const { invoice } = await world.post('/sandbox/invoice', { amount: '700' });
    await world.post('/v2/node/pay_invoice', { invoice });
    const failing = await world.post('/sandbox/invoice', { amount: '300', behavior: 'fail' });
    await world.call('POST', '/v2/node/pay_invoice', { body: { invoice: failing.invoice } });
    const sent = await world.post('/v2/node/pay_onchain', {
      address: (await world.post('/v2/node/get_next_unused_address', {}, world.bob)).address,
      amount: '20000',
      priority: 'background',
    });
    await world.post('/v2/node/bump_fee', { index: sent.index });
    await world.post(
      '/v2/node/pay_onchain',
      { address: await address(), amount: '9000' },
      world.bob,
    );
    const opened = await world.post('/v2/node/open_channel', { value: '60000' });
    await blocks(6);
    await world.post('/v2/node/close_channel', { channel_id: opened.channel_id });
    await blocks(6);
    const all = await until(async () => {
      const read = await rows();
      return read.some((row) => row.kind === 'difference') ? null : read;
    }, 'all of it is completed');
    expectSums(all);
    expect(all.at(-1)?.balance).toBe(await balance());
    expect(notices(all)).toEqual([]);
    const info = all.filter(({ direction, kind }) => direction === 'info' && kind === 'onchain');
    // The child of the bump, what opened the channel, and what closed it.
    expect(info).toHaveLength(3);
    for (const { amount, fees, change } of info) {
      expect({ amount, change }).toEqual({ amount: '0', change: `-${fees}` });
    }
    expect(all.every(({ status }) => status === 'completed')).toBe(true);
  });

  test('what is on its way makes a last row, and is the reason that it gives', async () => {
    const to = (await world.post('/v2/node/get_next_unused_address', {}, world.bob)).address;
    const sent = await world.post('/v2/node/pay_onchain', { address: to, amount: '10000' });
    const cost = `-${Number(sent.amount) + Number(sent.fees)}`;
    const all = await rows();
    expect(all.at(-1)).toMatchObject({
      kind: 'difference',
      change: cost,
      balance: await balance(),
      reason: `Payments on their way (1) change the balance of the node by ${cost} sats.`,
    });
    expectSums(all);
    await blocks(6);
    const after = await until(async () => {
      const read = await rows();
      return read.some((row) => row.kind === 'difference') ? null : read;
    }, 'it is completed');
    expect(after.at(-1)?.balance).toBe(await balance());
  });

  test('since begins with the sum before it, until ends before its time and compares nothing', async () => {
    await completed(await receive('11'));
    await completed(await receive('12'));
    const until = '9000000000000';
    const all = await rows({ until });
    expectSums(all);
    expect(notices(all)).toEqual([]);
    const middle = all.at(-2) as Body;
    const before = all.filter(({ finalized_at }) => finalized_at < middle.finalized_at);
    const later = await rows({ since: `${middle.finalized_at}`, until });
    expect(later[0]).toEqual({
      kind: 'balance_forward',
      finalized_at: middle.finalized_at,
      reason: 'Sum of all that was completed before.',
      change: before.at(-1)?.balance,
      balance: before.at(-1)?.balance,
    });
    expect(later.slice(1)).toEqual(all.slice(before.length));
    expect(await rows({ until: `${middle.finalized_at}` })).toEqual(before);
    const both = { since: `${middle.finalized_at}`, until: `${middle.finalized_at}` };
    expect(await rows(both)).toEqual(later.slice(0, 1));
    const [future] = await rows({ since: until });
    expect(future).toMatchObject({ kind: 'balance_forward', balance: all.at(-1)?.balance });
  });

  test('the table quotes, gives a spreadsheet no formulas of others, and has the rows of the other form', async () => {
    const body = { amount: '3', description: '=1+1,"x"\n\u202e', external_id: '@17' };
    const { index, invoice } = await world.post('/v2/node/create_invoice', body);
    await world.post('/v2/node/pay_invoice', { invoice }, world.bob);
    await completed({ index });
    const answer = await ask();
    expect(answer.headers.get('content-type')).toBe('text/csv');
    const [head, ...lines] = (await answer.text()).trimEnd().split('\n');
    expect(head).toBe(
      'completed_at,created_at,direction,kind,amount,fees,change,balance,note,message,payer_name,description,external_id,price,currency,rate,rate_at,rate_source,hash,txid,refund_of,index',
    );
    expect(lines).toHaveLength((await rows()).length);
    const line = lines.find((one) => one.endsWith(index));
    expect(line).toContain(`,"'=1+1,""x""\\u{a}\\u{202e}",'@17,`);
    const [forward] = (await (await ask({ since: '9000000000000' })).text()).split('\n').slice(1);
    expect(forward).toMatch(
      /^2255-03-14T16:00:00.000Z,,,balance_forward,,,[\d.]+,[\d.]+,Sum of all [^,]+,{13}$/,
    );
  });

  test('needs what list_payments needs, and tells the balance of the node to those alone who may read it', async () => {
    const create = async (grant: object) =>
      (await world.post('/v2/node/create_client', grant)).client_credentials as string;
    expect(
      (await ask({}, await create({ scopes: [], permissions: ['create_invoice'] }))).status,
    ).toBe(403);
    const reader = await create({ scopes: [], permissions: ['get_updated_payments'] });
    expect((await rows({}, reader)).at(-1)).toMatchObject({
      kind: 'unchecked',
      change: '0',
      reason: expect.stringContaining('node_info'),
    });
    expect((await ask({ format: 'xml' })).status).toBe(400);
    const last = `${Number.MAX_SAFE_INTEGER}`;
    expect((await (await ask({ since: last, until: last })).text()).split('\n')[1]).toMatch(
      /^,,,balance_forward,/,
    );
    const head = await fetch(`${world.baseUrl}/v2/node/export`, { method: 'HEAD' });
    expect(head.status).toBe(405);
  });
});
