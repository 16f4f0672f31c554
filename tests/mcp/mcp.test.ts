import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { toMsat } from '../../src/client/index.ts';
import type { SessionContext } from '../../src/http/route.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { answerMcp } from '../../src/mcp/server.ts';
import { toolsOf } from '../../src/mcp/tools.ts';
import { runBinary } from '../support/binary.ts';
import { type DevSidecar, startDevSidecar } from '../support/dev-sidecar.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { freePort } from '../support/ports.ts';
import { type Body, expectError, send, sendOk } from '../support/requests.ts';
import { SLOW_TEST_MS, until } from '../support/until.ts';
import { type Agent, connectAgent, GENERATIONS, TRANSPORTS } from './agent.ts';

setDefaultTimeout(SLOW_TEST_MS);

const TOOLS = [
  'analyze',
  'client_info',
  'create_invoice',
  'create_offer',
  'fetch',
  'list_payments',
  'node_info',
  'pay',
  'payment',
  'sync_payments',
  'wait_for_payment',
];

let folder: string;
let dataDir: string;
let sidecar: DevSidecar;
const agents: Agent[] = [];
beforeAll(async () => {
  folder = temporaryFolder('mcp');
  dataDir = join(folder, 'data');
  sidecar = await startDevSidecar({ dataDir, port: freePort() });
});
afterAll(async () => {
  for (const agent of agents) await agent.close();
  await sidecar.stop();
  removeFolder(folder);
});

const post = (path: string, body: object = {}): Promise<Body> =>
  sendOk(sidecar.baseUrl, 'POST', path, { body });
const message = (method: string, params: unknown = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method,
  params,
});

async function connect(options: Parameters<typeof connectAgent>[1]): Promise<Agent> {
  const agent = await connectAgent({ baseUrl: sidecar.baseUrl, dataDir }, options);
  agents.push(agent);
  return agent;
}

async function clientWith(body: object): Promise<string> {
  return (await post('/v2/node/create_client', body)).client_credentials;
}

const billOf = async (amount: string): Promise<string> =>
  (await post('/sandbox/invoice', { amount })).invoice;

