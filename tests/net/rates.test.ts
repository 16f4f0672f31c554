import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { ApiError } from '../../src/model/errors.ts';
import { parseRateSource, type RateSource } from '../../src/model/prices/rate-source.ts';
import { createGuardedTextFetch } from '../../src/net/guarded-fetch.ts';
import { createRates, type Rates } from '../../src/net/rates.ts';
import { rejection } from '../support/rejection.ts';

/** What each source answers: a body, or what becomes of the request. */
const answers = new Map<string, string | (() => Response | Promise<Response>)>();
const asked: string[] = [];
const answerTo = (url: string) => answers.get(new URL(url).pathname.split('/')[1] ?? '') ?? '';
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    asked.push(new URL(request.url).pathname);
    const answer = answerTo(request.url);
    return typeof answer === 'string' ? new Response(answer) : answer();
  },
});
afterAll(() => server.stop(true));

function source(name: string): RateSource {
  const url = `http://127.0.0.1:${server.port}/${name}/{currency}#/price`;
  const parsed = parseRateSource(url);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return { ...parsed.value, name };
}

let now = { ms: 0, elapsedMs: 0 };
const pass = (ms: number) => {
  now = { ms: now.ms + ms, elapsedMs: now.elapsedMs + ms };
};
const warnings: unknown[] = [];

const within = (timeoutMs: number) =>
  createGuardedTextFetch({ allowPrivateNetwork: false, allowLoopback: true, timeoutMs });
const [fetchPatiently, fetchHastily] = [within(30_000), within(500)];
/** The answer that does not come, so its time limit is short. */
const NEVER = () => new Promise<Response>(() => undefined);

function rates(...names: readonly string[]): Rates {
  return createRates({
    sources: names.map(source),
    fetchText: (url) => (answerTo(url) === NEVER ? fetchHastily : fetchPatiently)(url),
    clock: { now: () => now.ms },
    elapsedMs: () => now.elapsedMs,
    log: { warn: (_, fields) => void warnings.push(fields?.source) },
  });
}

beforeEach(() => {
  answers.clear();
  for (const [name, price] of [
    ['a', '50000'],
    ['b', '"50100.00"'],
    ['c', '50250.5'],
  ]) {
    answers.set(name ?? '', `{"price":${price}}`);
  }
  asked.length = 0;
  warnings.length = 0;
  now = { ms: 1_764_000_000_000, elapsedMs: 1_000 };
});

async function problem(work: Promise<unknown>): Promise<unknown> {
  const error = await rejection(work);
  expect(error).toBeInstanceOf(ApiError);
  const { code, data } = (error as ApiError).body();
  expect(code).toBe(113);
  return (data as { problem: unknown }).problem;
}

