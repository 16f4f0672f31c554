import { describe, expect, test } from 'bun:test';
import { answerMisdirected, answerNotGood, lookAtArrival } from '../../src/fleet/arrivals.ts';
import { ENDING_HEADER, endToEnd } from '../../src/fleet/headers.ts';
import { PASSED_ON_HEADER, passedOnSeal } from '../../src/fleet/passed-on.ts';

let nowMs = 1_764_000_000_000;
let monotonicMs = 0;
const clocks = { nowMs: () => nowMs, elapsedMs: () => monotonicMs };
const seal = passedOnSeal(new Uint8Array(32).fill(7), clocks);
const HEAD = { method: 'POST', target: '/v2/node/pay?a=1' };
const FACTS = { host: 'wallet.example', source: '192.0.2.1' };

function arriving(header: string | null, change: { method?: string; target?: string } = {}) {
  const { method, target } = { ...HEAD, ...change };
  return new Request(`http://10.0.0.2:5393${target}`, {
    method,
    headers: { host: '10.0.0.2:5393', ...(header === null ? {} : { [PASSED_ON_HEADER]: header }) },
  });
}

describe('the header of a request that was passed on', () => {
  test('tells the Host and the source that the sidecar which was called saw', () => {
    const request = arriving(seal.write('4', HEAD, FACTS));
    expect(lookAtArrival(request, seal, '4')).toEqual({ kind: 'passed_on', facts: FACTS });
    expect(request.headers.get('host')).toBe('wallet.example');
    expect(request.headers.has(PASSED_ON_HEADER)).toBe(false);
  });

  test('says nothing of another method, path or query, with a changed fact, or under another key', () => {
    const genuine = seal.write('4', HEAD, FACTS);
    const [, code] = genuine.split('.');
    const said = JSON.parse(Buffer.from(genuine.split('.')[0] ?? '', 'base64url').toString());
    const changed = (facts: object) =>
      `${Buffer.from(JSON.stringify({ ...said, ...facts })).toString('base64url')}.${code}`;
    const other = passedOnSeal(new Uint8Array(32).fill(8), clocks);
    const forged = [
      arriving(genuine, { method: 'PUT' }),
      arriving(genuine, { target: '/v2/node/pay?a=2' }),
      arriving(genuine, { target: '/v2/node/pay_offer?a=1' }),
      arriving(changed({ host: 'localhost:5393' })),
      arriving(changed({ source: '192.0.2.2' })),
      arriving(changed({ fence: '5' })),
      arriving(changed({ fence: 4 })),
      arriving(changed({ count: said.count + 1 })),
      arriving(changed({ sender: 'another' })),
      arriving(changed({ atMs: said.atMs + 1 })),
      arriving(other.write('4', HEAD, FACTS)),
      arriving(''),
      arriving('.'),
      arriving('a.b'),
      arriving(`${genuine.split('.')[0]}.`),
    ];
    for (const request of forged) {
      for (const fence of ['4', '5', null]) {
        expect(lookAtArrival(request, seal, fence)).toEqual({ kind: 'own' });
      }
      expect(request.headers.get('host')).toBe('10.0.0.2:5393');
      // It is neither believed nor passed on.
      expect(request.headers.has(PASSED_ON_HEADER)).toBe(false);
    }
  });

  test('is for the sidecar that leads: every other one answers that it does not, so nothing goes round', async () => {
    const genuine = seal.write('4', HEAD, FACTS);
    expect(lookAtArrival(arriving(genuine), seal, '5').kind).toBe('misdirected');
    expect(lookAtArrival(arriving(genuine), seal, null).kind).toBe('misdirected');
    const answer = answerMisdirected();
    expect(answer.status).toBe(503);
    expect(answer.headers.get(ENDING_HEADER)).toBe('not-leading');
    expect(await answer.json()).toMatchObject({ code: 8 });
  });

  test('is good once, so that a recorded request cannot be sent again', () => {
    const header = seal.write('4', HEAD, FACTS);
    const later = seal.write('4', HEAD, FACTS);
    // Requests may overtake each other.
    expect(lookAtArrival(arriving(later), seal, '4').kind).toBe('passed_on');
    expect(lookAtArrival(arriving(header), seal, '4').kind).toBe('passed_on');
    for (const one of [header, later]) {
      const request = arriving(one);
      expect(lookAtArrival(request, seal, '4').kind).toBe('used');
      expect(request.headers.get('host')).toBe('10.0.0.2:5393');
    }
    // Another process counts on its own.
    const twin = passedOnSeal(new Uint8Array(32).fill(7), clocks);
    expect(lookAtArrival(arriving(twin.write('4', HEAD, FACTS)), seal, '4').kind).toBe('passed_on');
  });

  test('is good for a minute, also where the clocks of the machines differ by less', () => {
    const at = (writtenMs: number) => {
      const startMs = nowMs;
      nowMs += writtenMs;
      const header = seal.write('4', HEAD, FACTS);
      nowMs = startMs;
      return lookAtArrival(arriving(header), seal, '4').kind;
    };
    expect([-60_000, 0, 60_000].map(at)).toEqual(['passed_on', 'passed_on', 'passed_on']);
    expect([-60_001, 60_001].map(at)).toEqual(['stale', 'stale']);
  });

  test('stays used when it is forgotten, and the clock is set back', () => {
    const header = seal.write('4', HEAD, FACTS);
    expect(lookAtArrival(arriving(header), seal, '4').kind).toBe('passed_on');
    nowMs += 130_000;
    monotonicMs += 130_000;
    expect(lookAtArrival(arriving(seal.write('4', HEAD, FACTS)), seal, '4').kind).toBe('passed_on');
    nowMs -= 130_000;
    expect(lookAtArrival(arriving(header), seal, '4').kind).toBe('used');
  });

  test('that is not good any more is answered with error 8', async () => {
    for (const kind of ['used', 'stale'] as const) {
      const answer = answerNotGood(kind);
      expect(answer.status).toBe(503);
      expect(answer.headers.get(ENDING_HEADER)).toBe(kind);
      expect(await answer.json()).toMatchObject({ code: 8 });
    }
  });

  test('is absent from a request of a caller, which stays as it is', () => {
    expect(lookAtArrival(arriving(null), seal, '4')).toEqual({ kind: 'own' });
  });
});

