import { describe, expect, test } from 'bun:test';
import type { Context } from 'hono';
import type { AppEnv } from '../../src/http/env.ts';
import { callersShare } from '../../src/http/limits/callers-share.ts';
import type { Route, SessionContext } from '../../src/http/route.ts';
import { type Runner, runRoute } from '../../src/http/run-route.ts';
import type { Session } from '../../src/wallet/session.ts';

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