describe.each(TRANSPORTS)('over %s', (transport) => {
  test.each(GENERATIONS)(
    'a client of the %s generation lists and calls every tool',
    async (generation) => {
      const budget = { amount: '100', period: 'total' };
      const credentials = await clientWith({ scopes: ['full'], budget });
      const agent = await connect({ transport, generation, credentials });
      expect(agent.protocol).toBe(generation === 'auto' ? '2026-07-28' : '2025-11-25');
      const listed = (await agent.tools()).map(({ name }) => name);
      expect(listed.toSorted()).toEqual(TOOLS);

      const payable = await billOf('20');
      expect((await agent.call('node_info')).body.node_pk).toMatch(/^0[23]/);
      expect((await agent.call('client_info')).body.budget.spent).toBe('0');
      expect((await agent.call('create_offer')).body.offer).toStartWith('lno');
      expect((await agent.call('analyze', { payment_string: payable })).isError).toBeFalse();
      const invoice = await agent.call('create_invoice', { amount: '7', idempotency_key: 'mine' });
      const again = await agent.call('create_invoice', { amount: '7', idempotency_key: 'mine' });
      expect(again.body).toEqual(invoice.body);
      const paid = await agent.call('pay', { payable, max_fee: '5', idempotency_key: payable });
      expect(paid.body).toMatchObject({ status: 'completed', amount: '20' });
      const { index } = paid.body;
      const fetched = await agent.call('fetch', {
        url: `${sidecar.baseUrl}/v2/health`,
        max_cost: '5',
        idempotency_key: `fetch ${payable.slice(-100)}`,
      });
      // The sidecar takes no request of its own.
      expect(fetched.body).toMatchObject({ status: 403, payment: null });
      expect((await agent.call('payment', { index })).body).toMatchObject({ index, amount: '20' });
      expect((await agent.call('wait_for_payment', { index })).body.status).toBe('completed');
      expect((await agent.call('sync_payments')).isError).toBeFalse();
      const list = await agent.call('list_payments', { filter: 'all', limit: 5 });
      expect(list.body.payments.map((one: Body) => one.index)).toContain(index);
    },
  );

  test('the owner, and a client without a budget, cannot spend', async () => {
    const payable = await billOf('20');
    const unlimited = await clientWith({ scopes: ['full'] });
    for (const credentials of [undefined, unlimited]) {
      const agent = await connect({ transport, ...(credentials ? { credentials } : {}) });
      const refused = await agent.call('pay', { payable, idempotency_key: payable });
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('no budget') });
      expect((await agent.call('node_info')).isError).toBeFalse();
    }
  });

  test('a payment needs a key, and a repeat with it pays once', async () => {
    const budget = { amount: '100', period: 'total' };
    const credentials = await clientWith({ scopes: ['read_info', 'send'], budget });
    const agent = await connect({ transport, credentials });
    const given = { payable: await billOf('30'), max_fee: '5' };
    const keyless = await agent.call('pay', given);
    expect(keyless).toMatchObject({
      isError: true,
      text: expect.stringContaining('idempotency_key'),
    });
    for (const idempotency_key of [12345, true, ['x'], { a: 1 }]) {
      const wrong = await agent.call('pay', { ...given, idempotency_key });
      expect(wrong).toMatchObject({ isError: true, text: expect.stringContaining('a text') });
    }
    const paid = await agent.call('pay', { ...given, idempotency_key: 'one' });
    expect((await agent.call('pay', { ...given, idempotency_key: 'one' })).body).toEqual(paid.body);
    const other = await agent.call('pay', { payable: await billOf('31'), idempotency_key: 'one' });
    expect(other).toMatchObject({ isError: true, body: { code: 111 } });
    expect(Number((await agent.call('client_info')).body.budget.spent)).toBeLessThanOrEqual(35);
  });

  test('an error keeps its code and what it says of the money', async () => {
    const budget = { amount: '100', period: 'total' };
    const credentials = await clientWith({ scopes: ['send'], budget });
    const agent = await connect({ transport, credentials });
    const beyond = await agent.call('pay', { payable: await billOf('150'), idempotency_key: 'x' });
    expect(beyond).toMatchObject({
      isError: true,
      body: { code: 109, data: { remaining: '100', sent: 'no' } },
    });
    expect(JSON.parse(beyond.text)).toEqual(beyond.body);
  });

  test('a tool that the grant lacks is neither listed nor called', async () => {
    const credentials = await clientWith({ scopes: ['read_info'] });
    const agent = await connect({ transport, credentials });
    const listed = (await agent.tools()).map(({ name }) => name);
    expect(listed.toSorted()).toEqual(['analyze', 'client_info', 'node_info']);
    const refused = await agent.call('create_invoice', { amount: '5' });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('no tool') });
  });

  test('an argument that the tool does not have is refused, so that a misspelled limit is none', async () => {
    const agent = await connect({ transport });
    for (const name of ['amt', 'constructor']) {
      const refused = await agent.call('create_invoice', { amount: '5', [name]: '6' });
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining(name) });
    }
    const list = await agent.call('list_payments', { filter: 'all', limit: null });
    expect(list.isError).toBeFalse();
  });

  test('texts of strangers come with every unseen character escaped', async () => {
    const agent = await connect({ transport });
    const { invoice } = await post('/sandbox/invoice', {
      amount: '5',
      description: 'tea\u202e\u{e0041}',
    });
    const { text } = await agent.call('analyze', { payment_string: invoice });
    expect(text).toContain('tea\\u202e\\udb40\\udc41');
  });
});

test('200 payments side by side, over both transports, never pass the budget', async () => {
  const budget = { amount: '1000', period: 'total' };
  const credentials = await clientWith({ scopes: ['read_info', 'send'], budget });
  const both = await Promise.all(
    TRANSPORTS.map((transport) => connect({ transport, credentials })),
  );
  const bills = await Promise.all(Array.from({ length: 200 }, () => billOf('50')));
  const answers = await Promise.all(
    bills.map((payable, at) =>
      both[at % 2]?.call('pay', { payable, max_fee: '2', idempotency_key: `key ${at}` }),
    ),
  );
  const paid = answers.filter((answer) => answer?.body.status === 'completed');
  expect(paid.length).toBeGreaterThan(15);
  const spentMsat = paid
    .flatMap((one) => [one?.body.amount, one?.body.fees])
    .reduce((sum, sats) => sum + Math.round(Number(sats) * 1000), 0);
  expect(spentMsat).toBeLessThanOrEqual(1_000_000);
  const info = await both[0]?.call('client_info');
  expect(Math.round(Number(info?.body.budget.spent) * 1000)).toBe(spentMsat);
});