describe('the rate', () => {
  test('is the median of the sources, with their names and the time', async () => {
    expect(await rates('a', 'b', 'c').of('EUR')).toEqual({
      currency: 'EUR',
      rate: '50100',
      rateAtMs: 1_764_000_000_000,
      rateSource: 'a, b, c',
    });
    expect(await rates('b').of('EUR')).toMatchObject({ rate: '50100', rateSource: 'b' });
    expect(await rates('a', 'b').of('EUR')).toMatchObject({ rate: '50050' });
  });

  test('is error 113 where the sources differ by more than 2 per cent, however many they are', async () => {
    answers.set('c', '{"price":51000}');
    expect(await rates('a', 'b', 'c').of('EUR')).toMatchObject({ rate: '50100' });
    answers.set('c', '{"price":51000.01}');
    expect(await problem(rates('a', 'b', 'c').of('EUR'))).toBe('unusable_answer');
    expect(await problem(rates('a', 'c').of('EUR'))).toBe('unusable_answer');
  });

  test('is of the other sources where one gives none', async () => {
    const megabytes = `{"x":"${'x'.repeat(10 * 1024 * 1024)}","price":1}`;
    const cases: Record<string, string | (() => Response | Promise<Response>)> = {
      'a zero': '{"price":0}',
      'an exponent': '{"price":5e4}',
      'a negative number': '{"price":-50000}',
      'another place': '{"prices":{"USD":50000}}',
      'no JSON': '<html>',
      '10 MB': megabytes,
      'an error with a number': () => new Response('{"price":1}', { status: 500 }),
      'a redirect to a private address': () => Response.redirect('https://10.0.0.1/', 302),
      'nothing in time': NEVER,
    };
    for (const [name, answer] of Object.entries(cases)) {
      answers.set('c', answer);
      warnings.length = 0;
      const found = await rates('a', 'b', 'c').of('EUR');
      expect([name, found.rate, found.rateSource, warnings]).toEqual([
        name,
        '50050',
        'a, b',
        ['c'],
      ]);
      expect([name, await problem(rates('c').of('EUR'))]).toEqual([name, 'unreachable']);
    }
  });

  test('is of no source alone where several are configured: nothing would contradict one that lies', async () => {
    answers.set('a', 'away');
    answers.set('b', 'away');
    answers.set('c', '{"price":1}');
    expect(await problem(rates('a', 'b', 'c').of('EUR'))).toBe('unreachable');
    expect(await problem(rates('a', 'c').of('EUR'))).toBe('unreachable');
    expect(await rates('c', 'c').of('EUR')).toMatchObject({ rate: '1', rateSource: 'c' });
  });

  test('is of what was said in the last 5 minutes, as old as the oldest of it', async () => {
    const three = rates('a', 'b', 'c');
    await three.of('EUR');
    answers.set('a', 'away');
    pass(60_000);
    answers.set('b', '{"price":50200}');
    const later = { rate: '50200', rateAtMs: 1_764_000_000_000, rateSource: 'a, b, c' };
    expect(await three.of('EUR')).toMatchObject(later);
    pass(239_999);
    expect(await three.of('EUR')).toMatchObject({ rateSource: 'a, b, c' });
    pass(60_001);
    expect(await three.of('EUR')).toMatchObject({ rateSource: 'b, c' });
    for (const name of ['b', 'c']) answers.set(name, 'away');
    pass(300_000);
    expect(await problem(three.of('EUR'))).toBe('unreachable');
  });

  test('is not fresh for longer where the clock is set back, or the machine slept', async () => {
    for (const moved of [
      { ms: -3_600_000, elapsedMs: 300_000 },
      { ms: 300_000, elapsedMs: 61_000 },
    ]) {
      answers.set('a', '{"price":50000}');
      const one = rates('a');
      await one.of('EUR');
      answers.set('a', 'away');
      now = { ms: now.ms + moved.ms, elapsedMs: now.elapsedMs + moved.elapsedMs };
      expect(await problem(one.of('EUR'))).toBe('unreachable');
    }
  });
});

describe('a source', () => {
  test('is asked once a minute for a currency, whatever it answers and however many ask', async () => {
    answers.set('b', 'away');
    const three = rates('a', 'b', 'c');
    await Promise.all(Array.from({ length: 20 }, () => three.of('EUR')));
    pass(59_999);
    await three.of('EUR');
    expect(asked.sort()).toEqual(['/a/EUR', '/b/EUR', '/c/EUR']);
    await three.of('JPY');
    expect(asked).toHaveLength(6);
    pass(1);
    await three.of('EUR');
    expect(asked).toHaveLength(9);
  });

  test('is not asked while nobody wants a rate', async () => {
    const one = rates('a');
    expect(asked).toEqual([]);
    await one.of('EUR');
    pass(3_600_000);
    expect(asked).toEqual(['/a/EUR']);
  });

  test('that is named twice has one voice', async () => {
    const twice = createRates({
      sources: [source('a'), source('a')],
      fetchText: async () => '{"price":1}',
      clock: { now: () => now.ms },
      elapsedMs: () => now.elapsedMs,
      log: { warn: () => undefined },
    });
    expect(await twice.of('EUR')).toMatchObject({ rateSource: 'a' });
  });

  test('on this machine is asked only where the guard allows it', async () => {
    const guarded = createRates({
      sources: [source('a')],
      fetchText: createGuardedTextFetch({ allowPrivateNetwork: false, allowLoopback: false }),
      clock: { now: () => now.ms },
      elapsedMs: () => now.elapsedMs,
      log: { warn: () => undefined },
    });
    expect(await problem(guarded.of('EUR'))).toBe('unreachable');
    expect(asked).toEqual([]);
  });
});