test('headers of one connection stay on it (RFC 9110, section 7.6.1), and all others go on', () => {
  const given: [string, string][] = [
    ['Authorization', 'Bearer a'],
    ['Connection', 'close, X-Own'],
    ['Content-Length', '2'],
    ['Host', 'wallet.example'],
    ['Idempotency-Key', 'k'],
    ['Keep-Alive', 'timeout=5'],
    ['Last-Event-ID', '7'],
    ['Proxy-Authorization', 'Basic a'],
    ['Set-Cookie', 'a=1'],
    ['Set-Cookie', 'b=2'],
    ['TE', 'trailers'],
    ['Transfer-Encoding', 'chunked'],
    ['Upgrade', 'websocket'],
    ['X-Own', '1'],
    [PASSED_ON_HEADER, 'a.b'],
    [ENDING_HEADER, 'stopping'],
  ];
  expect(endToEnd(given)).toEqual([
    ['authorization', 'Bearer a'],
    ['idempotency-key', 'k'],
    ['last-event-id', '7'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['x-own', '1'],
  ]);
});

test('a caller cannot have its credentials or its key dropped on the way, since each rule reads them', () => {
  const names = ['authorization', 'console-key', 'cookie', 'idempotency-key', 'prefer'];
  const given = names.map((name): [string, string] => [name, 'a']);
  expect(endToEnd([['Connection', names.join(', ')], ...given])).toEqual(given);
});