test('a payment that waits for approval is told at once, is approved by no tool, and is paid once', async () => {
  const credentials = await clientWith({
    scopes: ['read_info', 'read_payments', 'send'],
    budget: { amount: '5000', period: 'total' },
    approve_above: '100',
  });
  const paid = async (transport: (typeof TRANSPORTS)[number]) => {
    const agent = await connect({ transport, credentials });
    const given = { payable: await billOf('500'), max_fee: '5', idempotency_key: transport };
    const asked = await agent.call('pay', given);
    expect(asked).toMatchObject({
      isError: false,
      body: { status: 'pending', status_msg: 'awaiting approval', amount: '500' },
    });
    const { index } = asked.body;
    for (const tool of ['approve', 'reject']) {
      expect(await agent.call(tool, { index })).toMatchObject({
        isError: true,
        text: expect.stringContaining('no tool'),
      });
    }
    expect((await agent.call('payment', { index })).body).toEqual(asked.body);
    await post('/v2/node/approve', { index });
    expect((await agent.call('wait_for_payment', { index })).body.status).toBe('completed');
    const { body } = await agent.call('payment', { index });
    expect(body).toMatchObject({ index, status: 'completed', amount: '500' });
    expect((await agent.call('pay', given)).body).toMatchObject({ index, status: 'completed' });
    return { agent, costMsat: toMsat(body.amount) + toMsat(body.fees) };
  };
  const both = await Promise.all(TRANSPORTS.map(paid));
  const { budget } = (await both[0]?.agent.call('client_info'))?.body ?? {};
  expect(toMsat(budget.spent)).toBe(both.reduce((sum, { costMsat }) => sum + costMsat, 0n));
});

describe('a call in progress has an answer with its code and what was sent', () => {
  /** Calls `pay` for an invoice that is held, and returns its answer when `end` has ended the request. */
  const heldCall = async (own: DevSidecar, end: (client: Body) => Promise<unknown>) => {
    const client = (await own.call('POST', '/v2/node/create_client', {
      body: { scopes: ['send', 'read_payments'], budget: { amount: '1000', period: 'total' } },
    })) as Body;
    const bill = (await own.call('POST', '/sandbox/invoice', {
      body: { amount: '20', behavior: 'hold' },
    })) as Body;
    const given = { payable: bill.invoice, idempotency_key: `held ${bill.invoice.slice(-50)}` };
    const answer = send(own.baseUrl, 'POST', '/mcp', {
      body: message('tools/call', { name: 'pay', arguments: given }),
      credentials: client.client_credentials,
    });
    await until(async () => {
      await own.call('PUT', '/v2/node/sync_payments');
      const list = (await own.call('GET', '/v2/node/list_payments?filter=pending')) as Body;
      return list.payments.some(({ invoice }: Body) => invoice === bill.invoice);
    });
    await end(client);
    const { result } = (await answer).body;
    expect(result.isError).toBe(true);
    return result.structuredContent;
  };

  test('when its credentials are revoked', async () => {
    const told = await heldCall(sidecar, ({ client_pk }) =>
      post('/v2/node/revoke_client', { client_pk }),
    );
    expect(told).toMatchObject({ code: 104, data: { index: expect.any(String) } });
  });

  test('when the sidecar stops', async () => {
    const own = await startDevSidecar({ dataDir: join(folder, 'stops'), port: freePort() });
    const told = await heldCall(own, () => own.stop());
    expect(told).toMatchObject({ code: 8, data: { index: expect.any(String) } });
  });
});

test('with --mcp-allow-unlimited the owner may spend', async () => {
  const trusting = await startDevSidecar({
    dataDir: join(folder, 'trusting'),
    port: freePort(),
    env: { SERVICE_MCP_ALLOW_UNLIMITED: 'on' },
  });
  const place = { baseUrl: trusting.baseUrl, dataDir: join(folder, 'trusting') };
  const agent = await connectAgent(place, { transport: 'http' });
  const bill = (await trusting.call('POST', '/sandbox/invoice', { body: { amount: '9' } })) as Body;
  const paid = await agent.call('pay', { payable: bill.invoice, idempotency_key: 'x' });
  expect(paid.body.status).toBe('completed');
  await agent.close();
  await trusting.stop();
});

