import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createApp } from '../../../src/http/app.ts';
import { openConsoleDoor } from '../../../src/http/console/door.ts';
import type { Parts } from '../../../src/http/parts.ts';
import type { Route } from '../../../src/http/route.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openMetrics } from '../../../src/lib/metrics.ts';
import type { Store } from '../../../src/store/ports.ts';
import type { Session } from '../../../src/wallet/session/session.ts';

const HOST = '127.0.0.1:5393';
const URL_OF_PAGE = `http://${HOST}`;

test('a request whose body comes after the session has ended does nothing (docs/decisions.md 133)', async () => {
  const owner = {
    userPk: '',
    caller: { id: 'owner' },
    isOwner: true,
    client: () => null,
    ended: new AbortController().signal,
  } as unknown as Session;
  const open = async () => owner;
  const door = openConsoleDoor({
    open,
    credentialsOf: () => null,
    store: {} as unknown as Store,
    clock: systemClock,
    elapsedMs: () => 0,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
  });
  let paid = 0;
  const pay = {
    method: 'post',
    path: '/pay',
    access: 'pay_invoice',
    group: 'payments',
    movesMoney: true,
    hasBody: true,
    body: z.object({}),
    handler: async () => {
      paid += 1;
      return {};
    },
  } as unknown as Route;
  const app = createApp({
    parts: {
      console: door,
      wallets: { open },
      metrics: openMetrics(),
      log: { info: () => undefined },
      store: {},
    } as unknown as Parts,
    routes: [pay],
    allowedHosts: new Set([HOST]),
    domainHosts: new Set(),
    trustedProxies: new Set(),
    requireAuth: true,
    cookie: null,
    hasDefaultWallet: true,
    mostWaits: 8,
    stopping: new AbortController().signal,
    startId: 'a',
  });
  const page = { host: HOST, origin: URL_OF_PAGE, 'sec-fetch-site': 'same-origin' };
  const given = { link: null, credentials: 'a' };
  const { key, cookie } = await door.signIn(new Headers(page), given);
  const headers = { ...page, cookie: cookie.split(';')[0] ?? '', 'console-key': key };
  const payWith = (body: string | ReadableStream) =>
    app.request(`${URL_OF_PAGE}/pay`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    });
  expect([(await payWith('{}')).status, paid]).toEqual([200, 1]);
  // The body is asked for once the credentials have been accepted.
  const late = new ReadableStream(
    {
      async pull(controller) {
        await door.signOut(new Headers(headers));
        controller.enqueue(new TextEncoder().encode('{}'));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const answer = await payWith(late);
  expect(await answer.json()).toMatchObject({ code: 104, data: { sent: 'no' } });
  expect(paid).toBe(1);
});
