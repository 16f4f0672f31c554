import { describe, expect, test } from 'bun:test';
import { ENDING_HEADER } from '../../src/fleet/headers.ts';
import { openLeads } from '../../src/fleet/leads.ts';
import { PASSED_ON_HEADER, passedOnSeal } from '../../src/fleet/passed-on.ts';
import type { PeerSender, Sent, SentRequest } from '../../src/fleet/send.ts';
import { openStandBy, type Passing } from '../../src/fleet/stand-by.ts';
import { ROUTES } from '../../src/http/routes/index.ts';
import { repeatRules } from '../../src/http/stand-by-app.ts';
import { elapsedMs } from '../../src/lib/clock.ts';
import { isApiError } from '../../src/model/errors.ts';

const seal = passedOnSeal(new Uint8Array(32).fill(7), { nowMs: Date.now, elapsedMs });
const URL_OF = 'http://10.0.0.2:5393';

function answered(status: number, body: unknown, headers: Record<string, string> = {}): Sent {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const ended = Promise.resolve();
  return {
    kind: 'answered',
    answer: { status, headers: new Headers(headers), body: bytes, ended },
  };
}
const CUT: Sent = { kind: 'cut' };
const NOT_SENT: Sent = { kind: 'not_sent' };
const STOPPING = { [ENDING_HEADER]: 'stopping' };

interface WorldOptions {
  readonly patienceMs?: number;
  readonly lead?: boolean;
  readonly sender?: PeerSender;
}

/** A process that stands by, whose requests end as `script` says, one after another; the last goes on. */
function world(
  script: readonly Sent[],
  { patienceMs = 600_000, lead = true, sender }: WorldOptions = {},
) {
  const sent: SentRequest[] = [];
  const leads = openLeads();
  const stopping = new AbortController();
  const scripted: PeerSender = {
    async send(_url, request) {
      sent.push(request);
      return script[Math.min(sent.length, script.length) - 1] ?? NOT_SENT;
    },
    close: () => undefined,
  };
  if (lead) leads.see('1', URL_OF);
  const onPassed = () => undefined;
  const { signal } = stopping;
  const standBy = openStandBy({
    leads,
    sender: sender ?? scripted,
    seal,
    patienceMs,
    stopping: signal,
    onPassed,
  });
  const pass = (change: Partial<Passing> = {}) =>
    standBy.pass({
      request: new Request('http://a.example/v2/node/pay', { method: 'POST' }),
      body: new Uint8Array(),
      facts: { host: 'a.example', source: '192.0.2.1' },
      env: {},
      withinMs: null,
      mayRepeat: false,
      movesMoney: true,
      ...change,
    });
  return { leads, sent, pass, stopping };
}

const KEYED = { mayRepeat: true };

async function problemOf(passing: Promise<unknown>) {
  const error = await passing.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!isApiError(error)) throw new Error(`no error of the API: ${String(error)}`);
  return { kind: error.kind, data: error.data, message: error.message };
}