describe('the endpoint', () => {
  const ask = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    send(sidecar.baseUrl, 'POST', '/mcp', { body, headers });
  const call = (amount: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_invoice","arguments":{"amount":${amount}}}}`;

  test('is guarded like every other: Host, Origin, credentials', async () => {
    expectError(await ask(message('tools/list'), { host: 'evil.example' }), 'hostNotAllowed');
    expectError(
      await ask(message('tools/list'), { origin: 'https://evil.example' }),
      'hostNotAllowed',
    );
    expectError(await ask(message('tools/list'), { authorization: 'Bearer x' }), 'unauthenticated');
  });

  test('answers one JSON, whatever the client accepts', async () => {
    const { status, body, headers } = await ask(message('tools/list'), { accept: '*/*' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body.result.tools).toHaveLength(TOOLS.length);
  });

  test('does not round a number, and refuses what is nested deeply', async () => {
    const rawBody = call('1.00000000000000000001');
    expectError(await send(sidecar.baseUrl, 'POST', '/mcp', { rawBody }), 'rejected');
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    const nested = { rawBody: call(deep) };
    expectError(await send(sidecar.baseUrl, 'POST', '/mcp', nested), 'rejected');
    expect((await send(sidecar.baseUrl, 'POST', '/mcp', { rawBody: call('1') })).status).toBe(200);
  });
});

test('the list of all tools stays below 12 KB, and its schemas are those of objects', () => {
  const shown = toolsOf(ROUTES).map((tool) => tool.shown);
  expect(JSON.stringify(shown).length).toBeLessThan(12_000);
  expect(JSON.stringify(shown)).not.toMatch(/[$]ref|pattern|query/);
  for (const { inputSchema } of shown) {
    expect(Object.keys(inputSchema).toSorted()).toEqual([
      'additionalProperties',
      'properties',
      'required',
      'type',
    ]);
    const properties = Object.keys(inputSchema.properties ?? {});
    for (const name of inputSchema.required ?? []) expect(properties).toContain(name);
  }
  const pay = shown.find(({ name }) => name === 'pay')?.inputSchema;
  expect(pay?.required).toEqual(['payable', 'idempotency_key']);
});

test('a call ends before programs give it up, and the answer of a payment comes while it is pending', async () => {
  const calls: Request[] = [];
  const context = {
    parts: { version: '0' },
    headers: new Headers({ 'content-type': 'application/json' }),
    signal: new AbortController().signal,
    session: { client: () => null, hasBudget: () => true },
    call: async (path: string, init: RequestInit) => {
      calls.push(new Request(`http://localhost${path}`, init));
      return Response.json({});
    },
  } as unknown as SessionContext;
  const options = { tools: toolsOf(ROUTES), allowUnlimited: false };
  const asked = async (name: string, given: object) => {
    await answerMcp(context, message('tools/call', { name, arguments: given }), options);
    return calls.at(-1);
  };
  const wait = await asked('wait_for_payment', { index: 'a&b' });
  expect(wait?.url).toBe('http://localhost/v2/node/wait_for_payment?timeout_secs=50&index=a%26b');
  const short = await asked('wait_for_payment', { index: 'i', timeout_secs: 5 });
  expect(new URL(short?.url ?? '').searchParams.get('timeout_secs')).toBe('5');
  const pay = await asked('pay', { payable: 'p', idempotency_key: 'k' });
  expect(pay?.headers.get('prefer')).toBe('wait=50');
  expect(pay?.headers.get('idempotency-key')).toBe('k');
  expect(await pay?.json()).toEqual({ payable: 'p' });
});

test('what was asked over stdio is answered, also when the input ends before, and then the program ends', async () => {
  const credentials = await clientWith({
    scopes: ['read_info', 'send'],
    budget: { amount: '100', period: 'total' },
  });
  const flags = ['--url', sidecar.baseUrl, '--client-credentials', credentials];
  const given = { payable: await billOf('21'), max_fee: '5', idempotency_key: 'last' };
  const handshake = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'agent', version: '1' },
  };
  const lines = [
    message('initialize', handshake),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { ...message('tools/call', { name: 'pay', arguments: given }), id: 2 },
  ];
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  let answeredMs = 0;
  const onOutput = () => {
    answeredMs = performance.now();
  };
  const { exitCode, stdout } = await runBinary(['mcp', ...flags], { stdin: input, onOutput });
  const endedMs = performance.now();
  const answers = stdout.trim().split('\n');
  expect(exitCode).toBe(0);
  // The wait ends with the last answer, and not with its bound.
  expect(endedMs - answeredMs).toBeLessThan(9000);
  expect(answers.map((line) => JSON.parse(line).id)).toEqual([1, 2]);
  expect(JSON.parse(answers[1] ?? '').result.structuredContent).toMatchObject({
    status: 'completed',
    amount: '21',
  });
});
