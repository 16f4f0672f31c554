import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { type ApiError, isApiError } from '../../../src/model/errors.ts';
import { LndRest } from '../../../src/nodes/lnd/reads/rest.ts';
import { anyRefusal, refusesToPublish } from '../../../src/nodes/lnd/words/certainty.ts';
import { RemoteEndpoint } from '../../../src/nodes/remote/calls/endpoint.ts';
import { throwing } from '../../support/rejection.ts';
import { infoOf, nodeKey, refusal, scriptedLnd } from './scripted-lnd.ts';

const lnd = scriptedLnd();
afterAll(() => lnd.stop());
let ended = 0;
let rest: LndRest;
beforeEach(() => {
  lnd.reset();
  ended = 0;
  rest = new LndRest(
    { endpoint: new RemoteEndpoint(lnd), token: () => 'aa' },
    {
      rejected: () => {
        ended += 1;
      },
    },
  );
});

const shape = z.object({ ok: z.boolean() });
const caught = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: ApiError) => error,
  );
const spend = () => caught(rest.post('/v1/spend', {}, shape, { certainty: refusesToPublish }));

describe('after a request that may move money has left', () => {
  const unclear: [string, () => Response][] = [
    ["a proxy's page", () => new Response('<html>502 Bad Gateway</html>', { status: 502 })],
    ['an answer that is no JSON', () => new Response('{"ok":')],
    ['an answer of another form', () => Response.json({ ok: 'perhaps' })],
    ['an error of another form', () => Response.json({ problem: 1 }, { status: 500 })],
    ['a deadline', () => refusal(504, 4, 'context deadline exceeded')],
    ['words that are not known', () => refusal(500, 2, 'something went wrong')],
    ['a redirect', () => Response.redirect('https://127.0.0.1:1/', 307)],
  ];
  for (const [name, answer] of unclear) {
    test(`${name} leaves open whether it was done`, async () => {
      lnd.on('POST /v1/spend', answer);
      expect((await spend())?.outcomeUnknown).toBe(true);
      expect(lnd.requests).toHaveLength(1);
    });
  }

  test('what LND turns away before looking at it was not done', async () => {
    lnd.on('POST /v1/spend', () => refusal(500, 2, 'permission denied'));
    const error = await spend();
    expect([error?.kind, error?.outcomeUnknown]).toEqual(['forbidden', false]);
  });

  test('a read that goes wrong leaves nothing open', async () => {
    lnd.on('GET /v1/thing', () => new Response('<html>', { status: 502 }));
    const error = await caught(rest.get('/v1/thing', shape));
    expect([error?.kind, error?.outcomeUnknown]).toEqual(['unreadable', false]);
  });
});

describe('an answer that holds the word macaroon', () => {
  const words = 'verification failed: signature mismatch after caveat verification';

  test('ends nothing when LND still accepts the macaroon', async () => {
    lnd.on('GET /v1/thing', () => refusal(500, 2, `cannot get macaroon: ${words}`));
    lnd.on('GET /v1/getinfo', infoOf(nodeKey(1).pk));
    expect(isApiError(await caught(rest.get('/v1/thing', shape)), 'refused')).toBe(true);
    expect(ended).toBe(0);
  });

  test('ends nothing when LND does not answer the second call in its very words', async () => {
    lnd.on('GET /v1/thing', () => refusal(500, 2, words));
    lnd.on('GET /v1/getinfo', () => refusal(500, 2, 'the macaroon shop is closed'));
    expect(isApiError(await caught(rest.get('/v1/thing', shape)), 'refused')).toBe(true);
    lnd.on('GET /v1/getinfo', () => new Response(words, { status: 502 }));
    expect(isApiError(await caught(rest.get('/v1/thing', shape)), 'refused')).toBe(true);
    expect(ended).toBe(0);
  });

  test('ends the token when LND rejects it in its very words at a second call too', async () => {
    lnd.on('GET /v1', () => refusal(500, 2, words));
    expect(isApiError(await caught(rest.get('/v1/thing', shape)), 'unauthenticated')).toBe(true);
    expect(ended).toBe(1);
    expect(lnd.requests.map(({ path, macaroon }) => [path, macaroon])).toEqual([
      ['/v1/thing', 'aa'],
      ['/v1/getinfo', 'aa'],
    ]);
  });

  test('leaves a spend unknown when only its own answer says so', async () => {
    lnd.on('POST /v1/spend', () => refusal(500, 2, words));
    lnd.on('GET /v1/getinfo', infoOf(nodeKey(1).pk));
    expect((await spend())?.outcomeUnknown).toBe(true);
  });
});

test('one thing is read up to 1 MiB, a list up to 16 MiB', async () => {
  const answer = JSON.stringify({ ok: true, more: 'x'.repeat(2 * 1024 * 1024) });
  lnd.on('GET /v1/thing', () => new Response(answer));
  expect(isApiError(await caught(rest.get('/v1/thing', shape)), 'unreadable')).toBe(true);
  expect(await rest.list('/v1/thing', shape)).toEqual({ ok: true });
  lnd.on('GET /v1/thing', () => new Response(answer.repeat(9)));
  expect(isApiError(await caught(rest.list('/v1/thing', shape)), 'unreadable')).toBe(true);
});

test('nothing is sent where the place may not be used', async () => {
  const refusing = new LndRest(() => Promise.reject(new Error('not here')));
  expect(await throwing(refusing.get('/v1/thing', shape))).toThrow();
  const stream = refusing.stream('GET', '/v1/things', undefined, shape, AbortSignal.timeout(9999), {
    certainty: anyRefusal,
  });
  expect(await throwing(stream.next())).toThrow();
  expect(lnd.requests).toEqual([]);
});