describe('a request that was passed on', () => {
  test('that was cut off is never sent again unless that is safe, and nobody knows its outcome', async () => {
    const { pass, sent } = world([CUT, answered(200, {})]);
    expect(await problemOf(pass())).toMatchObject({ kind: 'timeout', data: { sent: 'unknown' } });
    expect(sent).toHaveLength(1);
    expect(await problemOf(world([CUT]).pass({ movesMoney: false }))).toMatchObject({
      kind: 'timeout',
      data: null,
    });
  });

  test('that waits for no silent leader ends when one says nothing, and when there is none', async () => {
    const sender: PeerSender = {
      // It takes the request, and says nothing.
      send: (_url, _request, { over }) =>
        new Promise((resolve) => over.addEventListener('abort', () => resolve(CUT))),
      close: () => undefined,
    };
    const health = { ...KEYED, movesMoney: false, withinMs: 1 };
    for (const { pass } of [world([], { sender }), world([], { lead: false })]) {
      expect(await problemOf(pass(health))).toMatchObject({ kind: 'overCapacity', data: null });
    }
  });

  test('that was cut off and is safe twice is sent again', async () => {
    const { pass, sent } = world([CUT, NOT_SENT, answered(200, { a: 1 })]);
    expect(await (await pass(KEYED)).json()).toEqual({ a: 1 });
    expect(sent).toHaveLength(3);
  });

  test('that could not be sent waits for a sidecar that leads, also when it is not safe twice', async () => {
    const { pass, sent } = world([NOT_SENT, NOT_SENT, answered(200, {})]);
    expect((await pass()).status).toBe(200);
    expect(sent).toHaveLength(3);
  });

  test('is error 8 when none leads for too long, and says whether something may have been sent', async () => {
    const short = { patienceMs: 1 };
    const sentOf = async (script: readonly Sent[], change: Partial<Passing> = {}) => {
      const { kind, data } = await problemOf(world(script, short).pass(change));
      expect(kind).toBe('overCapacity');
      return data;
    };
    expect(await sentOf([NOT_SENT])).toEqual({ sent: 'no' });
    // An earlier request with the key may have sent something.
    expect(await sentOf([NOT_SENT], KEYED)).toEqual({ sent: 'unknown' });
    expect(await sentOf([CUT, NOT_SENT], KEYED)).toEqual({ sent: 'unknown' });
    expect(await sentOf([NOT_SENT], { movesMoney: false })).toBeNull();
    expect((await problemOf(world([], { ...short, lead: false }).pass())).kind).toBe(
      'overCapacity',
    );
  });

  test('whose header was not good did nothing where the clocks differ, and may have done something where it came twice', async () => {
    const answer = (why: string) => answered(503, { code: 8 }, { [ENDING_HEADER]: why });
    const apart = world([answer('stale')]);
    const problem = await problemOf(apart.pass());
    expect(problem).toMatchObject({ kind: 'overCapacity', data: { sent: 'no' } });
    expect(problem.message).toMatch(/clocks/);
    expect(apart.sent).toHaveLength(1);
    expect(await problemOf(world([answer('used')]).pass())).toMatchObject({
      kind: 'timeout',
      data: { sent: 'unknown' },
    });
    const { pass, sent } = world([answer('used'), answered(200, {})]);
    expect((await pass(KEYED)).status).toBe(200);
    const headers = sent.map((one) => new Map(one.headers).get(PASSED_ON_HEADER));
    expect(new Set(headers).size).toBe(2);
  });

  test('that ends every sidecar which serves it does so at most four times', async () => {
    const { pass, sent, leads } = world([CUT]);
    const passing = problemOf(pass(KEYED));
    for (let fence = 2; fence < 9; fence++) {
      while (sent.length < fence - 1 && fence < 6) await Bun.sleep(0);
      leads.see(`${fence}`, URL_OF);
    }
    expect((await passing).kind).toBe('overCapacity');
  });

  test('waits for the next one when that which leads stops, where nothing was sent or it is safe twice', async () => {
    const stopped = (data: unknown) => answered(503, { code: 8, data }, STOPPING);
    const next = answered(200, {});
    const statusOf = async (first: Sent, change: Partial<Passing>) =>
      (await world([first, next]).pass(change)).status;
    expect(await statusOf(stopped({ sent: 'no' }), {})).toBe(200);
    expect(await statusOf(stopped({ sent: 'unknown' }), KEYED)).toBe(200);
    expect(await statusOf(stopped(null), { mayRepeat: true, movesMoney: false })).toBe(200);
    // What it has begun is for its caller to know.
    expect(await statusOf(stopped({ sent: 'unknown' }), {})).toBe(503);
    expect(await statusOf(stopped(null), { movesMoney: false })).toBe(503);
    // Over capacity for another reason is an answer like any other.
    expect(await statusOf(answered(503, { code: 8, data: { sent: 'no' } }), KEYED)).toBe(503);
  });

  test('is served here when this process leads by then, with its body and its connection', async () => {
    const { pass, leads, sent } = world([NOT_SENT]);
    const passing = pass({
      body: new TextEncoder().encode('{"a":1}'),
      env: { peer: () => '192.0.2.9' },
    });
    leads.take(
      Promise.resolve(async (request, env) =>
        Response.json({ body: await request.json(), peer: env.peer?.(request) ?? null }),
      ),
    );
    expect(await (await passing).json()).toEqual({ body: { a: 1 }, peer: '192.0.2.9' });
    expect(sent.length).toBeLessThan(2);
  });

  test('is error 8 at once while one leads that cannot be reached, and when this process stops', async () => {
    const hidden = world([], { lead: false });
    hidden.leads.see('1', null);
    expect((await problemOf(hidden.pass())).message).toMatch(/started without --peer-url/);
    const stopped = world([NOT_SENT]);
    stopped.stopping.abort();
    expect((await problemOf(stopped.pass())).message).toMatch(/is stopping/);
  });
});

describe('the sidecar that leads', () => {
  test('is another one when its fencing number is another, also at the same place', () => {
    const leads = openLeads();
    leads.see('1', URL_OF);
    const first = leads.current();
    leads.see('1', URL_OF);
    expect(leads.current()).toBe(first);
    leads.see('2', URL_OF);
    expect(first.kind === 'peer' && first.over.aborted).toBe(true);
    const second = leads.current();
    expect(second.kind === 'peer' && second.over.aborted).toBe(false);
  });

  test('is not known until it has told where it is', () => {
    const leads = openLeads();
    leads.see('1', undefined);
    expect(leads.current().kind).toBe('unknown');
    leads.see('1', URL_OF);
    expect(leads.current()).toMatchObject({ kind: 'peer', fence: '1', url: URL_OF });
    leads.see('2', undefined);
    expect(leads.current().kind).toBe('unknown');
  });
});

test('reads, PUTs and requests with an Idempotency-Key may be sent twice', () => {
  const rulesOf = (path: string, method: string, query = '', key: string | null = null) => {
    const route = ROUTES.find((one) => one.path === path && one.method === method);
    if (route === undefined) throw new Error(path);
    const headers = key === null ? {} : { 'idempotency-key': key };
    const request = new Request(`http://a${path}${query}`, {
      method: method.toUpperCase(),
      headers,
    });
    return repeatRules(route, request);
  };
  expect(rulesOf('/v2/node/list_payments', 'get').mayRepeat).toBe(true);
  expect(rulesOf('/v2/node/events', 'get').mayRepeat).toBe(true);
  expect(rulesOf('/v2/node/update_client', 'put').mayRepeat).toBe(true);
  expect(rulesOf('/v2/node/pay', 'post')).toEqual({
    mayRepeat: false,
    movesMoney: true,
  });
  expect(rulesOf('/v2/node/pay', 'post', '', 'k')).toEqual({
    mayRepeat: true,
    movesMoney: true,
  });
  // The route does not take it, so it protects nothing.
  expect(rulesOf('/v2/webhooks/redeliver', 'post', '', 'k').mayRepeat).toBe(false);
  // A key that is rejected protects nothing either.
  expect(rulesOf('/v2/node/pay', 'post', '', 'k'.repeat(256)).mayRepeat).toBe(false);
  // The sidecar counts an update as seen when it has told it.
  expect(rulesOf('/v2/node/wait_for_next_payment', 'get').mayRepeat).toBe(false);
  expect(rulesOf('/v2/node/wait_for_next_payment', 'get', '?start_index=1').mayRepeat).toBe(true);
});
