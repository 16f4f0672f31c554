import { describe, expect, test } from 'bun:test';
import type { Context } from 'hono';
import type { AppEnv } from '../../src/http/env.ts';
import { callersShare } from '../../src/http/limits/callers-share.ts';
import type { Route, SessionContext } from '../../src/http/route.ts';
import { type Runner, runRoute } from '../../src/http/run-route.ts';
import { ApiError, isApiError, refused } from '../../src/model/errors.ts';
import { PaidByAnother } from '../../src/wallet/session/paid-by-another.ts';
import type { Session } from '../../src/wallet/session/session.ts';

/**
 * Sends a client's request to a route that waits. Resolves to the number of listeners on the client's grant, during the
 * request and after it.
 */
async function listenersOf(end: () => unknown): Promise<{ during: number; after: number }> {
  const listeners = new Set<() => void>();
  let during = 0;
  const session = {
    isOwner: false,
    caller: { id: 'client', sealKey: new Uint8Array(32) },
    client: () => null,
    ended: new AbortController().signal,
    onGrantChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as Session;
  const route = {
    method: 'get',
    path: '/v2/node/wait',
    access: 'get_payment_by_id',
    handler: async (context: SessionContext) => {
      expect(context.signal.aborted).toBe(false);
      during = listeners.size;
      return end();
    },
  } as unknown as Route;
  const runner = {
    stopping: new AbortController().signal,
    waits: callersShare(8, 'waits'),
  } as unknown as Runner;
  const context = {
    get: () => undefined,
    set: () => undefined,
    req: { raw: new Request('http://127.0.0.1/v2/node/wait') },
  } as unknown as Context<AppEnv>;
  await runRoute(route, runner)(context, session, { body: undefined, query: undefined }).catch(
    () => undefined,
  );
  return { during, after: listeners.size };
}

describe('a request that has ended leaves nothing that listens to the grant of its client', () => {
  test('when it was answered', async () => {
    expect(await listenersOf(() => ({}))).toEqual({ during: 1, after: 0 });
  });

  test('when it failed', async () => {
    const fail = () => {
      throw new Error('on purpose');
    };
    expect(await listenersOf(fail)).toEqual({ during: 1, after: 0 });
  });
});

/** Runs a route that moves money, or one that does not, whose handler throws. Resolves to the error to be answered. */
async function errorOf(
  thrown: unknown,
  { movesMoney = true, key = '', effect = null as string | null } = {},
): Promise<unknown> {
  const route = {
    method: 'post',
    path: '/v2/node/pay',
    access: 'pay_invoice',
    takesKey: true,
    movesMoney,
    handler: async () => {
      throw thrown;
    },
  } as unknown as Route;
  const runner = {
    stopping: new AbortController().signal,
    parts: { store: {}, clock: { now: () => 1 } },
    idempotent: {
      run: ({ execute }: { execute: (effect: string | null) => Promise<unknown> }) =>
        execute(effect),
    },
  } as unknown as Runner;
  const headers: Record<string, string> = key === '' ? {} : { 'idempotency-key': key };
  const context = {
    set: () => undefined,
    req: {
      raw: new Request('http://127.0.0.1/v2/node/pay'),
      header: (name: string) => headers[name],
    },
  } as unknown as Context<AppEnv>;
  const session = {
    userPk: 'ab'.repeat(32),
    caller: { id: 'owner', sealKey: new Uint8Array(32) },
    client: () => null,
  } as unknown as Session;
  return runRoute(route, runner)(context, session, { body: {}, query: undefined }).catch(
    (error: unknown) => error,
  );
}

describe('every error of a request that moves money says what may have been sent (docs/decisions.md 12)', () => {
  for (const key of ['', 'k']) {
    const how = key === '' ? 'without a key' : 'with a key';
    test(`an unexpected error is error 6 and says that it is unknown, ${how}`, async () => {
      const thrown = new TypeError('on purpose');
      const error = await errorOf(thrown, { key });
      expect(error).toMatchObject({ kind: 'internal', data: { sent: 'unknown' }, cause: thrown });
    });

    test(`an error that does not say it is from before the send, ${how}`, async () => {
      expect(await errorOf(refused('No route.'), { key })).toMatchObject({ data: { sent: 'no' } });
    });

    test(`what an error says itself stays, ${how}`, async () => {
      const data = { sent: 'unknown', index: 'i' };
      const timeout = new ApiError('timeout', 'Look at it later.', { data });
      expect(await errorOf(timeout, { key })).toMatchObject({ data });
      const another = await errorOf(new PaidByAnother({ status: 'pending' }), { key });
      expect(isApiError(another) && another.data).toEqual({ status: 'pending' });
    });
  }

  test('an error of a repeat whose first run had named an effect says that it is unknown', async () => {
    const repeated = { key: 'k', effect: '{"openChannel":"aa"}' };
    const error = await errorOf(new ApiError('overCapacity', 'busy'), repeated);
    expect(error).toMatchObject({ kind: 'overCapacity', data: { sent: 'unknown' } });
  });

  test('no other request says it', async () => {
    const thrown = new TypeError('on purpose');
    expect(await errorOf(thrown, { movesMoney: false })).toBe(thrown);
  });
});

describe('the idle limit of a connection does not cut off a request that is being worked on', () => {
  /** Runs a route. Resolves to the limits that were set, in seconds, and `work` where the handler ran. */
  async function limitsOf(given: Partial<Route>): Promise<readonly unknown[]> {
    const course: unknown[] = [];
    const route = {
      method: 'put',
      path: '/v2/node/sync_payments',
      access: 'none',
      handler: async () => {
        course.push('work');
        return {};
      },
      ...given,
    } as unknown as Route;
    const context = {
      env: { timeout: (_: Request, secs: number) => course.push(secs) },
      set: () => undefined,
      req: { raw: new Request('http://127.0.0.1/v2/node/sync_payments'), header: () => undefined },
    } as unknown as Context<AppEnv>;
    const input = { body: undefined, query: undefined };
    await runRoute(route, {} as Runner)(context, undefined, input).catch(() => undefined);
    return course;
  }

  test('and counts again when it is answered, or has failed', async () => {
    expect(await limitsOf({})).toEqual([0, 'work', 60]);
    const handler = async () => {
      throw new Error('on purpose');
    };
    expect(await limitsOf({ handler })).toEqual([0, 60]);
  });

  test('nor a stream, which goes on after the handler', async () => {
    expect(await limitsOf({ mediaType: 'text/event-stream' })).toEqual([0, 'work']);
  });
});
